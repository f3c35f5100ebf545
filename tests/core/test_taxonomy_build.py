"""core.taxonomy_build: suggestions cover the data and say what they are; tables of levels become trees."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.encoding import read_contingency
from core.errors import InputError, TaxonomyError
from core.schema import Label, MissingPolicy, PrivacyUnit, Schema
from core.source import open_table
from core.taxonomy import MISSING, Interval, Taxonomy
from core.taxonomy_build import (
    BINS,
    MAX_SUGGESTED_VALUES,
    from_level_table,
    level_table,
    suggest_categorical,
    suggest_from_data,
    suggest_numeric,
)
from tests.core.tables import categories, node, write_table
from tests.helpers import Shape, shapes, tree

LABEL = Label("y", ("p", "q"))

whole = st.integers(-(10**12), 10**12)
real = st.floats(-1e12, 1e12, allow_subnormal=False)
decimal = st.builds(lambda digits, places: digits / 10**places, st.integers(-(10**6), 10**6), st.integers(0, 12))


def suggested(values: list[float], *, integer: bool) -> Taxonomy | None:
    """The suggestion for these values, or None where it is refused."""
    try:
        return suggest_numeric("a", min(values), max(values), integer=integer, suggested=True)
    except InputError:
        return None


def holding(intervals: tuple[Interval, ...], value: float) -> int:
    """How many intervals hold a value."""
    return sum(interval.low < value <= interval.high for interval in intervals)


@given(st.lists(whole, min_size=2, unique=True))
def test_whole_numbers_are_covered(values: list[int]) -> None:
    """Each whole number falls in exactly one of at most 16 bins, whose widths differ by at most 1."""
    taxonomy = suggested(values, integer=True)
    assert taxonomy is not None
    assert all(holding(taxonomy.leaf_intervals, value) == 1 for value in values)
    widths = [interval.high - interval.low for interval in taxonomy.leaf_intervals]
    assert len(widths) <= BINS
    assert max(widths) - min(widths) <= 1
    assert taxonomy.integer


@given(st.lists(decimal | real, min_size=2, unique=True))
def test_numbers_are_covered(values: list[float]) -> None:
    """Each number falls in exactly one of 16 bins, unless floating point cannot tell the bins apart."""
    taxonomy = suggested(values, integer=False)
    if taxonomy is None:
        assert max(values) - min(values) < 1e-12 * max(map(abs, values))
    else:
        assert all(holding(taxonomy.leaf_intervals, value) == 1 for value in values)
        assert len(taxonomy.leaves) == BINS


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0.07, 0.5), (0.1, 0.3), (-0.3, -0.1), (1e-9, 2e-9), (-1e-9, 1e-9), (1e12, 1e12 + 0.5), (-1e12, 1e12),
        (1e-300, 1e300), (-1e300, 1e300), (0.0, 1e-200), (5.0, 5.000001), (-7.25, 1e9),
    ],
)  # fmt: skip
def test_any_scale_has_equal_bins(low: float, high: float) -> None:
    """Ranges tiny, huge, negative or far from 0 get 16 bins of equal width that hold both ends."""
    taxonomy = suggest_numeric("a", low, high, integer=False, suggested=True)
    assert holding(taxonomy.leaf_intervals, low) == holding(taxonomy.leaf_intervals, high) == 1
    widths = np.array([interval.high - interval.low for interval in taxonomy.leaf_intervals])
    assert widths == pytest.approx(np.full(BINS, widths.mean()), rel=0.05)
    assert widths.sum() == pytest.approx(high - low, rel=0.2)


@given(whole, st.integers(2, 10**6))
def test_bins_are_joined_in_pairs(low: int, width: int) -> None:
    """Bins are joined two by two: at least two levels, and the root is the whole range."""
    taxonomy = suggest_numeric("a", low, low + width, integer=True, suggested=True)
    assert taxonomy.height >= 2
    for coarse, fine in zip(taxonomy.level_sizes, taxonomy.level_sizes[1:], strict=False):
        assert coarse == math.ceil(fine / 2)
    assert taxonomy.root.interval == Interval(taxonomy.leaf_intervals[0].low, taxonomy.leaf_intervals[-1].high)


def test_few_whole_numbers_get_one_bin_each() -> None:
    """A range of a few whole numbers has one bin for each."""
    assert suggest_numeric("a", 1, 3, integer=True, suggested=False).leaves == ("(0.0, 1.0]", "(1.0, 2.0]", "(2.0, 3.0]")


@pytest.mark.parametrize(
    ("low", "high", "integer"),
    [
        (1, 1, True), (2, 1, True), (1, 1, False), (math.nan, 1, False), (0, math.inf, False), (-math.inf, 0, True),
        (1e17, 1e17 + 32, True), (1e15, 1e15 + 0.5, False), (0.0, 5e-324, False), (-1e308, 1e308, False),
    ],
)  # fmt: skip
def test_range_without_bins_is_refused(low: float, high: float, integer: bool) -> None:
    """An empty, open or reversed range, or one that floating point cannot divide, is refused by name."""
    with pytest.raises(InputError, match=r"^The range of “a” "):
        suggest_numeric("a", low, high, integer=integer, suggested=False)


@pytest.mark.parametrize("mark", [True, False])
def test_suggestion_is_marked(mark: bool) -> None:
    """What was made by looking at the data carries the mark, what was declared does not."""
    assert suggest_numeric("a", 0, 9, integer=True, suggested=mark).suggested is mark
    assert suggest_categorical("a", ["x", "y"], suggested=mark).suggested is mark


def test_categories_stand_below_the_root() -> None:
    """A suggestion of categories is the root and its leaves, ``missing`` last and once."""
    assert suggest_categorical("a", ["x", "y"], suggested=False) == categories("a", "x", "y")
    assert suggest_categorical("a", ["x", "y"], suggested=False, missing=True).leaves == ("x", "y", MISSING)
    assert suggest_categorical("a", ["x", MISSING], suggested=False, missing=True).leaves == ("x", MISSING)


def test_missing_stands_beside_the_range() -> None:
    """A numeric suggestion with missing cells keeps its range below ``Any``, beside the leaf ``missing``."""
    taxonomy = suggest_numeric("a", 0, 9, integer=True, suggested=True, missing=True)
    assert taxonomy.labels(1) == ("(-1.0, 9.0]", MISSING)
    assert taxonomy.numeric


cells = st.one_of(
    whole.map(str), real.map(repr), decimal.map(repr), st.sampled_from(["", "x", "007", "1.0", "nan", "inf", "1e400"])
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_every_table_fits_its_suggestion(tmp_path: Path, data: st.DataObject) -> None:
    """Whatever stands in a table, it is covered by the taxonomies suggested from it, and all are marked so."""
    rows = data.draw(st.integers(4, 12))
    kinds = data.draw(
        st.lists(st.sampled_from([whole.map(str), real.map(repr), decimal.map(repr), cells]), min_size=1, max_size=4)
    )
    columns = {f"a{j}": data.draw(st.lists(kind, min_size=rows, max_size=rows)) for j, kind in enumerate(kinds)}
    table = {
        "fixed": ["u", "v"] * rows,
        **{name: 2 * column for name, column in columns.items()},
        "y": ["p"] * rows + ["q"] * rows,
    }
    source = open_table(write_table(tmp_path, table))
    taxonomies, skipped = suggest_from_data(source, LABEL, missing_leaf=True)
    assert set(taxonomies) | set(skipped) == set(columns) | {"fixed"}
    assert all(taxonomy.suggested for taxonomy in taxonomies.values())
    schema = Schema(tuple(taxonomies.values()), LABEL, PrivacyUnit("person", 1), missing=MissingPolicy.LEAF)
    assert read_contingency(source, schema).contingency.n == 2 * rows


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.int64(), pa.uint64(), pa.decimal128(20, 3)])
def test_typed_numbers_fit_their_suggestion(tmp_path: Path, kind: pa.DataType) -> None:
    """Numbers of every Parquet type are covered by the bins suggested for them, short floats at an edge included."""
    numbers: list[Any] = [1, 2, 3, 7] if pa.types.is_integer(kind) else [0.1, 0.2, 0.3, 0.7]
    values = pa.array(numbers, pa.float64() if pa.types.is_decimal(kind) else kind).cast(kind)
    source = open_table(write_table(tmp_path, {"a": values, "y": ["p", "q", "p", "q"]}, ".parquet"))
    taxonomies, _ = suggest_from_data(source, LABEL)
    schema = Schema(tuple(taxonomies.values()), LABEL, PrivacyUnit("person", 1))
    assert taxonomies["a"].numeric
    assert read_contingency(source, schema).contingency.n == 4


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (["x"] * 3, "a single value"),
        ([""] * 3, "it is empty"),
        (["x", "", ""], "a single value"),
        ([str(10**17 + 16 * row) for row in range(3)], "too large or too close"),
        (["1e308", "-1e308", "0"], "too large or too close"),
    ],
)
def test_column_without_suggestion_says_why(tmp_path: Path, column: list[str], reason: str) -> None:
    """A column that cannot be grouped is left out with a reason, and the others still get their suggestion."""
    table = {"a": column, "b": ["u", "v", "u"], "y": ["p", "q", "p"]}
    taxonomies, skipped = suggest_from_data(open_table(write_table(tmp_path, table)), LABEL)
    assert list(taxonomies) == ["b"]
    assert reason in skipped["a"]


def test_too_many_texts_get_no_suggestion(tmp_path: Path) -> None:
    """A thousand different texts are leaves, one more is no category any longer."""
    texts = [f"text {number}" for number in range(MAX_SUGGESTED_VALUES + 1)]
    table = {"fits": [*texts[:-1], texts[0]], "free": texts, "y": ["p", "q"] * 500 + ["p"]}
    taxonomies, skipped = suggest_from_data(open_table(write_table(tmp_path, table)), LABEL)
    assert len(taxonomies["fits"].leaves) == MAX_SUGGESTED_VALUES
    assert skipped == {"free": "it holds more than 1,000 different texts"}


def test_two_numbers_are_categories(tmp_path: Path) -> None:
    """A column of 0 and 1, or of one number written in several ways, is a choice and not a range."""
    table = {"flag": ["0", "1", "0"], "code": ["1", "01", "1.0"], "y": ["p", "q", "p"]}
    taxonomies, _ = suggest_from_data(open_table(write_table(tmp_path, table)), LABEL)
    assert taxonomies["flag"].leaves == ("0", "1")
    assert taxonomies["code"].leaves == ("01", "1", "1.0")


@given(shapes)
def test_table_of_levels_is_a_tree_again(shape: Shape) -> None:
    """A tree written as a table of levels is read back equal, also with levels added."""
    taxonomy = tree("a", shape)
    for depth in (taxonomy.height, taxonomy.height + 2):
        assert from_level_table("a", taxonomy.root.label, level_table(taxonomy, depth)) == taxonomy


def test_fewer_levels_keep_the_leaves() -> None:
    """With fewer columns the finest levels above the leaves are left out."""
    taxonomy = Taxonomy("a", node("Any", {"A": {"B": {"x": {}, "y": {}}}, "C": {"D": {"z": {}}}}))
    assert level_table(taxonomy) == [["A", "B", "x"], ["A", "B", "y"], ["C", "D", "z"]]
    assert level_table(taxonomy, 2) == [["A", "x"], ["A", "y"], ["C", "z"]]
    assert level_table(taxonomy, 1) == [["x"], ["y"], ["z"]]


def test_rows_need_no_order() -> None:
    """Rows of one group need not stand together, empty rows are ignored, an empty cell takes the label on its right."""
    rows = [["A", "x"], ["", ""], ["", "z"], ["A", "y"]]
    assert from_level_table("a", "Any", rows) == Taxonomy("a", node("Any", {"A": {"x": {}, "y": {}}, "z": {}}))


@pytest.mark.parametrize(
    ("rows", "at", "reason"),
    [
        ([["A", "x"], ["A", "x"], ["A", "y"]], "x", "stands in two rows"),
        ([["A", "A"], ["A", "x"], ["B", "y"]], "A", "has groups below it in another"),
        ([["A", "x"], ["A", "A"], ["B", "y"]], "A", "has groups below it in another"),
        ([["A", "x"], ["B", "x"]], "x", "the leaf appears 2 times"),
        ([["A", ""], ["A", "x"]], "", "has no label"),
        ([["x"]], "Any", "one leaf only"),
        ([], "Any", "one node only"),
    ],
)
def test_broken_table_of_levels_is_named(rows: list[list[str]], at: str, reason: str) -> None:
    """A table that is no tree is refused with the node and the reason, whatever the order of its rows."""
    with pytest.raises(TaxonomyError) as caught:
        from_level_table("a", "Any", rows)
    assert any(defect.node == at and reason in defect.reason for defect in caught.value.defects)
