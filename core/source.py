"""Tables through Ibis: files by embedded DuckDB; counting is pushed down to the engine that holds the data."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.contingency import ContingencyTable
from core.errors import InputError, UncoveredValuesError
from core.schema import Label, MissingPolicy, Schema
from core.taxonomy import MISSING, OTHER, Taxonomy

MAX_COLUMNS = 2_000
"""Wider tables are refused before they are read."""

SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx")

_BINNED_LEAVES = 256
"""Numeric attributes of up to so many leaves are binned by the engine that holds the data."""

_UNCOVERED, _ABSENT, _NOT_A_NUMBER = -1, -2, -3


@dataclass(frozen=True, eq=False)
class TableSource:
    """A table that is read where it lies.  Private.

    Parameters
    ----------
    name : str
        For titles and messages: the file's name.
    table : ibis.Table
    """

    name: str
    table: Any

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(self.table.columns)

    def count(self) -> int:
        """Number of rows (private)."""
        with _reading(self.name):
            return int(self.table.count().execute())

    def distinct_values(self, column: str, limit: int) -> list[str]:
        """Up to `limit` + 1 distinct values of a column as text, sorted (private)."""
        text = self.table.select(value=_text(self.table[column]))
        with _reading(self.name):
            found = text.filter(text.value.notnull()).distinct().limit(limit + 1).to_pyarrow()
        return sorted(found["value"].to_pylist())

    def numeric_range(self, column: str) -> tuple[float, float, bool] | None:
        """Least and greatest value and whether all are whole numbers; None unless every cell is a number (private)."""
        text = self.table.select(value=_text(self.table[column]))
        typed = text.filter(text.value.notnull()).mutate(number=text.value.try_cast("float64"))
        with _reading(self.name):
            row = typed.aggregate(
                cells=typed.count(),
                numbers=typed.number.count(),
                low=typed.number.min(),
                high=typed.number.max(),
                whole=(typed.number == typed.number.floor()).all(),
            ).to_pyarrow().to_pylist()[0]  # fmt: skip
        if not row["cells"] or row["cells"] != row["numbers"] or not np.isfinite([row["low"], row["high"]]).all():
            return None
        return float(row["low"]), float(row["high"]), bool(row["whole"])

    def missing_cells(self, columns: Sequence[str]) -> dict[str, int]:
        """Number of empty cells of each column that has any (private)."""
        with _reading(self.name):
            row = self.table.aggregate(
                **{f"c{j}": _text(self.table[column]).isnull().sum() for j, column in enumerate(columns)}
            ).to_pyarrow().to_pylist()[0]  # fmt: skip
        return {column: int(row[f"c{j}"]) for j, column in enumerate(columns) if row[f"c{j}"]}

    def head(self, rows: int) -> pd.DataFrame:
        """The first rows as they stand in the file (private)."""
        with _reading(self.name):
            return self.table.limit(rows).to_pandas()


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a table, one by one, for evaluation.  Private.

    Parameters
    ----------
    codes : ndarray of uint16, shape (records, attributes)
        Leaf codes.
    classes : ndarray of int64, shape (records,)
    numbers : ndarray of float64, shape (records, attributes)
        Values of the numeric attributes; NaN elsewhere and where missing.
    folds : ndarray of int64, shape (records,), or None
        Fold of each record where the table brings its own.
    dropped : int
        Records left out because of a missing cell.
    """

    codes: np.ndarray
    classes: np.ndarray
    numbers: np.ndarray
    folds: np.ndarray | None
    dropped: int

    def contingency(self, n_classes: int, rows: np.ndarray | None = None) -> ContingencyTable:
        """Count the records, or those of some rows."""
        rows = np.arange(len(self.codes)) if rows is None else rows
        return ContingencyTable.from_records(self.codes[rows], self.classes[rows], n_classes)


@dataclass(frozen=True, eq=False)
class CountedTable:
    """A contingency table with what reading it dropped.  Private.

    Parameters
    ----------
    contingency : ContingencyTable
    dropped : int
        Records left out because of a missing cell.
    """

    contingency: ContingencyTable
    dropped: int


def open_table(path: str | Path, name: str | None = None) -> TableSource:
    """Open a CSV, TSV, Parquet or Excel file, or a URL of one.

    Every column of a text file stays text: whether an attribute is numeric is decided by its taxonomy, never guessed.

    Parameters
    ----------
    path : str or Path
    name : str, optional
        For messages; the file's own name by default.

    Raises
    ------
    InputError
        Where the file cannot be used, in one plain sentence that quotes no cell.
    """
    address = str(path)
    name = name or address.rsplit("/", 1)[-1]
    suffix = Path(address.split("?")[0]).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"“{name}” is not a table this program reads: save it as CSV, TSV, Parquet or Excel (.xlsx).")
    connection = ibis.duckdb.connect()
    if "://" not in address:
        _check_file(Path(address), name, suffix)
    with _reading(name):
        if suffix == ".parquet":
            table = connection.read_parquet(address)
        elif suffix == ".xlsx":
            table = connection.create_table("excel", _read_excel(Path(address), name))
        else:
            table = _read_text(connection, address, name, suffix)
    _check_names(table.columns, name)
    return TableSource(name, table)


def read_contingency(source: TableSource, schema: Schema) -> CountedTable:
    """Count the records by leaf codes and class; the grouping runs where the data lies.

    Parameters
    ----------
    source : TableSource
    schema : Schema

    Raises
    ------
    UncoveredValuesError, InputError
        Where a cell does not fit the declarations.
    """
    table = _projected(source, schema, [])
    grouped = table.group_by(list(table.columns)).aggregate(records=table.count())
    with _reading(source.name):
        rows = grouped.to_pyarrow()
    weights = rows["records"].to_numpy().astype(np.int64)
    codes, classes, kept = _encode(rows, schema, weights)
    contingency = ContingencyTable.from_records(codes[kept], classes[kept], len(schema.label.values), weights[kept])
    _check_classes(contingency, schema.label)
    return CountedTable(contingency, int(weights[~kept].sum()))


def read_records(source: TableSource, schema: Schema, fold_column: str | None = None) -> Records:
    """Read the records one by one, in the order of the file.

    Parameters
    ----------
    source : TableSource
    schema : Schema
    fold_column : str, optional
        A column of whole numbers that assigns each record to a fold.
    """
    numeric = [j for j, taxonomy in enumerate(schema.taxonomies) if taxonomy.numeric]
    extra = {f"number{j}": _number(source.table[schema.names[j]]) for j in numeric}
    if fold_column is not None:
        if fold_column not in source.columns:
            raise InputError(f"There is no column “{fold_column}” to take the folds from.")
        extra["fold"] = _text(source.table[fold_column]).try_cast("int64")
    table = _projected(source, schema, [expression.name(key) for key, expression in extra.items()])
    with _reading(source.name):
        rows = table.to_pyarrow()
    codes, classes, kept = _encode(rows, schema, np.ones(rows.num_rows, dtype=np.int64))
    numbers = np.full(codes.shape, np.nan)
    for j in numeric:
        numbers[:, j] = rows[f"number{j}"].to_numpy(zero_copy_only=False)
    folds = None
    if fold_column is not None:
        if rows["fold"].null_count:
            raise InputError(f"Column “{fold_column}” must hold a whole number, the fold, in every record.")
        folds = rows["fold"].to_numpy()[kept]
    return Records(codes[kept], classes[kept], numbers[kept], folds, int((~kept).sum()))


def label_values(source: TableSource, column: str) -> Label:
    """The classes of a label, read from the data and marked so."""
    if column not in source.columns:
        raise InputError(f"There is no column “{column}”; the label must be one of the table's columns.")
    values = source.distinct_values(column, 100)
    return Label(column, tuple(values), suggested=True)


def _projected(source: TableSource, schema: Schema, extra: list[Any]) -> Any:
    """The columns of the schema as codes where the engine can bin them, else as text, and the label as text."""
    absent = [name for name in (*schema.names, schema.label.name) if name not in source.columns]
    if absent:
        raise InputError(f"The table has no column “{absent[0]}”; remove it from the taxonomies or choose another label.")
    columns = []
    for j, taxonomy in enumerate(schema.taxonomies):
        column = source.table[taxonomy.attribute]
        if taxonomy.numeric and len(taxonomy.leaves) <= _BINNED_LEAVES:
            columns.append(_binned(column, taxonomy).name(f"code{j}"))
        elif taxonomy.numeric:
            columns.append(_text(column).name(f"raw{j}"))
        else:
            columns.append(_text(column).name(f"text{j}"))
    columns.append(_text(source.table[schema.label.name]).name("label"))
    return source.table.select(*columns, *extra)


def _binned(column: Any, taxonomy: Taxonomy) -> Any:
    """Leaf code of a numeric column, or the code of what is wrong with the cell."""
    number = _number(column)
    intervals = taxonomy.leaf_intervals
    cases = [
        (_text(column).isnull(), _ABSENT),
        (number.isnull() | number.isnan(), _NOT_A_NUMBER),
        ((number <= intervals[0].low) | (number > intervals[-1].high), _UNCOVERED),
        *((number <= interval.high, _leaf(taxonomy, str_label)) for str_label, interval in _interval_leaves(taxonomy)),
    ]
    return ibis.cases(*cases, else_=_UNCOVERED).cast("int32")


def _interval_leaves(taxonomy: Taxonomy) -> list[tuple[str, Any]]:
    """The interval leaves with their labels, ascending."""
    nodes = taxonomy.nodes(taxonomy.height)
    return [(node.label, node.interval) for node in nodes if node.interval is not None]


def _leaf(taxonomy: Taxonomy, label: str) -> int:
    return taxonomy.leaves.index(label)


def _encode(rows: pa.Table, schema: Schema, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leaf codes, class codes, and which rows the missing policy keeps."""
    kept = np.ones(rows.num_rows, dtype=bool)
    codes = np.zeros((rows.num_rows, len(schema.taxonomies)), dtype=np.int64)
    for j, taxonomy in enumerate(schema.taxonomies):
        if f"code{j}" in rows.column_names:
            codes[:, j] = rows[f"code{j}"].to_numpy()
        elif f"raw{j}" in rows.column_names:
            codes[:, j] = _bin_text(rows[f"raw{j}"], taxonomy)
        else:
            codes[:, j] = _match(rows[f"text{j}"], taxonomy.leaves)
    classes = _match(rows["label"], schema.label.values)
    for j, taxonomy in enumerate(schema.taxonomies):
        kept &= _apply_policy(codes[:, j], taxonomy, schema.missing, weights)
    if (classes == _ABSENT).any() and schema.missing is not MissingPolicy.DROP:
        raise InputError(
            f"The label “{schema.label.name}” has empty cells: drop records with missing values, or fill the cells."
        )
    kept &= classes != _ABSENT
    for j, taxonomy in enumerate(schema.taxonomies):
        _check_covered(codes[:, j], kept, taxonomy, rows, j, weights)
    outside = (classes == _UNCOVERED) & kept
    if outside.any():
        count = int(weights[outside].sum())
        raise InputError(
            f"The label “{schema.label.name}” has {count:,} records with a class that is not declared: "
            "declare all its classes."
        )
    if not kept.any():
        raise InputError("No record is left: the table is empty, or every record has a missing cell.")
    return codes.astype(np.uint16, casting="unsafe"), classes, kept


def _apply_policy(codes: np.ndarray, taxonomy: Taxonomy, policy: MissingPolicy | None, weights: np.ndarray) -> np.ndarray:
    """Put missing cells in their leaf (in place), or say which rows stay."""
    absent = codes == _ABSENT
    if not absent.any():
        return ~absent
    name = taxonomy.attribute
    if policy is None:
        raise InputError(
            f"Attribute “{name}” has {int(weights[absent].sum()):,} empty cells: choose to drop such records, "
            f"or to count them under a leaf named “{MISSING}”."
        )
    if policy is MissingPolicy.DROP:
        return ~absent
    leaf = taxonomy.special_leaf(MISSING)
    if leaf is None:
        raise InputError(
            f"Attribute “{name}” has empty cells but its taxonomy has no leaf “{MISSING}”: add one, or drop such records."
        )
    codes[absent] = leaf
    return np.ones(len(codes), dtype=bool)


def _check_covered(
    codes: np.ndarray, kept: np.ndarray, taxonomy: Taxonomy, rows: pa.Table, j: int, weights: np.ndarray
) -> None:
    """Refuse cells that fit no leaf, unless there is a leaf ``other`` (then put them there, in place)."""
    broken = (codes == _NOT_A_NUMBER) & kept
    if broken.any():
        raise InputError(
            f"Attribute “{taxonomy.attribute}” is numeric by its taxonomy but has {int(weights[broken].sum()):,} cells "
            "that are not numbers: correct them, or give it a taxonomy of categories."
        )
    outside = (codes == _UNCOVERED) & kept
    if not outside.any():
        return
    other = taxonomy.special_leaf(OTHER)
    if other is not None:
        codes[outside] = other
        return
    column = next((rows[key] for key in (f"text{j}", f"raw{j}") if key in rows.column_names), None)
    values = [] if column is None else pc.unique(column.filter(pa.array(outside))).to_pylist()[:20]
    raise UncoveredValuesError(taxonomy.attribute, int(weights[outside].sum()), values)


def _check_classes(contingency: ContingencyTable, label: Label) -> None:
    if int((contingency.class_counts > 0).sum()) < 2:
        raise InputError(f"The label “{label.name}” has one value only; choose a column with at least two classes.")


def _match(column: pa.ChunkedArray, values: Sequence[str]) -> np.ndarray:
    """Position of each text among the values, `_UNCOVERED` or `_ABSENT`."""
    found = pc.index_in(column, value_set=pa.array(values, type=pa.string()))
    codes = found.fill_null(_UNCOVERED).to_numpy().astype(np.int64)
    codes[column.is_null().to_numpy()] = _ABSENT
    return codes


def _bin_text(column: pa.ChunkedArray, taxonomy: Taxonomy) -> np.ndarray:
    """Leaf codes of a numeric column read as text."""
    numbers = pd.to_numeric(column.to_pandas(), errors="coerce").to_numpy(dtype=np.float64)
    leaves = _interval_leaves(taxonomy)
    highs = np.array([interval.high for _, interval in leaves])
    place = np.searchsorted(highs, numbers, side="left")
    position = np.array([_leaf(taxonomy, label) for label, _ in leaves] + [_UNCOVERED])
    codes = position[np.minimum(place, len(leaves))]
    codes[numbers <= leaves[0][1].low] = _UNCOVERED
    codes[np.isnan(numbers)] = _NOT_A_NUMBER
    codes[column.is_null().to_numpy()] = _ABSENT
    return codes.astype(np.int64)


def _text(column: Any) -> Any:
    """A column as text; blank cells and not-a-number are missing."""
    text = column if column.type().is_string() else column.cast("string")
    if column.type().is_floating():
        text = ibis.cases((column.isnan(), None), else_=text)
    return text.strip().nullif("")


def _number(column: Any) -> Any:
    return column.cast("float64") if column.type().is_numeric() else _text(column).try_cast("float64")


def _check_file(path: Path, name: str, suffix: str) -> None:
    """Refuse absent and empty files, and those whose content is not what the suffix says."""
    if not path.is_file():
        raise InputError(f"There is no file “{name}”; check the path.")
    if path.stat().st_size == 0:
        raise InputError(f"“{name}” is empty; export the table again.")
    with path.open("rb") as file:
        start = file.read(4)
    kind = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx"}.get(start, "text")
    expected = suffix if suffix in (".parquet", ".xlsx") else "text"
    if kind != expected:
        wanted = {"text": "text", ".parquet": "Parquet", ".xlsx": "Excel"}
        raise InputError(
            f"“{name}” is not what its suffix says: it is named {suffix} but holds "
            f"{wanted[kind] if kind != 'text' else 'something else'}; rename or export it again."
        )


def _read_text(connection: Any, address: str, name: str, suffix: str) -> Any:
    """A CSV or TSV file with every column as text."""
    if "://" in address:
        return connection.read_csv(address, header=True, all_varchar=True)
    header, second = _first_lines(Path(address), name)
    delimiter = "\t" if suffix == ".tsv" else max(",;\t|", key=header.count)
    names = next(csv.reader([header], delimiter=delimiter), [])
    _check_names(names, name)
    _check_header(names, next(csv.reader([second], delimiter=delimiter), []), name)
    return connection.read_csv(
        address, header=True, delim=delimiter, quote='"', nullstr="", auto_detect=False,
        columns=dict.fromkeys(names, "VARCHAR"),
    )  # fmt: skip


def _first_lines(path: Path, name: str) -> tuple[str, str]:
    """The first two lines of a text file, which must be UTF-8 throughout."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, second = file.readline(), file.readline()
            while file.read(1 << 20):
                pass
    except UnicodeDecodeError as error:
        raise InputError(f"“{name}” is not UTF-8 text: save it as “CSV UTF-8” and upload it again.") from error
    if not header.strip():
        raise InputError(f"“{name}” has no header: its first line must name the columns.")
    if not second.strip():
        raise InputError(f"“{name}” has no records below its header; export the table again.")
    return header, second


def _check_names(names: Sequence[str], name: str) -> None:
    """Refuse tables without usable column names; cells are never quoted, as a missing header makes names of them."""
    if len(names) > MAX_COLUMNS:
        raise InputError(f"“{name}” has {len(names):,} columns; keep the at most {MAX_COLUMNS:,} that are needed.")
    seen: dict[str, int] = {}
    for position, column in enumerate(names, start=1):
        if not column.strip():
            raise InputError(f"Column {position} of “{name}” has no name; give every column a name.")
        if column.strip() in seen:
            raise InputError(
                f"Columns {seen[column.strip()]} and {position} of “{name}” have the same name; give each its own."
            )
        seen[column.strip()] = position


def _check_header(names: Sequence[str], second: Sequence[str], name: str) -> None:
    """Refuse a first line that looks like a record: a number over a number."""
    if any(_is_number(above) and _is_number(below) for above, below in zip(names, second, strict=False)):
        raise InputError(f"The first line of “{name}” looks like a record: add a line above it with the column names.")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_excel(path: Path, name: str) -> pa.Table:
    """The first sheet of an Excel file with every cell as text."""
    try:
        book = openpyxl.load_workbook(io.BytesIO(path.read_bytes()), read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise InputError(f"“{name}” is not a readable Excel file; save it as .xlsx again.") from error
    rows: Iterator[tuple[Any, ...]] = book.worksheets[0].iter_rows(values_only=True)
    names = ["" if cell is None else str(cell) for cell in next(rows, ())]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputError(f"“{name}” has no header: the first row of its first sheet must name the columns.")
    _check_names(names, name)
    cells = [row[: len(names)] for row in rows if any(cell is not None for cell in row)]
    if not cells:
        raise InputError(f"“{name}” has no records below its header; export the table again.")
    _check_header(names, [_cell_text(cell) or "" for cell in cells[0]], name)
    columns = [[_cell_text(row[j]) if j < len(row) else None for row in cells] for j in range(len(names))]
    return pa.table({column: pa.array(values, pa.string()) for column, values in zip(names, columns, strict=True)})


def _cell_text(cell: Any) -> str | None:
    return None if cell is None else cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


_MESSAGES: tuple[tuple[str, str], ...] = (
    ("invalid unicode", "is not UTF-8 text: save it as “CSV UTF-8” and upload it again."),
    ("expected number of columns", "has a line with more or fewer cells than its header; correct the line."),
    ("csv error", "has a line with more or fewer cells than its header, or an unclosed quote; correct the line."),
)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn an engine's error, which quotes cells, into one plain sentence."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, ibis.common.exceptions.IbisError) as error:
        text = str(error).lower()
        reason = next((sentence for key, sentence in _MESSAGES if key in text), "cannot be read; export the table again.")
        raise InputError(f"“{name}” {reason}") from None
