from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.grid import GridSpace
from tests.helpers import UNBALANCED, flat, schema_of, tree

Item = tuple[str, int]


@st.composite
def spaces(draw: st.DrawFn) -> GridSpace:
    """Grids over up to five attributes whose levels grow, or stay as they are, from the root on."""
    steps = draw(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3), min_size=1, max_size=5))
    names = draw(st.permutations("abcde"))
    sizes = (tuple(itertools.accumulate(step, initial=1)) for step in steps)
    return GridSpace(tuple(names[: len(steps)]), tuple(sizes))


caps = st.integers(1, 60)


def brute_pool(space: GridSpace, cap: int) -> list[tuple[int, ...]]:
    """All grids of at most `cap` cells, from the definition, in lexicographic order."""
    levels = itertools.product(*(range(len(sizes)) for sizes in space.level_sizes))
    return [grid for grid in levels if math.prod(s[i] for s, i in zip(space.level_sizes, grid, strict=True)) <= cap]


def items(space: GridSpace, grid: tuple[int, ...]) -> list[Item]:
    """The (attribute name, level) pairs of a grid by name, roots left out."""
    return sorted((name, level) for name, level in zip(space.names, grid, strict=True) if level)


@given(spaces(), caps)
def test_pool_is_every_grid_under_the_cap(space: GridSpace, cap: int) -> None:
    """The pool is the grids with at most `cap` cells, each once, all-root first, in lexicographic order."""
    assert [tuple(map(int, grid)) for grid in space.pool(cap)] == brute_pool(space, cap)


@given(spaces(), caps)
def test_pool_size_needs_no_enumeration(space: GridSpace, cap: int) -> None:
    """The counted pool size is that of the pool, and the profile of a larger cap answers for it too."""
    assert space.pool_size(cap) == len(brute_pool(space, cap)) == space.profile(cap + 7).pool_size(cap)


@given(spaces(), caps, st.integers(1, 80))
def test_pool_by_width_is_the_order_of_the_authors_program(space: GridSpace, cap: int, limit: int) -> None:
    """One attribute, two, …; then by (attribute name, level); all-root left out; the first `limit` kept."""
    described = (items(space, grid) for grid in brute_pool(space, cap))
    expected = sorted((grid for grid in described if grid), key=lambda grid: (len(grid), grid))[:limit]
    found = [items(space, tuple(map(int, grid))) for grid in space.pool_by_width(cap, limit)]
    assert found == (expected or [[]])


def test_pool_by_width_of_an_empty_pool_is_the_root() -> None:
    """Where no grid but all-root is small enough, all-root is the one candidate."""
    assert GridSpace(("a", "b"), ((1, 3), (1, 2))).pool_by_width(1, 10).tolist() == [[0, 0]]


@given(spaces(), st.integers(1, 30), st.integers(0, 60), st.integers(1, 100))
def test_largest_cap(space: GridSpace, low: int, more: int, limit: int) -> None:
    """The largest cap is the last of all between the bounds whose pool fits; the lower bound where none does."""
    fitting = [cap for cap in range(low, low + more + 1) if len(brute_pool(space, cap)) <= limit]
    assert space.profile(low + more).largest_cap(low, limit) == max(fitting, default=low)


def test_a_profile_answers_no_larger_cap() -> None:
    """A cap beyond the profile's own is refused instead of miscounted."""
    with pytest.raises(ValueError, match="at most 5"):
        GridSpace(("a",), ((1, 2),)).profile(5).pool_size(6)


def test_huge_spaces_are_counted_exactly() -> None:
    """64 attributes of 4 levels: counts stay exact whole numbers beyond 64 bits."""
    d = 64
    space = GridSpace(tuple(f"a{j}" for j in range(d)), ((1, 2, 4, 8),) * d)
    assert space.pool_size(1) == 1
    assert space.pool_size(4) == 1 + 2 * d + math.comb(d, 2)
    assert space.profile(2**62).cumulative.dtype == object
    # Level sizes 2^0 to 2^3: as many grids of at most 2^40 cells as there are digit strings with sum ≤ 40.
    ways = [1]
    for _ in range(d):
        ways = [sum(ways[max(0, s - 3) : s + 1]) for s in range(len(ways) + 3)]
    assert space.pool_size(2**40) == sum(ways[:41])
    assert sum(ways[:41]) > 2**64


@given(spaces(), st.data())
def test_exchange_form_round_trip(space: GridSpace, data: st.DataObject) -> None:
    """A grid reads back as the levels it was written from; roots are left out; its size is the product."""
    levels = np.array([data.draw(st.integers(0, len(sizes) - 1)) for sizes in space.level_sizes], dtype=np.int8)
    grid = space.grid(levels)
    assert 0 not in grid.values()
    assert space.levels(grid).tolist() == levels.tolist()
    assert space.size(levels) == math.prod(sizes[i] for sizes, i in zip(space.level_sizes, levels, strict=True))


@pytest.mark.parametrize("grid", [{"z": 1}, {"a": 3}, {"a": -1}, {"a": 1.0}, {"a": "1"}])
def test_grids_outside_the_space_are_refused(grid: dict[str, int]) -> None:
    """Unknown attributes, levels that do not exist and levels that are no whole numbers are input errors."""
    with pytest.raises(InputError, match=r"“[az]”"):
        GridSpace(("a", "b"), ((1, 2, 3), (1, 2))).levels(grid)


def test_space_of_a_schema() -> None:
    """Level sizes come from the taxonomies, a leaf above the deepest level counted on every deeper one."""
    space = GridSpace.of(schema_of(tree("a", UNBALANCED), flat("b", 4), flat("c", 2)))
    assert space == GridSpace(("a", "b", "c"), ((1, 2, 3), (1, 4), (1, 2)))
    assert space.select(["c", "a"]) == GridSpace(("a", "c"), ((1, 2, 3), (1, 2)))
