from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contingency import ContingencyTable, group_rows

Rows = list[tuple[int, ...]]

records = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(0, 3)] * d, st.integers(0, 2)), min_size=1, max_size=30)
)
"""Lists of (leaf code, …, leaf code, class)."""


def counted(rows: Rows) -> ContingencyTable:
    """The table of some records with three classes."""
    array = np.array(rows)
    return ContingencyTable.from_records(array[:, :-1], array[:, -1], 3)


def as_counter(table: ContingencyTable) -> Counter[tuple[int, ...]]:
    """How often each (leaf code, …, class) stands in a table."""
    cells = np.argwhere(table.counts)
    return Counter({(*map(int, table.codes[row]), int(k)): int(table.counts[row, k]) for row, k in cells})


@given(records)
def test_counts_every_record_once(rows: Rows) -> None:
    """The table holds each combination of leaves once, and each record is counted under its class."""
    table = counted(rows)
    assert as_counter(table) == Counter(rows)
    assert len(np.unique(table.codes, axis=0)) == len(table.codes)
    assert table.n == len(rows)
    assert table.n_classes == 3
    assert table.class_counts.tolist() == [sum(row[-1] == k for row in rows) for k in range(3)]


@given(records)
def test_weights_stand_for_repetition(rows: Rows) -> None:
    """Records with weights count as often as their weight says."""
    array = np.array(list(Counter(rows)))
    weights = np.array(list(Counter(rows).values()))
    assert as_counter(ContingencyTable.from_records(array[:, :-1], array[:, -1], 3, weights)) == Counter(rows)


@given(records, st.data())
def test_select_merges_what_became_equal(rows: Rows, data: st.DataObject) -> None:
    """The table of some attributes is the table of the records without the others; none at all leaves the classes."""
    d = len(rows[0]) - 1
    columns = data.draw(st.lists(st.integers(0, d - 1), unique=True))
    expected = Counter(tuple(row[j] for j in columns) + row[-1:] for row in rows)
    assert as_counter(counted(rows).select(columns)) == expected


@given(records, st.data())
def test_marginal_counts_one_attribute(rows: Rows, data: st.DataObject) -> None:
    """The marginal has a row for every leaf, absent ones included."""
    column = data.draw(st.integers(0, len(rows[0]) - 2))
    marginal = counted(rows).marginal(column, 5)
    assert marginal.tolist() == [[sum(r[column] == v and r[-1] == k for r in rows) for k in range(3)] for v in range(5)]


def test_cells_are_in_c_order_of_the_nodes() -> None:
    """Cells run over the nodes with the last attribute fastest, empty cells included."""
    table = counted([(0, 0, 0), (3, 1, 1), (3, 0, 2), (2, 0, 2)])
    merged, kept = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])
    expected = np.zeros((2, 4, 3), dtype=int)
    expected[0, 0, 0] = expected[1, 1, 1] = 1
    expected[1, 0, 2] = 2
    assert (table.cells([merged, kept], [2, 4]) == expected.reshape(8, 3)).all()


def test_cells_of_the_root_are_the_class_counts() -> None:
    """The grid of roots has one cell, with the distribution of the classes."""
    table = counted([(0, 0), (1, 0), (2, 2)])
    assert table.cells([np.zeros(4, dtype=int)], [1]).tolist() == [[2, 0, 1]]


@pytest.mark.parametrize("columns", [1, 3, 40])
def test_group_rows_beyond_one_machine_word(columns: int) -> None:
    """Equal rows are found at any width, also where a row does not fit into 64 bits."""
    generator = np.random.default_rng(columns)
    codes = generator.integers(0, 2**16, (20, columns)).astype(np.uint16)[generator.integers(0, 20, 200)]
    group, first = group_rows(codes)
    assert (codes[first][group] == codes).all()
    assert len(first) == len(np.unique(codes, axis=0))


def test_no_records() -> None:
    """A table without records has no rows and all class counts 0."""
    table = ContingencyTable.from_records(np.zeros((0, 2)), np.zeros(0, dtype=int), 3)
    assert table.codes.shape == (0, 2)
    assert table.class_counts.tolist() == [0, 0, 0]
