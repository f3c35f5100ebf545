from __future__ import annotations

from fractions import Fraction

import pytest

from core.budget import FEATURES, HISTOGRAM, SELECTION, SIZE, Recipe
from core.errors import InputError
from core.quality import QUALITY_SENSITIVITY, QUALITY_WIDTH
from core.recipes import JOURNAL_2018, PAPER_2015, RECIPES, TUNED, recipe_named

every_recipe = pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)


def percent(recipe: Recipe, *, size: bool, features: bool) -> dict[str, Fraction]:
    """The parts of a budget of 100."""
    return dict(recipe.budget(Fraction(100), size=size, features=features).parts)


def test_splits_are_those_of_the_papers() -> None:
    """0.3/0.3/0.4 or 3 : 4 in the paper; 0.03/0.37/0.60 in the authors' program."""
    assert percent(PAPER_2015, size=False, features=True) == {FEATURES: 30, SELECTION: 30, HISTOGRAM: 40}
    assert percent(PAPER_2015, size=False, features=False) == {SELECTION: Fraction(300, 7), HISTOGRAM: Fraction(400, 7)}
    assert percent(JOURNAL_2018, size=True, features=False) == {SIZE: 3, SELECTION: 37, HISTOGRAM: 60}


def test_split_of_the_tuned_recipe() -> None:
    """0.2/0.3/0.5 or 0.35/0.65 of what remains after the 0.02 that buy an undeclared size."""
    assert percent(TUNED, size=False, features=True) == {FEATURES: 20, SELECTION: 30, HISTOGRAM: 50}
    assert percent(TUNED, size=False, features=False) == {SELECTION: 35, HISTOGRAM: 65}
    assert percent(TUNED, size=True, features=False) == {SIZE: 2, SELECTION: Fraction("34.3"), HISTOGRAM: Fraction("63.7")}


@every_recipe
def test_selection_is_scaled_to_a_proved_bound(recipe: Recipe) -> None:
    """Scores counted as monotonic are scaled to the width of their range of change, others to the sensitivity."""
    assert recipe.selection_sensitivity >= (QUALITY_WIDTH if recipe.monotonic else QUALITY_SENSITIVITY)


@every_recipe
def test_noise_to_signal_of_the_papers(recipe: Recipe) -> None:
    """Every recipe keeps δ = 0.2; the papers' pools end at 200,000 grids, the tuned one's at two million."""
    assert recipe.noise_to_signal == Fraction(1, 5)
    assert recipe.pool_limit == (2_000_000 if recipe is TUNED else 200_000)


@every_recipe
def test_recipes_go_by_their_names(recipe: Recipe) -> None:
    """A recipe is found by its name; the first one is the default, `tuned`."""
    assert recipe_named(recipe.name) is recipe
    assert next(iter(RECIPES)) == "tuned"


def test_unknown_recipes_are_refused() -> None:
    """The message lists the recipes there are."""
    with pytest.raises(InputError, match="tuned, journal-2018, paper-2015"):
        recipe_named("best")
