"""Taxonomies from ranges, lists, tables of levels or, marked so, from the data."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import Defect, InputError, TaxonomyError
from core.schema import Label
from core.source import TableSource
from core.taxonomy import MISSING, Node, Taxonomy

BINS = 16
"""Leaves of a suggested numeric taxonomy."""

MAX_SUGGESTED_VALUES = 1_000
"""A column of text with more distinct values gets no suggestion."""


def suggest_numeric(
    attribute: str, low: float, high: float, *, integer: bool, suggested: bool, missing: bool = False
) -> Taxonomy:
    """Equal-width bins over a declared range, joined in pairs level by level.

    Parameters
    ----------
    attribute : str
    low, high : float
        Least and greatest value that may occur; `low` < `high`.
    integer : bool
        True: edges are whole numbers, and a range of few numbers gets one bin each.
    suggested : bool
        True where the range was read from the private data.
    missing : bool, default False
        Add a leaf ``missing``.

    Returns
    -------
    Taxonomy
        Of at most 16 leaves and at least two levels below the root where the range allows.

    Raises
    ------
    InputError
        If the range is none, or floating point cannot tell its bins apart.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"The range of “{attribute}” must be two numbers, the smaller one first.")
    edges = _edges(low, high, integer)
    if not (edges[0] < low and high <= edges[-1] and all(a < b for a, b in itertools.pairwise(edges))):
        raise InputError(f"The range of “{attribute}” is too narrow or too far from 0 for bins of equal width.")
    nodes = [Node(f"({left}, {right}]") for left, right in itertools.pairwise(edges)]
    while len(nodes) > 2:
        pairs = [nodes[i : i + 2] for i in range(0, len(nodes), 2)]
        nodes = [Node(_joined(pair), tuple(pair)) if len(pair) > 1 else pair[0] for pair in pairs]
    root = Node(_joined(nodes), tuple(nodes))
    return Taxonomy(attribute, _with_missing(root) if missing else root, suggested)


def suggest_categorical(attribute: str, values: Sequence[str], *, suggested: bool, missing: bool = False) -> Taxonomy:
    """Root and leaves.

    Parameters
    ----------
    attribute : str
    values : sequence of str
        At least two with ``missing``.
    suggested : bool
        True where the values were read from the private data.
    missing : bool, default False
        Add a leaf ``missing``.
    """
    leaves = list(values) + ([MISSING] if missing and MISSING not in values else [])
    return Taxonomy(attribute, Node("Any", tuple(Node(value) for value in leaves)), suggested)


def suggest_from_data(
    source: TableSource, label: Label, *, missing_leaf: bool = False
) -> tuple[dict[str, Taxonomy], dict[str, str]]:
    """A taxonomy for every column but the label, made by looking at the private data and marked so.

    Parameters
    ----------
    source : TableSource
    label : Label
    missing_leaf : bool, default False
        Add a leaf ``missing`` where a column has empty cells.

    Returns
    -------
    dict of str to Taxonomy
    dict of str to str
        Columns without a suggestion, and why.
    """
    columns = [column for column in source.columns if column != label.name]
    absent = source.missing_cells(columns) if missing_leaf else {}
    found: dict[str, Taxonomy] = {}
    skipped: dict[str, str] = {}
    for column in columns:
        missing = column in absent
        values = source.distinct_values(column, MAX_SUGGESTED_VALUES)
        if len(values) + missing < 2:
            skipped[column] = "it holds a single value" if values else "it is empty"
            continue
        span = source.numeric_range(column)
        if span is not None and len(values) > 2 and span[0] < span[1]:
            low, high, whole = span
            try:
                found[column] = suggest_numeric(column, low, high, integer=whole, suggested=True, missing=missing)
            except InputError:
                skipped[column] = "its numbers are too large or too close together for bins of equal width"
        elif len(values) <= MAX_SUGGESTED_VALUES:
            found[column] = suggest_categorical(column, values, suggested=True, missing=missing)
        else:
            skipped[column] = f"it holds more than {MAX_SUGGESTED_VALUES:,} different texts"
    return found, skipped


def _edges(low: float, high: float, integer: bool) -> list[float]:
    """Ascending edges; the first lies below `low`, as intervals are open on the left."""
    if integer:
        start, end = math.floor(low) - 1, math.ceil(high)
        return [float(edge) for edge in np.unique(np.rint(np.linspace(start, end, min(BINS, end - start) + 1)))]
    width = high / BINS - low / BINS
    if not 1e-300 < width < 1e300:
        return [low, high]
    step = 10.0 ** math.floor(math.log10(width))
    digits = max(0, -math.floor(math.log10(step))) + 2
    start, end = math.ceil(low / step - 1), math.ceil(high / step)
    # Division rounds: 0.07 / 0.01 is above 7, and the interval that begins at 0.07 would leave it out.
    start, end = start - (round(start * step, digits) >= low), end + (round(end * step, digits) < high)
    return [round(float(edge), digits) for edge in np.linspace(start * step, end * step, BINS + 1)]


def _joined(nodes: Sequence[Node]) -> str:
    first, last = nodes[0].interval, nodes[-1].interval
    assert first is not None
    assert last is not None
    return f"({first.low}, {last.high}]"


def _with_missing(root: Node) -> Node:
    return Node("Any", (root, Node(MISSING)))


def level_table(taxonomy: Taxonomy, depth: int | None = None) -> list[list[str]]:
    """A taxonomy as a table: one row a leaf, its nodes from level 1 to the leaf.

    Parameters
    ----------
    taxonomy : Taxonomy
    depth : int, optional
        Number of columns.  More than the height: new levels before the last, where every leaf stands for itself;
        fewer: the finest levels above the leaves are left out.

    Returns
    -------
    list of list of str
    """
    depth = taxonomy.height if depth is None else depth
    kept = [min(level, taxonomy.height) for level in range(1, depth)] + [taxonomy.height]
    columns = [[taxonomy.labels(level)[place] for place in taxonomy.level_maps[level]] for level in kept]
    return [list(row) for row in zip(*columns, strict=True)]


def from_level_table(attribute: str, root: str, rows: Sequence[Sequence[str]], suggested: bool = False) -> Taxonomy:
    """The taxonomy of such a table; rows need not stand in order, and empty rows are ignored.

    Parameters
    ----------
    attribute, root : str
    rows : sequence of sequence of str
        A leaf repeated to the left stands for itself on those levels; an empty cell takes the label on its right.
    suggested : bool, default False

    Raises
    ------
    TaxonomyError
        With every defect of the tree.
    """
    tree: dict[str, dict[str, Any]] = {}
    paths = [tuple(labels) for row in rows if (labels := _filled(row))]
    finest = Counter(paths)
    repeated = [
        Defect(attribute, path[-1], "the finest group stands in two rows; keep one.")
        for path, times in finest.items() if times > 1
    ]  # fmt: skip
    for path in paths:
        repeated += [
            Defect(attribute, path[depth - 1], "the finest group of one row has groups below it in another; rename one.")
            for depth in range(1, len(path)) if path[:depth] in finest
        ]  # fmt: skip
        below: dict[str, Any] = tree
        for label in path:
            below = below.setdefault(label, {})
    if repeated:
        raise TaxonomyError(repeated)
    return Taxonomy(attribute, _node(root, tree), suggested)


def _filled(row: Sequence[str]) -> list[str]:
    """Labels from level 1 to the leaf, the leaf once."""
    labels = list(row)
    for place in range(len(labels) - 2, -1, -1):
        labels[place] = labels[place] or labels[place + 1]
    while len(labels) > 1 and labels[-1] == labels[-2]:
        labels.pop()
    return labels if any(labels) else []


def _node(label: str, below: dict[str, Any]) -> Node:
    return Node(label, tuple(_node(child, rest) for child, rest in below.items()))
