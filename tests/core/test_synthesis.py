"""core.synthesis: a noisy histogram becomes rows, and nothing else decides what they are."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.release import Release
from core.schema import Schema
from core.synthesis import ANY, Shape, histogram_frame, left_out, repaired_counts, synthetic_rows
from core.taxonomy import MISSING, OTHER, Interval, Node, Taxonomy
from tests.core.tables import categories, declare, intervals, node, release_of
from tests.helpers import schemas

AGE = Taxonomy(
    "age",
    node("(0, 100]", {"(0, 50]": {"(0, 18]": {}, "(18, 50]": {}}, "(50, 100]": {"(50, 65]": {}, "(65, 100]": {}}}),
)
WEIGHT = intervals("weight", 0.5, 2.25, 10)
TEMPERATURE = Taxonomy("temperature", node("Any", {"measured": {"(35, 37]": {}, "(37, 42]": {}}, MISSING: {}}))
SMOKER = Taxonomy("smoker", node("Any", {"known": {"yes": {}, "no": {}}, "unknown": {"refused": {}, MISSING: {}}}))

Rule = Literal["clip", "project"]


def rows(release: Release, shape: Shape, seed: int = 0, rule: Rule = "clip") -> pd.DataFrame:
    """The synthetic rows of one seed."""
    return synthetic_rows(release, shape, np.random.default_rng(seed), rule)


def is_below(node: Node, value: Any) -> bool:
    """True if a value of the original domain lies below a node."""
    for leaf in node.leaves():
        interval = leaf.interval
        if interval is None and value == leaf.label:
            return True
        if interval is not None and not isinstance(value, str) and interval.low < value <= interval.high:
            return True
    return False


@st.composite
def releases(draw: st.DrawFn) -> Release:
    """Releases of random schemas, grids and noisy counts."""
    schema = draw(schemas(max_attributes=3, max_classes=3))
    levels = {taxonomy.attribute: draw(st.integers(0, taxonomy.height)) for taxonomy in schema.taxonomies}
    grid = {name: level for name, level in levels.items() if level}
    cells = math.prod(schema.taxonomy(name).level_sizes[level] for name, level in grid.items())
    row = st.lists(st.integers(-5, 5), min_size=len(schema.label.values), max_size=len(schema.label.values))
    return release_of(schema, grid, draw(st.lists(row, min_size=cells, max_size=cells)))


# Counts


noisy = st.lists(st.tuples(st.integers(-50, 200), st.integers(-50, 200)), min_size=1, max_size=30).map(np.array)


@given(noisy)
def test_clipping_takes_negative_counts_for_zero(counts: np.ndarray) -> None:
    """Negative counts become 0, the others stay."""
    assert repaired_counts(counts).tolist() == [[max(0, a), max(0, b)] for a, b in counts.tolist()]


@given(noisy)
def test_projection_keeps_the_total(counts: np.ndarray) -> None:
    """Projected counts are whole and not negative, and sum to the noisy total but for rounding."""
    repaired = repaired_counts(counts, "project")
    assert repaired.dtype == np.int64
    assert repaired.min() >= 0
    assert abs(repaired.sum() - max(0, counts.sum())) <= np.count_nonzero(repaired) / 2 + 0.5


@given(noisy)
def test_projection_is_the_nearest_point(counts: np.ndarray) -> None:
    """The projection takes the same amount from every count that stays above 0, and at least what it had from the others."""
    repaired = repaired_counts(counts, "project")
    if counts.sum() <= 0:
        assert not repaired.any()
        return
    taken = (counts - repaired).ravel()
    kept = repaired.ravel() > 0
    assert taken[kept].max() - taken[kept].min() <= 1
    assert (taken[~kept] <= taken[kept].max() + 1).all()


def test_projection_by_hand() -> None:
    """(10, 4, −2) has total 12; its nearest counts are (9, 3, 0)."""
    assert repaired_counts(np.array([[10], [4], [-2]]), "project").tolist() == [[9], [3], [0]]


@given(noisy)
def test_sound_counts_are_left_alone(counts: np.ndarray) -> None:
    """Counts that are all at least 0 stay what they are under both rules."""
    for rule in get_args(Rule):
        assert np.array_equal(repaired_counts(np.abs(counts), rule), np.abs(counts))


# Rows


@given(releases())
def test_generalised_rows_are_the_histogram(release: Release) -> None:
    """There are as many rows of each cell and class as its count; every declared column is there, ``Any`` if not chosen."""
    frame = rows(release, "generalised")
    names = [*release.schema.names, release.schema.label.name]
    assert list(frame.columns) == names
    expected: Counter[tuple[str, ...]] = Counter()
    for row in histogram_frame(release).to_dict("records"):
        expected[tuple(row.get(name, ANY) for name in names)] += max(0, row["noisy_count"])
    assert Counter(frame.itertuples(index=False, name=None)) == +expected


@given(releases())
def test_sampled_rows_lie_below_their_cells(release: Release) -> None:
    """Sampled values stand for the same cells: generalising them again gives the histogram; other columns are left out."""
    frame = rows(release, "sampled")
    assert list(frame.columns) == [*release.grid, release.schema.label.name]
    assert left_out(release) == tuple(name for name in release.schema.names if name not in frame)
    for name, level in release.grid.items():
        taxonomy = release.schema.taxonomy(name)
        above = dict(zip(taxonomy.leaves, taxonomy.level_maps[level], strict=True))
        frame[name] = [taxonomy.labels(level)[above[value]] for value in frame[name]]
    expected = rows(release, "generalised")[list(frame.columns)]
    assert Counter(frame.itertuples(index=False)) == Counter(expected.itertuples(index=False))


@pytest.mark.parametrize(
    ("taxonomy", "level"),
    [(AGE, 1), (AGE, 2), (WEIGHT, 1), (TEMPERATURE, 1), (TEMPERATURE, 2), (SMOKER, 1), (SMOKER, 2)],
)
def test_sampled_values_lie_below_their_node(taxonomy: Taxonomy, level: int) -> None:
    """Every value drawn for a node is a declared value below that very node, and every leaf below it is drawn."""
    nodes = taxonomy.nodes(level)
    classes = tuple(str(place) for place in range(len(nodes)))
    frame = rows(
        release_of(declare(taxonomy, values=classes), {taxonomy.attribute: level}, np.eye(len(nodes)) * 500), "sampled"
    )
    for place, above in enumerate(nodes):
        drawn = frame.loc[frame["y"] == str(place), taxonomy.attribute].tolist()
        assert len(drawn) == 500
        assert all(is_below(above, value) for value in drawn)
        assert all(any(is_below(leaf, value) for value in drawn) for leaf in above.leaves())


def test_whole_numbers_stay_whole() -> None:
    """Whole edges give whole numbers, from just above the lower edge to the upper edge itself; others give any number."""
    release = release_of(declare(AGE, WEIGHT), {"age": 2, "weight": 1}, [[400, 0]] * 8)
    frame = rows(release, "sampled")
    assert {type(value) for value in frame["age"]} == {int}
    assert set(frame["age"]) == set(range(1, 101))
    assert {type(value) for value in frame["weight"]} == {float}
    assert frame["weight"].min() > 0.5
    assert frame["weight"].max() <= 10


def test_missing_is_drawn_as_missing() -> None:
    """Below a node with the leaf ``missing`` the cell is ``missing`` as often as any other leaf, and a number otherwise."""
    taxonomy = Taxonomy("a", node("Any", {"all": {"(0, 1]": {}, MISSING: {}}, "rest": {"(1, 2]": {}, OTHER: {}}}))
    drawn = rows(release_of(declare(taxonomy), {"a": 1}, [[900, 0], [0, 900]]), "sampled")
    for label, leaf, number in (("p", MISSING, 1), ("q", OTHER, 2)):
        counts = drawn.loc[drawn["y"] == label, "a"].value_counts()
        assert set(counts.index) == {leaf, number}
        assert 350 < counts[leaf] < 550


@pytest.mark.parametrize(
    ("edges", "values"),
    [
        ((-math.inf, 5, math.inf), {5, 6}),
        ((-math.inf, 0.5, math.inf), {0.5, 1.5}),
    ],
)
def test_open_ends_take_a_declared_number(edges: tuple[float, ...], values: set[float]) -> None:
    """An interval without an end has one finite number that lies in it, whole where the edges are."""
    drawn = rows(release_of(declare(intervals("a", *edges)), {"a": 1}, [[20, 0], [0, 20]]), "sampled")["a"]
    assert set(drawn) == values


def test_huge_edges_can_be_drawn() -> None:
    """Edges beyond 64-bit integers give numbers inside their interval."""
    drawn = rows(release_of(declare(intervals("a", 0, 1e20, 1e300)), {"a": 1}, [[20, 0], [0, 20]]), "sampled")
    for value, label in drawn.itertuples(index=False):
        span = Interval(0, 1e20) if label == "p" else Interval(1e20, 1e300)
        assert span.low < value <= span.high


def test_empty_grid_publishes_the_classes() -> None:
    """The all-root grid gives ``Any`` in every column, or the label alone."""
    release = release_of(declare(AGE, SMOKER), {}, [[3, 2]])
    assert Counter(rows(release, "generalised").itertuples(index=False, name=None)) == {
        (ANY, ANY, "p"): 3,
        (ANY, ANY, "q"): 2,
    }
    assert list(rows(release, "sampled").columns) == ["y"]
    assert left_out(release) == ("age", "smoker")


@pytest.mark.parametrize("shape", get_args(Shape))
@pytest.mark.parametrize("rule", get_args(Rule))
def test_no_row_is_possible(shape: Shape, rule: Rule) -> None:
    """Counts that are all negative give an empty table with its columns."""
    frame = rows(release_of(declare(AGE), {"age": 1}, [[-3, 0], [-1, -2]]), shape, rule=rule)
    assert len(frame) == 0
    assert list(frame.columns) == ["age", "y"]


def test_order_of_rows_says_nothing() -> None:
    """Rows come in random order: another generator gives another order of the same rows."""
    release = release_of(declare(SMOKER), {"smoker": 1}, [[40, 40], [40, 40]])
    first, second = rows(release, "generalised", 1), rows(release, "generalised", 2)
    assert not first.equals(second)
    assert Counter(first.itertuples(index=False)) == Counter(second.itertuples(index=False))
    assert first.equals(rows(release, "generalised", 1))


def test_histogram_shows_negative_counts() -> None:
    """The histogram lists every cell and class with its noisy count as it was drawn."""
    frame = histogram_frame(release_of(declare(SMOKER, AGE), {"smoker": 1, "age": 1}, [[1, -2], [0, 4], [5, 6], [-7, 8]]))
    assert frame.to_dict("list") == {
        "smoker": ["known"] * 4 + ["unknown"] * 4,
        "age": ["(0, 50]"] * 2 + ["(50, 100]"] * 2 + ["(0, 50]"] * 2 + ["(50, 100]"] * 2,
        "y": ["p", "q"] * 4,
        "noisy_count": [1, -2, 0, 4, 5, 6, -7, 8],
    }


def test_rule_decides_the_rows() -> None:
    """Clipping gives the positive counts; the projection gives the noisy total."""
    release = release_of(declare(AGE), {"age": 1}, [[10, -4], [4, 0]])
    assert len(rows(release, "generalised", rule="clip")) == 14
    assert len(rows(release, "generalised", rule="project")) == 10


def test_categories_of_a_schema_are_strings() -> None:
    """Values of categories are the text of their leaves, also where they look like numbers."""
    schema: Schema = declare(categories("a", "007", "1.0"))
    assert set(rows(release_of(schema, {"a": 1}, [[5, 0], [0, 5]]), "sampled")["a"]) == {"007", "1.0"}
