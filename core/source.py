"""Tables through Ibis: files by embedded DuckDB; counting is pushed down to the engine that holds the data."""

from __future__ import annotations

import csv
import io
import re
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
import pyarrow.parquet as pq

from core.errors import InputError
from core.schema import Label

MAX_COLUMNS = 2_000
"""Wider tables are refused before they are read."""

SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx")


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
        with reading(self.name):
            return int(self.table.count().execute())

    def distinct_values(self, column: str, limit: int) -> list[str]:
        """Up to `limit` + 1 distinct values of a column as text, sorted (private)."""
        text = self.table.select(value=as_text(self.table[column]))
        with reading(self.name):
            found = text.filter(text.value.notnull()).distinct().limit(limit + 1).to_pyarrow()
        return sorted(found["value"].to_pylist())

    def numeric_range(self, column: str) -> tuple[float, float, bool] | None:
        """Least and greatest value and whether all are whole numbers; None unless every cell is a number (private)."""
        text = self.table.select(value=as_text(self.table[column]))
        typed = text.filter(text.value.notnull()).mutate(number=text.value.try_cast("float64"))
        # Numbers beyond 64-bit integers, and nan and inf, are not whole; a plain cast would refuse the whole column.
        whole = (typed.number == typed.number.try_cast("int64").cast("float64")).fill_null(False)
        with reading(self.name):
            row = typed.aggregate(
                cells=typed.count(),
                numbers=typed.number.count(),
                low=typed.number.min(),
                high=typed.number.max(),
                whole=whole.all(),
            ).to_pyarrow().to_pylist()[0]  # fmt: skip
        if not row["cells"] or row["cells"] != row["numbers"] or not np.isfinite([row["low"], row["high"]]).all():
            return None
        return float(row["low"]), float(row["high"]), bool(row["whole"])

    def missing_cells(self, columns: Sequence[str]) -> dict[str, int]:
        """Number of empty cells of each column that has any (private)."""
        with reading(self.name):
            row = self.table.aggregate(
                **{f"c{j}": as_text(self.table[column]).isnull().sum() for j, column in enumerate(columns)}
            ).to_pyarrow().to_pylist()[0]  # fmt: skip
        return {column: int(row[f"c{j}"]) for j, column in enumerate(columns) if row[f"c{j}"]}

    def head(self, rows: int) -> pd.DataFrame:
        """The first rows as they stand in the file (private)."""
        with reading(self.name):
            return self.table.limit(rows).to_pyarrow().to_pandas()


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
    remote = "://" in address
    suffix = Path(address.split("?")[0] if remote else address).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"“{name}” is not a table this program reads: save it as CSV, TSV, Parquet or Excel (.xlsx).")
    connection = ibis.duckdb.connect()
    if not remote:
        _check_file(Path(address), name, suffix)
    with reading(name):
        if suffix == ".parquet":
            if not remote:
                # DuckDB renames columns without a name, or with a name twice; nothing is renamed in silence here.
                _check_names(pq.read_schema(address).names, name)
            table = connection.read_parquet(_literal(address))
        elif suffix == ".xlsx":
            connection.con.register("excel", _read_excel(Path(address), name))
            table = connection.table("excel")
        else:
            table = _read_text(connection, address, name, suffix)
    _check_names(table.columns, name)
    return TableSource(name, table)


def label_values(source: TableSource, column: str) -> Label:
    """The classes of a label, read from the data and marked so."""
    if column not in source.columns:
        raise InputError(f"There is no column “{column}”; the label must be one of the table's columns.")
    values = source.distinct_values(column, 100)
    return Label(column, tuple(values), suggested=True)


def as_text(column: Any) -> Any:
    """A column as text; blank cells and not-a-number are missing."""
    text = column if column.type().is_string() else column.cast("string")
    if column.type().is_floating():
        # Not isnan(): DuckDB takes it for false where Parquet statistics, which leave such cells out, are finite.
        text = ibis.cases((text.isin(["nan", "-nan"]), None), else_=text)
    return text.strip().nullif("")


def as_number(column: Any) -> Any:
    """A column as numbers; null where the cell is not one.  Short floats are read as they are written: 0.1 is 0.1."""
    kind = column.type()
    exact = kind.is_integer() or kind.is_decimal() or kind.is_float64()
    return column.cast("float64") if exact else as_text(column).try_cast("float64")


def _literal(address: str) -> str:
    """The address of one file: DuckDB would take ``*``, ``?`` and ``[`` for patterns and read other files."""
    return address if "://" in address else re.sub(r"[*?\[]", r"[\g<0>]", address)


def _check_file(path: Path, name: str, suffix: str) -> None:
    """Refuse absent and empty files, and those whose content is not what the suffix says."""
    try:
        if not path.is_file():
            raise InputError(f"There is no file “{name}”; check the path.")
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise InputError(f"“{name}” cannot be opened; check its path and who may read it.") from error
    if not start:
        raise InputError(f"“{name}” is empty; export the table again.")
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
    try:
        delimiter = "\t" if suffix == ".tsv" else max(",;\t|", key=lambda character: len(_cells(header, character)))
        names = [column.strip() for column in _cells(header, delimiter)]
        first = _cells(second, delimiter)
    except csv.Error as error:
        raise InputError(f"“{name}” is not a table of cells: its first line must name the columns.") from error
    _check_names(names, name)
    _check_header(names, first, name)
    return connection.read_csv(
        _literal(address), header=True, delim=delimiter, quote='"', nullstr="", auto_detect=False,
        columns=dict.fromkeys(names, "VARCHAR"),
    )  # fmt: skip


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _first_lines(path: Path, name: str) -> tuple[str, str]:
    """The first two lines of a text file, which must be UTF-8 throughout."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, second = file.readline(), file.readline()
            while file.read(1 << 20):
                pass
        if "\0" in header + second:
            raise ValueError("UTF-16 without a mark, or no text at all")
    except ValueError as error:
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
        key = column.strip().casefold()
        if key in seen:
            raise InputError(
                f"Columns {seen[key]} and {position} of “{name}” have the same name (capitals do not count); "
                "give each its own."
            )
        seen[key] = position


def _check_header(names: Sequence[str], second: Sequence[str], name: str) -> None:
    """Refuse a first line that looks like a record: a number over a number, and nowhere a name over a number."""
    over_numbers = [_is_number(above) for above, below in zip(names, second, strict=False) if _is_number(below)]
    if over_numbers and all(over_numbers):
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
        return _first_sheet(path, name)
    except InputError:
        raise
    except Exception:  # openpyxl lets through whatever its parsers raise, with cells in the text
        raise InputError(f"“{name}” is not a readable Excel file; save it as .xlsx again.") from None


def _first_sheet(path: Path, name: str) -> pa.Table:
    sheet = openpyxl.load_workbook(io.BytesIO(path.read_bytes()), read_only=True, data_only=True).worksheets[0]
    sheet.reset_dimensions()  # some programs write a wrong size, and rows beyond it would be lost
    rows: Iterator[tuple[Any, ...]] = sheet.iter_rows(values_only=True)
    names = ["" if cell is None else str(cell) for cell in next(rows, ())]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputError(f"“{name}” has no header: the first row of its first sheet must name the columns.")
    _check_names(names, name)
    cells = [row for row in rows if any(cell is not None for cell in row)]
    if not cells:
        raise InputError(f"“{name}” has no records below its header; export the table again.")
    beyond = [j for row in cells for j, cell in enumerate(row) if j >= len(names) and cell is not None]
    if beyond:
        raise InputError(f"Column {min(beyond) + 1} of “{name}” has no name; give every column a name.")
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
def reading(name: str) -> Iterator[None]:
    """Turn an engine's error, which quotes cells, into one plain sentence."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, ibis.common.exceptions.IbisError, OSError, UnicodeError) as error:
        text = str(error).lower()
        reason = next((sentence for key, sentence in _MESSAGES if key in text), "cannot be read; export the table again.")
        raise InputError(f"“{name}” {reason}") from None
