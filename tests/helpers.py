"""Small schemas and tables, and what the definitions say about them, for the tests of several modules."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from core.contingency import ContingencyTable
from core.schema import Label, PrivacyUnit, Schema
from core.taxonomy import Node, Taxonomy

Shape = tuple["Shape", ...]
"""A tree without labels: ``()`` is a leaf, another tuple the node above its parts."""

UNBALANCED: Shape = ((), ((), ()))
"""Three leaves, one of them on level 1."""

EPSILONS = (0.05, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0)


def tree(attribute: str, shape: Shape) -> Taxonomy:
    """The taxonomy of a shape; a node is labelled with its path from the root."""

    def node(label: str, below: Shape) -> Node:
        return Node(label, tuple(node(f"{label}.{place}", part) for place, part in enumerate(below)))

    return Taxonomy(attribute, node(attribute, shape))


def flat(attribute: str, leaves: int) -> Taxonomy:
    """A root with leaves below it."""
    return tree(attribute, ((),) * leaves)


def schema_of(*taxonomies: Taxonomy, classes: int = 2, size: int | None = None) -> Schema:
    """A schema whose classes are numbered from 0."""
    label = Label("label", tuple(str(k) for k in range(classes)))
    return Schema(taxonomies, label, PrivacyUnit("person", 1), size)


def dense_table(schema: Schema, counts: tuple[int, ...]) -> ContingencyTable:
    """The table with the given count of every (leaf, …, leaf, class), in C order; zeros stay rows of the table."""
    leaves = [range(len(taxonomy.leaves)) for taxonomy in schema.taxonomies]
    codes = np.array(list(itertools.product(*leaves)), dtype=np.uint16)
    return ContingencyTable(codes, np.array(counts, dtype=np.int64).reshape(len(codes), -1))


def all_counts(cells: int, n: int) -> Iterator[tuple[int, ...]]:
    """The counts of every table of at most `n` records over `cells` cells."""
    for records in range(n + 1):
        for placed in itertools.combinations_with_replacement(range(cells), records):
            counts = [0] * cells
            for cell in placed:
                counts[cell] += 1
            yield tuple(counts)


def one_more(counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every neighbour with one record more."""
    for cell in range(len(counts)):
        yield (*counts[:cell], counts[cell] + 1, *counts[cell + 1 :])


def paths(node: Node) -> list[tuple[str, ...]]:
    """Labels from `node` down to each leaf, from left to right."""
    if not node.children:
        return [(node.label,)]
    return [(node.label, *path) for child in node.children for path in paths(child)]


def reference_histogram(table: ContingencyTable, schema: Schema, levels: np.ndarray) -> list[Counter[int]]:
    """Class counts of the occupied cells of a grid: records whose ancestors on the grid's levels are the same."""
    above = [paths(taxonomy.root) for taxonomy in schema.taxonomies]
    cells: defaultdict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
    for codes, counts in zip(table.codes, table.counts, strict=True):
        cell = tuple(
            above[j][code][min(int(level), len(above[j][code]) - 1)]
            for j, (code, level) in enumerate(zip(codes, levels, strict=True))
        )
        cells[cell].update({k: int(count) for k, count in enumerate(counts)})
    return list(cells.values())


def reference_quality(table: ContingencyTable, schema: Schema, levels: np.ndarray, epsilon: float) -> float:
    """Gq of one grid: Σ a − x·½e^(−εx)(1 + εx/2) over the cells, a ≥ a − x the two largest class counts."""
    total = []
    for cell in reference_histogram(table, schema, levels):
        a, b = ([*sorted(cell.values(), reverse=True), 0])[:2]
        x = a - b
        total.append(a - x * math.exp(-epsilon * x) * (1 + epsilon * x / 2) / 2)
    return math.fsum(total)


def _parts(depth: int) -> st.SearchStrategy[Shape]:
    if depth == 0:
        return st.just(())
    return st.just(()) | st.lists(_parts(depth - 1), min_size=1, max_size=3).map(tuple)


shapes: st.SearchStrategy[Shape] = st.lists(_parts(2), min_size=2, max_size=3).map(tuple)
"""Trees of height 1 to 3, unbalanced ones and only children included."""


@st.composite
def schemas(draw: st.DrawFn, max_attributes: int = 4, max_classes: int = 5) -> Schema:
    """Schemas over random taxonomies."""
    trees = draw(st.lists(shapes, min_size=1, max_size=max_attributes))
    classes = draw(st.integers(2, max_classes))
    names = draw(st.permutations("pqrstuvw"[: len(trees)]))
    return schema_of(*(tree(name, shape) for name, shape in zip(names, trees, strict=True)), classes=classes)


@st.composite
def tables(draw: st.DrawFn, schema: Schema, max_rows: int = 20, max_weight: int = 300) -> ContingencyTable:
    """Tables of a schema with at least one record."""
    leaf = [st.integers(0, len(taxonomy.leaves) - 1) for taxonomy in schema.taxonomies]
    row = st.tuples(*leaf, st.integers(0, len(schema.label.values) - 1), st.integers(1, max_weight))
    rows = np.array(draw(st.lists(row, min_size=1, max_size=max_rows)))
    return ContingencyTable.from_records(rows[:, :-2], rows[:, -2], len(schema.label.values), rows[:, -1])
