"""The three recipes: the papers' two, and the one that measurement chose."""

from __future__ import annotations

from fractions import Fraction

from core.budget import FEATURES, HISTOGRAM, SELECTION, Recipe
from core.errors import InputError
from core.quality import QUALITY_WIDTH

PAPER_2015 = Recipe(
    name="paper-2015",
    source="Su, Cao, Li, Lyu: PrivPfC, arXiv 2015, Algorithm 1",
    summary="As first published: half of ε sets the size of the grids.",
    cap_rule="half",
    size="exact",
    split={SELECTION: Fraction(3, 7), HISTOGRAM: Fraction(4, 7)},
    split_with_features={FEATURES: Fraction(3, 10), SELECTION: Fraction(3, 10), HISTOGRAM: Fraction(4, 10)},
)

JOURNAL_2018 = Recipe(
    name="journal-2018",
    source="Su, Cao, Li, Bertino, Lyu, Jin: PrivPfC, VLDB Journal 2018, and the authors' program",
    summary="As in the authors' program: the number of records is bought with noise, the pool is cut at 200,000 grids.",
    cap_rule="histogram",
    cut=True,
    size="always noisy",
    size_share=Fraction(3, 100),
    split={SELECTION: Fraction(37, 97), HISTOGRAM: Fraction(60, 97)},
    split_with_features=None,
)

TUNED = Recipe(
    name="tuned",
    source="this project: proved width of the quality, larger pools",
    summary="The most accurate: the same guarantee with less noise in the choice and up to two million candidate grids.",
    pool_limit=2_000_000,
    cap_rule="largest",
    size="noisy",
    size_share=Fraction(2, 100),
    split={SELECTION: Fraction(35, 100), HISTOGRAM: Fraction(65, 100)},
    split_with_features={FEATURES: Fraction(2, 10), SELECTION: Fraction(3, 10), HISTOGRAM: Fraction(5, 10)},
    selection_sensitivity=QUALITY_WIDTH,
    monotonic=True,
    prior_share=Fraction(1, 5),
)

RECIPES = {recipe.name: recipe for recipe in (TUNED, JOURNAL_2018, PAPER_2015)}
"""By name, the default first."""


def recipe_named(name: str) -> Recipe:
    """The recipe of a name.

    Raises
    ------
    InputError
        Where there is none.
    """
    if name not in RECIPES:
        raise InputError(f"There is no recipe “{name}”; choose one of {', '.join(RECIPES)}.")
    return RECIPES[name]
