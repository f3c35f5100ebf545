"""The algorithm on one screen ([A] Algorithm 1): plan, attributes, grid, noisy histogram."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.budget import FEATURES, HISTOGRAM, SELECTION, SIZE, Recipe, Split
from core.contingency import ContingencyTable
from core.errors import CancelledError, PrivacyError
from core.grid import GridSpace
from core.mechanisms import Noise, Spend
from core.plan import Plan, SizeSource, make_plan, size_source
from core.pool import Scorer, score_pool
from core.quality import SCALE
from core.ranking import CORRELATION_SENSITIVITY, normalised_prior, prior_sensitivity, rank_attributes
from core.ranking import SCALE as RANKING_SCALE
from core.schema import Schema
from core.taxonomy import Node

StageProgress = Callable[[str, int, int], bool]
"""Called with (stage, done, in all); returning False cancels."""

STAGES = ("plan", "features", "scores", "choice", "histogram")


@dataclass(frozen=True, eq=False)
class Release:
    """What a run publishes: every field is public or differentially private.

    Parameters
    ----------
    schema : Schema
    plan : Plan
    epsilon : Fraction
        The whole budget, for one record.
    attributes : tuple of str
        Attributes whose grids were candidates; in the order of the private draw under feature selection.
    dropped : tuple of str
        Attributes drawn, then dropped because the pool was still too large.
    cap, pool_size : int
        Of the pool that was scored.
    grid : dict of str to int
    counts : ndarray of int64, shape (cells, classes)
        Noisy counts, negative ones included, cells in C order of the grid's nodes.
    spends : tuple of Spend
    private : bool
        False where the noise was not; then nothing of it may leave the building.
    """

    schema: Schema
    plan: Plan
    epsilon: Fraction
    attributes: tuple[str, ...]
    dropped: tuple[str, ...]
    cap: int
    pool_size: int
    grid: dict[str, int]
    counts: np.ndarray
    spends: tuple[Spend, ...]
    private: bool

    @property
    def spent(self) -> Fraction:
        """ε spent in all, by the measurements' own maps."""
        return sum((spend.spent for spend in self.spends), Fraction(0))

    @property
    def unit_epsilon(self) -> Fraction:
        """ε of one protected unit: k records cost k times as much."""
        return self.epsilon * self.schema.unit.rows

    @property
    def nodes(self) -> list[tuple[Node, ...]]:
        """The nodes of each attribute of the grid, in the order of the schema."""
        return [self.schema.taxonomy(name).nodes(level) for name, level in self.grid.items()]

    @property
    def caveats(self) -> tuple[str, ...]:
        """What keeps the release from being private end to end, in plain sentences; empty where nothing does."""
        notes = []
        if not self.private:
            notes.append("NOT PRIVATE: the noise of this run was repeatable, for experiments only.")
        if self.plan.size_source == "exact":
            notes.append("The exact number of records set the size of the grids; that part is not private.")
        if self.schema.suggested:
            names = ", ".join(f"“{name}”" for name in self.schema.suggested)
            notes.append(f"The values of {names} were read from the private data, not declared; that part is not private.")
        return tuple(notes)


def run(
    contingency: ContingencyTable,
    schema: Schema,
    recipe: Recipe,
    epsilon: Fraction,
    noise: Noise,
    *,
    split: Split | None = None,
    threads: int | None = None,
    scorer: Scorer = score_pool,
    progress: StageProgress | None = None,
) -> Release:
    """Release a table with ε-differential privacy under adding or removing one record.

    Parameters
    ----------
    contingency : ContingencyTable
        Private; columns in the order of the schema.
    schema : Schema
    recipe : Recipe
    epsilon : Fraction, > 0
    noise : Noise
    split : dict of str to Fraction, optional
        The officer's own shares.
    threads : int, optional
        For scoring; all cores by default.
    scorer : callable, default `score_pool`
    progress : callable, optional
        See `StageProgress`.

    Raises
    ------
    PrivacyError
        If the draws cost more than ε; nothing is returned then.
    CancelledError
        If `progress` returned False.
    """
    report = progress or (lambda stage, done, total: True)
    _step(report, "plan", 0)
    spends: list[Spend] = []
    n, source = _size(contingency, schema, recipe, epsilon, noise, spends, split)
    plan = make_plan(recipe, schema, epsilon, n, source, split)

    _step(report, "features", 0)
    space, cap, drawn = plan.space, plan.cap, list(plan.space.names)
    dropped: list[str] = []
    if plan.feature_selection:
        drawn = _select_attributes(contingency, schema, plan, noise, spends)
        space, cap, dropped = plan.narrow(drawn)

    chosen_schema = schema.select(space.names)
    columns = [schema.names.index(name) for name in space.names]
    table = contingency if len(columns) == len(schema.names) else contingency.select(columns)
    pool = plan.pool(space, cap)
    scores = scorer(
        table, chosen_schema, pool, float(plan.budget[HISTOGRAM]), threads=threads,
        progress=lambda done, total: report("scores", done, total),
    )  # fmt: skip

    _step(report, "choice", 0)
    grid = choose_grid(space, pool, scores, plan, noise, spends)

    _step(report, "histogram", 0)
    counts = _noisy_histogram(contingency, schema, grid, plan, noise, spends)
    if sum((spend.spent for spend in spends), Fraction(0)) > epsilon:
        raise PrivacyError("The draws cost more than ε by their own maps; nothing was released.")
    _step(report, "histogram", 1)
    return Release(
        schema=schema, plan=plan, epsilon=epsilon, attributes=tuple(name for name in drawn if name not in dropped),
        dropped=tuple(dropped), cap=cap, pool_size=len(pool), grid=grid, counts=counts, spends=tuple(spends),
        private=noise.private,
    )  # fmt: skip


def _size(
    contingency: ContingencyTable, schema: Schema, recipe: Recipe, epsilon: Fraction, noise: Noise, spends: list[Spend],
    split: Split | None,
) -> tuple[int, SizeSource]:  # fmt: skip
    """N as the recipe has it: declared, bought, or exact."""
    source = size_source(recipe, schema.size)
    if source == "declared" and schema.size is not None:
        return schema.size, source
    if source == "exact":
        return contingency.n, source
    granted = recipe.budget(epsilon, size=True, features=False, split=split)[SIZE]
    noisy, spend = noise.counts("number of records", np.array([contingency.n]), granted)
    spends.append(spend)
    return int(noisy[0]), source


def _select_attributes(
    contingency: ContingencyTable, schema: Schema, plan: Plan, noise: Noise, spends: list[Spend]
) -> list[str]:
    """Draw k attributes without replacement by the modified χ² ([A] section 3.3); best first."""
    granted, sensitivity, prior = plan.budget[FEATURES], CORRELATION_SENSITIVITY, None
    if plan.recipe.prior_share:
        bought = granted * plan.recipe.prior_share
        noisy, spend = noise.counts("class prior", contingency.class_counts, bought)
        spends.append(spend)
        granted -= bought
        prior = normalised_prior(noisy)
        sensitivity = prior_sensitivity(prior)
    scores = fixed_point(rank_attributes(contingency, schema, prior))
    # Rounding down to whole units moves two scores apart by at most one unit.
    assert plan.k is not None
    chosen, spend = noise.choose(
        "attributes", scores, granted, sensitivity + Fraction(1, RANKING_SCALE), RANKING_SCALE, k=plan.k
    )
    spends.append(spend)
    return [schema.names[j] for j in chosen]


def fixed_point(scores: Sequence[Fraction]) -> np.ndarray:
    """Ranking scores in whole units of 1/`core.ranking.SCALE` records, rounded down."""
    return np.array([int(score * RANKING_SCALE) for score in scores], dtype=np.int64)


def choose_grid(
    space: GridSpace, pool: np.ndarray, scores: np.ndarray, plan: Plan, noise: Noise, spends: list[Spend]
) -> dict[str, int]:
    """Choose one grid of the pool privately, in a single step."""
    recipe = plan.recipe
    chosen, spend = noise.choose(
        "grid", scores, plan.budget[SELECTION], recipe.selection_sensitivity, SCALE, monotonic=recipe.monotonic
    )
    spends.append(spend)
    return space.grid(pool[chosen[0]])


def _noisy_histogram(
    contingency: ContingencyTable, schema: Schema, grid: dict[str, int], plan: Plan, noise: Noise, spends: list[Spend]
) -> np.ndarray:
    """Counts of every cell and class with discrete Laplace noise ([A] Algorithm 1, perturbHist)."""
    counts = grid_histogram(contingency, schema, grid)
    noisy, spend = noise.counts("histogram", counts.ravel(), plan.budget[HISTOGRAM])
    spends.append(spend)
    return noisy.reshape(counts.shape)


def grid_histogram(contingency: ContingencyTable, schema: Schema, grid: dict[str, int]) -> np.ndarray:
    """True counts of a grid, shape (cells, classes).  Private."""
    levels = [grid.get(name, 0) for name in schema.names]
    maps = [taxonomy.level_maps[level] for taxonomy, level in zip(schema.taxonomies, levels, strict=True)]
    sizes = [taxonomy.level_sizes[level] for taxonomy, level in zip(schema.taxonomies, levels, strict=True)]
    return contingency.cells(maps, sizes)


def _step(report: StageProgress, stage: str, done: int) -> None:
    if not report(stage, done, 1):
        raise CancelledError("The release was stopped; nothing was published.")
