"""The plan against a second, slow writing of the recipes' formulas: recursion and exact fractions, nothing of `core`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.budget import FEATURES, HISTOGRAM, SELECTION, SIZE, Recipe
from core.grid import GridSpace
from core.plan import CAP_STRETCH, MAX_CELLS, Plan, SizeSource, make_plan, selected_attributes, size_source
from core.recipes import JOURNAL_2018, PAPER_2015, TUNED
from core.schema import Schema
from tests.conftest import Adult
from tests.helpers import flat, schema_of, schemas

DELTA = Fraction(1, 5)
ADULT_POOLS = {"0.05": 13_583, "0.1": 29_394, "0.2": 59_732, "0.5": 141_806, "1.0": 253_705}


@dataclass(frozen=True)
class Expected:
    """What the formulas say."""

    cap: int
    pool_size: int
    feature_selection: bool
    k: int | None


def level_sizes(tree: dict[str, Any]) -> list[int]:
    """Nodes of each level of a nested dictionary, a leaf above the deepest level repeated on every deeper one."""
    level = list(tree.items())
    sizes = [len(level)]
    while any(below for _, below in level):
        level = [child for node in level for child in (list(node[1].items()) or [node])]
        sizes.append(len(level))
    return sizes


def slow_pool_size(sizes: Sequence[Sequence[int]], cap: int, product: int = 1) -> int:
    """Visit every grid of at most `cap` cells and count."""
    if not sizes:
        return 1
    return sum(slow_pool_size(sizes[1:], cap, product * size) for size in sizes[0] if product * size <= cap)


def slow_k(cap: int, branching: Sequence[int]) -> int:
    """⌈2 log T / log b⌉ without logarithms: the least k ≥ 1 with b^k ≥ T²."""
    b = max(Fraction(2), Fraction(median(map(Fraction, branching))))
    k = 1
    while b**k < cap**2:
        k += 1
    return k


def slow_paper_2015(sizes: Sequence[Sequence[int]], epsilon: Fraction, n: int, limit: int) -> Expected:
    """[A] Algorithm 1 with n declared: T = ⌊δ·n·ε/2⌋; attributes are selected where the pool reaches B and k < d."""
    cap = max(1, math.floor(DELTA * n * epsilon / 2))
    size = slow_pool_size(sizes, cap)
    if size < limit:
        return Expected(cap, size, False, None)
    k = slow_k(cap, [size[1] for size in sizes])
    return Expected(cap, size, k < len(sizes), k)


def slow_journal_2018(sizes: Sequence[Sequence[int]], epsilon: Fraction, n: int, limit: int) -> Expected:
    """The authors' program: T = round(δ·n̂·ε_h), the first B grids without all-root, no feature selection."""
    cap = max(1, round(DELTA * n * Fraction(60, 100) * epsilon))
    return Expected(cap, max(1, min(limit, slow_pool_size(sizes, cap) - 1)), False, None)


def slow_tuned(sizes: Sequence[Sequence[int]], epsilon: Fraction, n: int, limit: int, bought: bool) -> Expected:
    """The largest T from δ·n̂·ε_h to 8 times that whose pool fits; else as the paper, or without selection if k ≥ d."""
    rest = epsilon * (1 - Fraction(2, 100) * bought)
    signal = DELTA * n * rest * Fraction(65, 100)
    low, high = max(1, math.floor(signal)), max(1, math.floor(CAP_STRETCH * signal))
    if slow_pool_size(sizes, low) < limit:
        cap = low
        while cap < high and slow_pool_size(sizes, cap + 1) <= limit:
            cap += 1
        return Expected(cap, slow_pool_size(sizes, cap), False, None)
    k = slow_k(low, [size[1] for size in sizes])
    if k >= len(sizes):
        cap = low
        while cap > 1 and slow_pool_size(sizes, cap) > limit:
            cap -= 1
        return Expected(cap, slow_pool_size(sizes, cap), False, k)
    cap = max(1, math.floor(DELTA * n * rest * Fraction(50, 100)))
    return Expected(cap, slow_pool_size(sizes, cap), True, k)


def outline(plan: Plan) -> Expected:
    """The figures of a plan."""
    return Expected(plan.cap, plan.pool_size, plan.feature_selection, plan.k)


def limited(recipe: Recipe, limit: int) -> Recipe:
    """A recipe with a smaller largest pool."""
    return replace(recipe, pool_limit=limit)


small_epsilons = st.fractions(Fraction(1, 50), 3, max_denominator=100)
small_n = st.integers(1, 300)
limits = st.integers(1, 60)


def sizes_of(schema: Schema) -> list[tuple[int, ...]]:
    """Level sizes of every attribute."""
    return [taxonomy.level_sizes for taxonomy in schema.taxonomies]


@given(schemas(max_attributes=6), small_epsilons, small_n, limits)
def test_paper_2015_follows_its_formulas(schema: Schema, epsilon: Fraction, n: int, limit: int) -> None:
    """Cap, pool size, path and k of `paper-2015` on any taxonomies."""
    plan = make_plan(limited(PAPER_2015, limit), schema, epsilon, n, "declared")
    assert outline(plan) == slow_paper_2015(sizes_of(schema), epsilon, n, limit)


@given(schemas(max_attributes=6), small_epsilons, small_n, limits)
def test_journal_2018_follows_its_formulas(schema: Schema, epsilon: Fraction, n: int, limit: int) -> None:
    """Cap and cut pool of `journal-2018` on any taxonomies; the pool it then enumerates has just that size."""
    plan = make_plan(limited(JOURNAL_2018, limit), schema, epsilon, n, "noisy")
    assert outline(plan) == slow_journal_2018(sizes_of(schema), epsilon, n, limit)
    assert len(plan.pool(plan.space, plan.cap)) == plan.pool_size


@given(schemas(max_attributes=6), small_epsilons, small_n, limits, st.booleans())
def test_tuned_follows_its_formulas(schema: Schema, epsilon: Fraction, n: int, limit: int, bought: bool) -> None:
    """Cap, pool size, path and k of `tuned` on any taxonomies, size declared or bought."""
    plan = make_plan(limited(TUNED, limit), schema, epsilon, n, "noisy" if bought else "declared")
    assert outline(plan) == slow_tuned(sizes_of(schema), epsilon, n, limit, bought)


@given(schemas(max_attributes=6), small_epsilons, small_n, limits, st.sampled_from([PAPER_2015, TUNED]))
def test_budget_follows_the_path(schema: Schema, epsilon: Fraction, n: int, limit: int, recipe: Recipe) -> None:
    """The parts of a plan sum to ε, and features have one just where attributes are selected."""
    plan = make_plan(limited(recipe, limit), schema, epsilon, n, "declared")
    assert sum(plan.budget.parts.values()) == epsilon
    assert set(plan.budget.parts) == {SELECTION, HISTOGRAM} | ({FEATURES} if plan.feature_selection else set())


@given(schemas(max_attributes=6), st.integers(1, 30), st.integers(0, 60), limits, st.data())
def test_narrowing_drops_from_the_end_until_the_pool_fits(
    schema: Schema, low: int, more: int, limit: int, data: st.DataObject
) -> None:
    """The longest start of the drawn order whose pool fits is kept, with the largest cap the recipe allows."""
    plan = make_plan(limited(TUNED, limit), schema, Fraction(1), 100, "declared")
    plan = replace(plan, lowest_cap=low, highest_cap=low + more)
    drawn = data.draw(st.permutations(schema.names))[: data.draw(st.integers(1, len(schema.names)))]
    space, cap, dropped = plan.narrow(drawn)

    def pool_size(kept: Sequence[str], cap: int) -> int:
        return slow_pool_size(
            [sizes for name, sizes in zip(schema.names, sizes_of(schema), strict=True) if name in kept], cap
        )

    kept = drawn[: len(drawn) - len(dropped)]
    assert drawn == [*kept, *dropped]
    assert space == GridSpace.of(schema).select(kept)
    assert len(kept) == 1 or pool_size(kept, plan.lowest_cap) <= limit
    assert not dropped or pool_size(drawn[: len(kept) + 1], plan.lowest_cap) > limit
    fitting = [c for c in range(plan.lowest_cap, plan.highest_cap + 1) if pool_size(kept, c) <= limit]
    assert cap == max(fitting, default=plan.lowest_cap)


@given(st.integers(1, 10**6), st.lists(st.integers(1, 12), min_size=1, max_size=9))
def test_number_of_selected_attributes(cap: int, branching: list[int]) -> None:
    """K is the least with b^k ≥ T², exactly, also where 2 log T / log b is a whole number."""
    assert selected_attributes(cap, branching) == slow_k(cap, branching)


@pytest.mark.parametrize("n", [0, -40])
@pytest.mark.parametrize("recipe", [TUNED, JOURNAL_2018], ids=lambda recipe: recipe.name)
def test_noisy_sizes_below_1_count_as_1(recipe: Recipe, n: int) -> None:
    """Noise may push n̂ to 0 and below: the plan is that of one record, with a pool of all-root at least."""
    schema = schema_of(flat("a", 2), flat("b", 3))
    plan = make_plan(recipe, schema, Fraction(1, 10), n, "noisy")
    assert outline(plan) == outline(make_plan(recipe, schema, Fraction(1, 10), 1, "noisy"))
    assert plan.n == 1
    assert plan.pool(plan.space, plan.cap).tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("recipe", "size", "source"),
    [
        (PAPER_2015, 100, "declared"), (PAPER_2015, None, "exact"),
        (TUNED, 100, "declared"), (TUNED, None, "noisy"),
        (JOURNAL_2018, 100, "noisy"), (JOURNAL_2018, None, "noisy"),
    ],
)  # fmt: skip
def test_size_source(recipe: Recipe, size: int | None, source: SizeSource) -> None:
    """A declared size is used, but for `journal-2018`, which always buys it; without one the paper's n is exact."""
    assert size_source(recipe, size) == source


def test_only_a_noisy_size_costs() -> None:
    """The budget of a plan has a share for n just where n is bought."""
    schema = schema_of(flat("a", 2))
    assert SIZE not in make_plan(TUNED, schema, Fraction(1), 100, "declared").budget.parts
    assert make_plan(TUNED, schema, Fraction(1), 100, "noisy").budget[SIZE] == Fraction(2, 100)


def adult_sizes(folder: Path, names: Sequence[str]) -> list[list[int]]:
    """Level sizes of Adult's attributes, read from the file itself."""
    trees = json.loads((folder / "adult_hierarchy.json").read_text(encoding="utf-8"))
    assert sorted(trees) == sorted(names)
    return [level_sizes(trees[name]) for name in names]


@pytest.mark.data
def test_preview_of_adult_under_paper_2015(adult: Adult, shared_data: Path) -> None:
    """All 45,222 records at ε = 1: T = 4,522, 276,640 grids, and k is no less than the 14 attributes: none to select."""
    assert len(adult.records.codes) == 45_222
    plan = make_plan(PAPER_2015, adult.schema, Fraction(1), 45_222, "exact")
    expected = slow_paper_2015(adult_sizes(shared_data, adult.schema.names), Fraction(1), 45_222, 200_000)
    assert outline(plan) == expected == Expected(cap=4_522, pool_size=276_640, feature_selection=False, k=19)


@pytest.mark.data
@pytest.mark.parametrize(("epsilon", "pool_size"), ADULT_POOLS.items())
def test_pool_sizes_of_adult(adult: Adult, shared_data: Path, epsilon: str, pool_size: int) -> None:
    """Pool sizes at T = ⌊0.1·40,700·ε⌋, all-root included: counted, enumerated and visited one by one."""
    cap = math.floor(Fraction(epsilon) * 4_070)
    space = GridSpace.of(adult.schema)
    visited = slow_pool_size(adult_sizes(shared_data, adult.schema.names), cap)
    assert space.pool_size(cap) == len(space.pool(cap)) == visited == pool_size


@pytest.mark.parametrize("recipe", [PAPER_2015, JOURNAL_2018, TUNED], ids=lambda recipe: recipe.name)
def test_no_cap_exceeds_the_memory(recipe: Recipe) -> None:
    """However large ε and n, the cap stays where a histogram can be held."""
    schema = replace(schema_of(flat("a", 2), flat("b", 3)), size=10**9)
    plan = make_plan(recipe, schema, Fraction(10**6), 10**9, size_source(recipe, schema.size))
    assert plan.highest_cap == plan.cap == MAX_CELLS
