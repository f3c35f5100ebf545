"""Source + schema → contingency table or records: leaf codes, missing values, values outside the declarations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.contingency import ContingencyTable
from core.errors import InputError, UncoveredValuesError, counted
from core.schema import Label, MissingPolicy, Schema
from core.source import TableSource, as_number, as_text, reading
from core.taxonomy import MISSING, OTHER, Interval, Taxonomy

_BINNED_LEAVES = 256
"""Numeric attributes of up to so many leaves are binned by the engine that holds the data."""

_UNCOVERED, _ABSENT, _NOT_A_NUMBER = -1, -2, -3


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
    with reading(source.name):
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
    extra = {f"number{j}": as_number(source.table[schema.names[j]]) for j in numeric}
    if fold_column is not None:
        if fold_column not in source.columns:
            raise InputError(f"There is no column “{fold_column}” to take the folds from.")
        extra["fold"] = as_number(source.table[fold_column])
    table = _projected(source, schema, [expression.name(key) for key, expression in extra.items()])
    with reading(source.name):
        rows = table.to_pyarrow()
    codes, classes, kept = _encode(rows, schema, np.ones(rows.num_rows, dtype=np.int64))
    numbers = np.full(codes.shape, np.nan)
    for j in numeric:
        numbers[:, j] = rows[f"number{j}"].to_numpy(zero_copy_only=False)
    folds = None
    if fold_column is not None:
        numbered = rows["fold"].to_numpy(zero_copy_only=False)[kept]
        if not (np.isfinite(numbered) & (numbered == np.floor(numbered))).all():
            raise InputError(f"Column “{fold_column}” must hold a whole number, the fold, in every record.")
        folds = numbered.astype(np.int64)
    return Records(codes[kept], classes[kept], numbers[kept], folds, int((~kept).sum()))


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
            columns.append(as_text(column).name(f"raw{j}"))
        else:
            columns.append(as_text(column).name(f"text{j}"))
    columns.append(as_text(source.table[schema.label.name]).name("label"))
    return source.table.select(*columns, *extra)


def _binned(column: Any, taxonomy: Taxonomy) -> Any:
    """Leaf code of a numeric column, or the code of what is wrong with the cell."""
    number = as_number(column)
    intervals = taxonomy.leaf_intervals
    cases = [
        (as_text(column).isnull(), _ABSENT),
        (number.isnull() | number.isnan(), _NOT_A_NUMBER),
        ((number <= intervals[0].low) | (number > intervals[-1].high), _UNCOVERED),
        *((number <= interval.high, code) for code, interval in _interval_leaves(taxonomy)),
    ]
    return ibis.cases(*cases, else_=_UNCOVERED).cast("int32")


def _interval_leaves(taxonomy: Taxonomy) -> list[tuple[int, Interval]]:
    """The interval leaves with their codes, ascending."""
    nodes = enumerate(taxonomy.nodes(taxonomy.height))
    return [(code, interval) for code, node in nodes if (interval := node.interval) is not None]


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
            f"The label “{schema.label.name}” has {counted(count, 'record')} with a class that is not declared: "
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
            f"Attribute “{name}” has {counted(int(weights[absent].sum()), 'empty cell')}: choose the "
            f"missing-value policy “drop” to leave such records out, or “leaf” to count them under a leaf named “{MISSING}”."
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
            f"Attribute “{taxonomy.attribute}” is numeric by its taxonomy but "
            f"{counted(int(weights[broken].sum()), 'cell')} cannot be read as a number: correct them, or give it a taxonomy of categories."
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
    position = np.array([code for code, _ in leaves] + [_UNCOVERED])
    codes = position[np.minimum(place, len(leaves))]
    codes[numbers <= leaves[0][1].low] = _UNCOVERED
    codes[np.isnan(numbers)] = _NOT_A_NUMBER
    codes[column.is_null().to_numpy()] = _ABSENT
    return codes.astype(np.int64)
