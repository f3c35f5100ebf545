"""Plan: what the recipe decides from public numbers before the private choice — cap, pool, path and split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Literal

import numpy as np

from core.budget import HISTOGRAM, PrivacyBudget, Recipe, Split
from core.grid import GridSpace
from core.schema import Schema

MAX_POOL = 5_000_000
"""No pool is larger than this, whatever the recipe: memory."""

MAX_CELLS = 2**24
"""No grid is larger than this, however large ε: memory."""

CAP_STRETCH = 8
"""How far above δ·n·ε_h the recipe ``tuned`` lets the cap go."""

SizeSource = Literal["declared", "noisy", "exact"]


def size_source(recipe: Recipe, declared: int | None) -> SizeSource:
    """Where a recipe takes n from: the declared size, a noisy count, or the exact count."""
    if declared is not None and recipe.size != "always noisy":
        return "declared"
    return "exact" if recipe.size == "exact" else "noisy"


@dataclass(frozen=True)
class Plan:
    """The public frame of a release.  As private as n is: exact n makes it curator-only.

    Parameters
    ----------
    recipe : Recipe
    space : GridSpace
        All attributes.
    n : int
        Number of records that the formulas use.
    size_source : {"declared", "noisy", "exact"}
    budget : PrivacyBudget
    lowest_cap, highest_cap : int
        Bounds of the cell cap; equal except under ``tuned``.
    cap : int
        T, the cap of the pool of all attributes; under feature selection, of what will remain at least.
    pool_size : int
        Exact number of grids over all attributes at that cap, cut where the recipe cuts it.
    feature_selection : bool
    k : int or None
        Attributes that the recipe would select; None where the pool is small enough.
    """

    recipe: Recipe
    space: GridSpace
    n: int
    size_source: SizeSource
    budget: PrivacyBudget
    lowest_cap: int
    highest_cap: int
    cap: int
    pool_size: int
    feature_selection: bool
    k: int | None

    def narrow(self, drawn: Sequence[str]) -> tuple[GridSpace, int, list[str]]:
        """The pool over drawn attributes: drop from the end of the drawn order until it fits (costs nothing).

        Parameters
        ----------
        drawn : sequence of str
            In the order of the private draw, best first.

        Returns
        -------
        GridSpace
        int
            Cell cap.
        list of str
            Attributes that were dropped.
        """
        kept = list(drawn)
        while True:
            space = self.space.select(kept)
            profile = space.profile(self.highest_cap)
            if profile.pool_size(self.lowest_cap) <= self.recipe.pool_limit or len(kept) == 1:
                cap = profile.largest_cap(self.lowest_cap, self.recipe.pool_limit)
                return space, cap, list(drawn[len(kept) :])
            kept.pop()

    def pool(self, space: GridSpace, cap: int) -> np.ndarray:
        """The candidate grids, shape (grids, attributes of `space`)."""
        return space.pool_by_width(cap, self.recipe.pool_limit) if self.recipe.cut else space.pool(cap)


def make_plan(
    recipe: Recipe, schema: Schema, epsilon: Fraction, n: int, size_source: SizeSource, split: Split | None = None
) -> Plan:
    """Decide cap, pool and path ([A] Algorithm 1, lines 2–13).

    The path is decided with the split without feature selection.  Where the pool is too large but k ≥ d, there is nothing
    to select: nothing is spent on it, and the cap is lowered only if the pool would not fit in memory (``tuned``: the
    recipe's limit).

    Parameters
    ----------
    recipe : Recipe
    schema : Schema
    epsilon : Fraction, > 0
        The whole budget.
    n : int
        Public or noisy number of records; values below 1 count as 1.
    size_source : {"declared", "noisy", "exact"}
        Where `n` comes from; ``noisy`` reserves its share of ε.
    split : dict of str to Fraction, optional
        The officer's own.
    """
    space = GridSpace.of(schema)
    n = max(1, n)
    bought = size_source == "noisy"
    budget = recipe.budget(epsilon, size=bought, features=False, split=split)
    low, high = _caps(recipe, epsilon, budget, n)
    profile = space.profile(high)
    if recipe.cut:
        size = max(1, min(recipe.pool_limit, profile.pool_size(high) - 1))
        return Plan(recipe, space, n, size_source, budget, low, high, high, size, False, None)
    if profile.pool_size(low) < recipe.pool_limit:
        cap = profile.largest_cap(low, recipe.pool_limit)
        return Plan(recipe, space, n, size_source, budget, low, high, cap, profile.pool_size(cap), False, None)
    k = selected_attributes(low, [taxonomy.first_branching for taxonomy in schema.taxonomies])
    if k >= len(space.names):
        limit = recipe.pool_limit if recipe.cap_rule == "largest" else MAX_POOL
        cap = min(low, profile.largest_cap(1, limit))
        return Plan(recipe, space, n, size_source, budget, cap, cap, cap, profile.pool_size(cap), False, k)
    budget = recipe.budget(epsilon, size=bought, features=True, split=split)
    low, high = _caps(recipe, epsilon, budget, n)
    size = space.pool_size(low)
    return Plan(recipe, space, n, size_source, budget, low, high, low, size, True, k)


def selected_attributes(cap: int, first_branching: Sequence[int]) -> int:
    """K = ⌈2 log T / log b⌉, b the median of the first branching factors ([A] line 5); a b below 2 counts as 2."""
    b = max(2.0, float(median(first_branching)))
    return max(1, math.ceil(round(2 * math.log(cap) / math.log(b), 9)))


def _caps(recipe: Recipe, epsilon: Fraction, budget: PrivacyBudget, n: int) -> tuple[int, int]:
    """Lowest and highest cell cap of the recipe, from 1 to `MAX_CELLS`."""
    if recipe.cap_rule == "half":
        cap = _within(math.floor(recipe.noise_to_signal * n * epsilon / 2))
        return cap, cap
    exact = recipe.noise_to_signal * n * budget[HISTOGRAM]
    if recipe.cap_rule == "histogram":
        cap = _within(round(exact))
        return cap, cap
    return _within(math.floor(exact)), _within(math.floor(CAP_STRETCH * exact))


def _within(cap: int) -> int:
    return min(max(1, cap), MAX_CELLS)
