from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import pool as pool_module
from core.contingency import ContingencyTable
from core.errors import CancelledError, InputError
from core.grid import GridSpace
from core.pool import score_pool, warm_up
from core.quality import MAX_RECORDS, SCALE, grid_quality
from core.release import grid_histogram
from core.schema import Schema
from tests.conftest import Adult
from tests.helpers import UNBALANCED, dense_table, flat, reference_quality, schema_of, schemas, tables, tree

SCHEMA = schema_of(tree("a", UNBALANCED), flat("b", 2))
TABLE = dense_table(SCHEMA, (5, 0, 2, 2, 0, 0, 1, 9, 0, 3, 4, 4))
POOL = GridSpace.of(SCHEMA).pool(6)

epsilons = st.sampled_from([0.01, 0.1, 0.7, 3.0, 50.0])


def in_records(scores: np.ndarray) -> np.ndarray:
    """Fixed-point scores as expected numbers of records."""
    return scores / SCALE


@given(st.data(), schemas(), st.integers(1, 200), epsilons)
def test_scores_agree_with_the_definition(data: st.DataObject, schema: Schema, cap: int, epsilon: float) -> None:
    """Any table, taxonomies, cap and 2 to 5 classes: every grid's score is its gq."""
    table = data.draw(tables(schema))
    grids = GridSpace.of(schema).pool(cap)
    grids = grids[data.draw(st.integers(0, len(grids) - 1)) :: 1 + len(grids) // 40]
    found = score_pool(table, schema, grids, epsilon) / SCALE
    assert found == pytest.approx([reference_quality(table, schema, grid, epsilon) for grid in grids], rel=1e-9)


@given(st.data(), schemas(), epsilons)
def test_scores_do_not_depend_on_order_or_threads(data: st.DataObject, schema: Schema, epsilon: float) -> None:
    """Threads, the order of rows, of attributes and of grids, and repeated grids leave every score the same integer."""
    table, space = data.draw(tables(schema)), GridSpace.of(schema)
    grids = space.pool(500)
    scores = score_pool(table, schema, grids, epsilon, threads=1)
    rows = data.draw(st.permutations(range(len(table.codes))))
    columns = data.draw(st.permutations(range(len(schema.names))))
    picked = data.draw(st.lists(st.integers(0, len(grids) - 1), min_size=1, max_size=len(grids)))
    shuffled = ContingencyTable(table.codes[rows][:, columns], table.counts[rows])
    renamed = replace(schema, taxonomies=tuple(schema.taxonomies[j] for j in columns))
    found = score_pool(shuffled, renamed, grids[picked][:, columns], epsilon, threads=3)
    assert (found == scores[picked]).all()


@given(st.data(), schemas(), epsilons)
def test_rows_may_be_split_or_empty(data: st.DataObject, schema: Schema, epsilon: float) -> None:
    """A combination of leaves written as several rows, or one without records, changes no score."""
    table, others = data.draw(tables(schema)), data.draw(tables(schema))
    part = table.counts // data.draw(st.integers(1, 3))
    split = ContingencyTable(
        np.vstack([table.codes, others.codes, table.codes]),
        np.vstack([part, np.zeros_like(others.counts), table.counts - part]),
    )
    grids = GridSpace.of(schema).pool(100)
    assert (score_pool(split, schema, grids, epsilon) == score_pool(table, schema, grids, epsilon)).all()


def test_many_chunks_give_the_scores_of_one() -> None:
    """A pool of thousands of grids, cut into chunks for four threads, has the scores of a single thread."""
    generator = np.random.default_rng(8)
    schema = schema_of(*(tree(f"a{j}", (UNBALANCED, (), ((), ()))) for j in range(6)), classes=3)
    codes = generator.integers(0, 6, (400, 6))
    table = ContingencyTable.from_records(codes, generator.integers(0, 3, 400), 3)
    grids = GridSpace.of(schema).pool(2000)
    assert len(grids) > 2000
    scores = score_pool(table, schema, grids, 0.5, threads=4)
    assert (scores == score_pool(table, schema, grids, 0.5, threads=1)).all()
    sample = generator.integers(0, len(grids), 20)
    expected = [reference_quality(table, schema, grids[i], 0.5) for i in sample]
    assert scores[sample] / SCALE == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_64_attributes(classes: int) -> None:
    """Records and grids that do not fit into a 64-bit word are told apart wherever they differ."""
    d, generator = 64, np.random.default_rng(64)
    schema = schema_of(*(tree(f"a{j}", (((), ()), ((), ()))) for j in range(d)), classes=classes)
    differing = np.vstack([np.zeros((1, d), dtype=int), np.eye(d, dtype=int), 2 * np.eye(d, dtype=int)])
    codes = differing[generator.integers(0, len(differing), 600)]
    table = ContingencyTable.from_records(codes, generator.integers(0, classes, 600), classes)
    filled = generator.integers(0, 3, (20, d)) * (generator.random((20, d)) < np.linspace(0, 1, 20)[:, None])
    grids = np.vstack([differing, filled, np.full((1, d), 2)]).astype(np.int8)
    expected = [reference_quality(table, schema, grid, 0.5) for grid in grids]
    assert in_records(score_pool(table, schema, grids, 0.5)) == pytest.approx(expected, rel=1e-9)


def test_one_record_is_right_but_for_the_noise() -> None:
    """A lone record scores 1 − w(1) on every grid."""
    table = dense_table(SCHEMA, (0, 0, 1, *[0] * 9))
    assert in_records(score_pool(table, SCHEMA, POOL, 1.0)) == pytest.approx(1 - 0.75 * math.exp(-1))


def test_no_record_scores_nothing() -> None:
    """A table without records scores 0 on every grid."""
    table = ContingencyTable.from_records(np.zeros((0, 2)), np.zeros(0, dtype=int), 2)
    assert score_pool(table, SCHEMA, POOL, 1.0).tolist() == [0] * len(POOL)


def test_an_absent_class_changes_nothing() -> None:
    """Declaring a class that no record has leaves every score as it was."""
    three = replace(SCHEMA, label=replace(SCHEMA.label, values=("0", "1", "2")))
    table = ContingencyTable(TABLE.codes, np.c_[TABLE.counts, 0 * TABLE.counts[:, :1]])
    assert (score_pool(table, three, POOL, 0.5) == score_pool(TABLE, SCHEMA, POOL, 0.5)).all()


def test_all_root_scores_the_class_distribution() -> None:
    """Cap 1 leaves the grid of roots, whose one cell is the class counts; alone, too, it is scored."""
    grids = GridSpace.of(SCHEMA).pool(1)
    assert grids.tolist() == [[0, 0]]
    expected = grid_quality(TABLE.class_counts[None, :], 0.1)
    assert in_records(score_pool(TABLE, SCHEMA, grids, 0.1)) == pytest.approx(expected, rel=1e-9)


def test_an_empty_pool_has_no_scores() -> None:
    """No grid, no score."""
    assert score_pool(TABLE, SCHEMA, POOL[:0], 0.5).shape == (0,)


def test_the_largest_table_does_not_overflow() -> None:
    """2^30 records in one cell score exactly; one more is refused."""
    schema = schema_of(flat("a", 2))
    grids = GridSpace.of(schema).pool(2)
    assert score_pool(dense_table(schema, (MAX_RECORDS, 0, 0, 0)), schema, grids, 1.0).tolist() == [MAX_RECORDS * SCALE] * 2
    with pytest.raises(InputError, match="more than"):
        score_pool(dense_table(schema, (MAX_RECORDS, 0, 0, 1)), schema, grids, 1.0)


def test_progress_reaches_the_total() -> None:
    """Progress never goes back and ends with all grids done."""
    seen: list[tuple[int, int]] = []
    score_pool(TABLE, SCHEMA, POOL, 0.5, progress=lambda done, total: not seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (len(POOL), len(POOL))


def test_cancelling_stops_the_scoring() -> None:
    """Progress that returns False makes the call raise instead of returning half the scores."""
    with pytest.raises(CancelledError):
        score_pool(TABLE, SCHEMA, POOL, 0.5, progress=lambda done, total: False)


def test_warm_up_compiles_what_scoring_uses() -> None:
    """After the warm-up a pool is scored with the kernels it compiled: no further compilation."""
    warm_up()
    compiled = len(pool_module.score_range.signatures)
    score_pool(TABLE, SCHEMA, POOL, 0.5)
    assert len(pool_module.score_range.signatures) == compiled


@pytest.mark.data
def test_adult_reference_figures(adult: Adult, shared_data: Path) -> None:
    """Scored as one pool, 160 grids give the figures of the authors' own program."""
    reference = json.loads((shared_data / "adult_reference_quality.json").read_text(encoding="utf-8"))
    table, space = adult.outside_fold(0), GridSpace.of(adult.schema)
    grids = np.array([space.levels(grid["levels"]) for grid in reference["grids"]])
    found = table.n - in_records(score_pool(table, adult.schema, grids, reference["epsilon_histogram"]))
    assert len(found) == 160
    assert found == pytest.approx([grid["quality"] for grid in reference["grids"]], rel=0, abs=1e-6)


@pytest.mark.data
def test_adult_pool_against_single_histograms(adult: Adult) -> None:
    """On a real table with a real pool, sampled scores are the qualities of the grids' own histograms."""
    table, space = adult.outside_fold(0), GridSpace.of(adult.schema)
    grids = space.pool(100)
    scores = in_records(score_pool(table, adult.schema, grids, 0.05))
    for place in np.random.default_rng(5).integers(0, len(grids), 25):
        counts = grid_histogram(table, adult.schema, space.grid(grids[place]))
        assert scores[place] == pytest.approx(grid_quality(counts, 0.05), rel=1e-9)
