"""core.taxonomy: levels, leaf-to-node maps, and every defect by name."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import TaxonomyError
from core.taxonomy import MAX_LEAVES, MAX_LEVELS, MISSING, OTHER, Interval, Node, Taxonomy, find_defects
from tests.core.tables import Below, categories, intervals, node
from tests.helpers import Shape, paths, shapes, tree


@pytest.mark.parametrize(
    ("label", "edges"),
    [
        ("(14.0, 20.0]", (14, 20)),
        ("(0, 5]", (0, 5)),
        ("  ( -1.5 ,2. ]", (-1.5, 2)),
        ("(1e-09, 1.5E+12]", (1e-9, 1.5e12)),
        ("(-inf, .5]", (-math.inf, 0.5)),
        ("(0.0, inf]", (0, math.inf)),
    ],
)
def test_interval_is_read(label: str, edges: tuple[float, float]) -> None:
    """A left-open interval is read with blanks, exponents and open ends."""
    assert Interval.parse(label) == Interval(*edges)


@pytest.mark.parametrize(
    "label", ["", "Any", "[1, 2]", "(1, 2)", "1-2", "(a, b]", "(1 2]", "(1, 2, 3]", "(nan, 1]", "x(1, 2]"]
)
def test_other_labels_are_no_interval(label: str) -> None:
    """Whatever is not written ``(low, high]`` is a category."""
    assert Interval.parse(label) is None


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_interval_reads_what_it_writes(low: float, high: float) -> None:
    """Any interval is read back from its label to the last digit."""
    assert Interval.parse(str(Interval(low, high))) == Interval(low, high)


@given(shapes)
def test_level_maps_lead_to_the_ancestors(shape: Shape) -> None:
    """On every level each leaf is mapped to its ancestor there, or to itself where its branch has ended."""
    taxonomy = tree("a", shape)
    branches = paths(taxonomy.root)
    for level in range(taxonomy.height + 1):
        expected = [branch[min(level, len(branch) - 1)] for branch in branches]
        assert [taxonomy.labels(level)[place] for place in taxonomy.level_maps[level]] == expected
    assert taxonomy.leaves == tuple(branch[-1] for branch in branches)


@given(shapes)
def test_every_level_is_a_partition(shape: Shape) -> None:
    """Every node of a level takes at least one leaf, and the levels grow from one node to the leaves."""
    taxonomy = tree("a", shape)
    for size, row in zip(taxonomy.level_sizes, taxonomy.level_maps, strict=True):
        assert np.array_equal(np.unique(row), np.arange(size))
    assert taxonomy.level_sizes[0] == 1
    assert taxonomy.level_sizes[-1] == len(taxonomy.leaves)
    assert list(taxonomy.level_sizes) == sorted(taxonomy.level_sizes)


def test_short_branch_stands_for_itself() -> None:
    """A leaf above the deepest level is a node of every deeper level."""
    taxonomy = Taxonomy("region", node("Any", {"Coast": {"North": {}, "South": {}}, "Islands": {}}))
    assert taxonomy.labels(1) == ("Coast", "Islands")
    assert taxonomy.labels(2) == ("North", "South", "Islands")
    assert taxonomy.first_branching == 2


def test_intervals_are_put_in_order() -> None:
    """Intervals listed as text are put in the order of their numbers, special leaves last."""
    below = {MISSING: {}, "(100.0, 200.0]": {}, "(20.0, 100.0]": {}, OTHER: {}, "(3.0, 20.0]": {}}
    leaves = Taxonomy("a", node("Any", below)).leaves
    assert leaves == ("(3.0, 20.0]", "(20.0, 100.0]", "(100.0, 200.0]", MISSING, OTHER)


def test_kind_follows_from_the_leaves() -> None:
    """Interval leaves make an attribute numeric, special leaves apart; anything else makes it categorical."""
    assert intervals("a", 0, 1, 2, special=[MISSING, OTHER]).numeric
    assert not categories("a", "0", "1").numeric
    assert not categories("a", MISSING, OTHER).numeric


@pytest.mark.parametrize(
    ("taxonomy", "integer"),
    [
        (intervals("a", 0, 5, 10), True),
        (intervals("a", -math.inf, 5, math.inf), True),
        (intervals("a", 0, 2.5, 10), False),
        (intervals("a", 0, 1e20, 2e20), False),
        (categories("a", "0", "1"), False),
    ],
)
def test_integer_means_whole_edges(taxonomy: Taxonomy, integer: bool) -> None:
    """Values are whole where all finite edges are whole and floating point can tell whole numbers apart."""
    assert taxonomy.integer is integer


def test_special_leaves_have_codes() -> None:
    """The code of a special leaf is its place among the leaves, None where it is not declared."""
    taxonomy = intervals("a", 0, 1, 2, special=[MISSING])
    assert taxonomy.special_leaf(MISSING) == 2
    assert taxonomy.special_leaf(OTHER) is None


DEFECTS: dict[str, tuple[str, Below, str, str]] = {
    "one node": ("Any", {}, "Any", "one node only"),
    "one leaf": ("Any", {"Group": {"x": {}}}, "Any", "one leaf only"),
    "duplicate leaf": ("Any", {"A": {"x": {}, "y": {}}, "B": {"x": {}}}, "x", "the leaf appears 2 times"),
    "label twice on a level": ("Any", {"A": {"N": {"x": {}}}, "B": {"N": {"y": {}}}}, "N", "used 2 times on level 2"),
    "blank label": ("Any", {"x": {}, " ": {}}, "", "has no label"),
    "blank root": ("", {"x": {}, "y": {}}, "", "has no label"),
    "half a character": ("Any", {"x": {}, "\ud800": {}}, "?", "cannot be written"),
    "overlap": ("Any", {"(0, 5]": {}, "(4, 9]": {}}, "(4, 9]", "overlaps “(0, 5]”"),
    "same interval twice": ("Any", {"(0, 5]": {}, "(0.0, 5.0]": {}}, "(0.0, 5.0]", "overlaps “(0, 5]”"),
    "gap": ("Any", {"(0, 5]": {}, "(6, 9]": {}}, "(6, 9]", "a gap between “(0, 5]”"),
    "gap between groups": (
        "Any", {"low": {"(0, 1]": {}, "(1, 2]": {}}, "high": {"(3, 4]": {}, "(4, 5]": {}}}, "high", "gap between “low”",
    ),
    "interleaved groups": (
        "Any", {"A": {"(0, 1]": {}, "(2, 3]": {}}, "B": {"(1, 2]": {}, "(3, 4]": {}}}, "(2, 3]", "a gap",
    ),
    "parent not filled": ("(0, 9]", {"(0, 5]": {}, "(5, 8]": {}}, "(0, 9]", "reach from 0.0 to 8.0"),
    "parent too small": ("Any", {"(0, 4]": {"(0, 2]": {}, "(2, 5]": {}}, "(4, 9]": {}}, "(0, 4]", "reach from 0.0 to 5.0"),
    "empty interval": ("Any", {"(0, 5]": {}, "(5, 5]": {}}, "(5, 5]", "the interval is empty"),
    "reversed interval": ("Any", {"(5, 0]": {}, "(5, 9]": {}}, "(5, 0]", "the interval is empty"),
    "mixed leaves": ("Any", {"(0, 5]": {}, "old": {}}, "old", "not an interval"),
    "special leaf inside a range": ("(0, 5]", {"(0, 2]": {}, "(2, 5]": {}, MISSING: {}}, "(0, 5]", "only intervals"),
}  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS)
def test_defect_is_named(defect: str) -> None:
    """A defect is reported in one sentence with the attribute, the node and the reason."""
    label, below, at, reason = DEFECTS[defect]
    with pytest.raises(TaxonomyError) as caught:
        Taxonomy("age", node(label, below))
    found = [found for found in caught.value.defects if found.node == at and reason in found.reason]
    assert len(found) == 1
    assert str(found[0]).startswith(f"Attribute “age”, node “{at}”: ")
    assert "\n" not in str(caught.value)


def test_all_defects_are_reported_at_once() -> None:
    """Defects of every kind are reported together; the message gives the first and how many follow."""
    below = {"A": {"(0, 5]": {}, "(4, 6]": {}}, "B": {"(8, 9]": {}, "(8, 9]x": {}}, "": {"(9, 9]": {}}}
    with pytest.raises(TaxonomyError, match=r"\(And \d more defects\.\)$") as caught:
        Taxonomy("age", node("Any", below))
    reasons = " ".join(str(defect) for defect in caught.value.defects)
    assert all(word in reasons for word in ("no label", "overlaps", "gap", "not an interval", "is empty"))


@given(shapes)
def test_sound_trees_have_no_defects(shape: Shape) -> None:
    """A tree of two leaves or more with its own label on every node has no defect."""
    assert find_defects("a", tree("a", shape).root) == []


def test_leaf_above_a_level_may_share_no_label_below() -> None:
    """A short branch's leaf and a deeper node of the same label collide on the deeper level."""
    with pytest.raises(TaxonomyError, match="“x”: the leaf appears 2 times"):
        Taxonomy("a", node("Any", {"x": {}, "A": {"x": {}, "y": {}}}))


def test_leaf_codes_fit_sixteen_bits() -> None:
    """65,536 leaves are taken, one more is refused."""
    leaves = tuple(Node(str(number)) for number in range(MAX_LEAVES + 1))
    assert Taxonomy("a", Node("Any", leaves[:-1])).level_maps[1, -1] == MAX_LEAVES - 1
    with pytest.raises(TaxonomyError, match="more than 65,536 leaves"):
        Taxonomy("a", Node("Any", leaves))


@pytest.mark.parametrize("levels", [MAX_LEVELS, MAX_LEVELS + 1, 5_000])
def test_depth_has_a_limit(levels: int) -> None:
    """A hundred levels are taken; deeper trees are refused, however deep."""
    below = Node("leaf")
    for level in range(levels - 1):
        below = Node(f"level {level}", (below, Node(f"end {level}")))
    root = Node("Any", (below, Node("end")))
    if levels <= MAX_LEVELS:
        assert Taxonomy("a", root).height == levels
    else:
        with pytest.raises(TaxonomyError, match="more than 100 levels"):
            Taxonomy("a", root)
