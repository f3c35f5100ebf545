from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.budget import (
    FEATURES,
    HISTOGRAM,
    SELECTION,
    SIZE,
    STEPS,
    PrivacyBudget,
    Recipe,
    check_split,
    parse_epsilon,
    parse_split,
)
from core.errors import BudgetError
from core.recipes import RECIPES, TUNED

recipes = st.sampled_from(list(RECIPES.values()))
epsilons = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)


@st.composite
def splits(draw: st.DrawFn) -> dict[str, Fraction]:
    """An officer's own shares, of two to four steps."""
    steps = [SELECTION, HISTOGRAM, *draw(st.sets(st.sampled_from([SIZE, FEATURES])))]
    parts = [draw(st.integers(1, 10**6)) for _ in steps]
    return {step: Fraction(part, sum(parts)) for step, part in zip(steps, parts, strict=True)}


@given(recipes, epsilons, st.booleans(), st.booleans())
def test_recipes_split_exactly(recipe: Recipe, epsilon: Fraction, size: bool, features: bool) -> None:
    """The parts are above 0 and sum to ε to the last digit, with and without size and feature selection."""
    features = features and recipe.split_with_features is not None
    size = size and recipe.size_share > 0
    budget = recipe.budget(epsilon, size=size, features=features)
    assert sum(budget.parts.values()) == budget.epsilon == epsilon
    assert min(budget.parts.values()) > 0
    assert (SIZE in budget.parts, FEATURES in budget.parts) == (size, features)
    assert list(budget.parts) == [step for step in STEPS if step in budget.parts]


@given(recipes, epsilons, splits(), st.booleans(), st.booleans())
def test_own_splits_are_exact(
    recipe: Recipe, epsilon: Fraction, split: dict[str, Fraction], size: bool, features: bool
) -> None:
    """An officer's own shares sum to ε too, and steps not taken leave the others' proportions as they were."""
    features = features and FEATURES in split
    budget = recipe.budget(epsilon, size=size, features=features, split=split)
    assert sum(budget.parts.values()) == epsilon
    assert min(part for step, part in budget.parts.items() if step != SIZE) > 0
    assert budget[HISTOGRAM] / budget[SELECTION] == split[HISTOGRAM] / split[SELECTION]
    if features:
        assert budget[HISTOGRAM] / budget[FEATURES] == split[HISTOGRAM] / split[FEATURES]
    if size and (features or FEATURES not in split) and SIZE in split:
        assert budget.parts == {step: epsilon * split[step] for step in budget.parts}


@given(
    recipes.filter(lambda recipe: recipe.split_with_features), epsilons, st.none() | splits().filter(lambda s: FEATURES in s)
)
def test_size_costs_the_same_on_either_path(recipe: Recipe, epsilon: Fraction, split: dict[str, Fraction] | None) -> None:
    """N is bought before the path is known: its price does not depend on the path, or the whole would exceed ε."""
    bought = recipe.budget(epsilon, size=True, features=False, split=split)[SIZE]
    assert recipe.budget(epsilon, size=True, features=True, split=split)[SIZE] == bought


def test_feature_selection_needs_a_share() -> None:
    """Where attributes must be selected, an own split without a share for it is refused."""
    with pytest.raises(BudgetError, match="features"):
        TUNED.budget(Fraction(1), size=False, features=True, split=parse_split("selection=40,histogram=60"))


def test_parts_that_do_not_sum_are_no_budget() -> None:
    """A budget one part in 10^20 off its whole cannot be made."""
    with pytest.raises(BudgetError, match="do not sum"):
        PrivacyBudget(Fraction(1), {SELECTION: Fraction(1, 2), HISTOGRAM: Fraction(1, 2) + Fraction(1, 10**20)})


@pytest.mark.parametrize(
    ("typed", "epsilon"),
    [
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        ("1e-3", Fraction(1, 1000)),
        (2, Fraction(2)),
        ("1e-9", Fraction(1, 10**9)),
        ("1e9", Fraction(10**9)),
    ],
)
def test_epsilon_is_read_as_typed(typed: str | float, epsilon: Fraction) -> None:
    """0.1 is one tenth, not the nearest binary number."""
    assert parse_epsilon(typed) == epsilon


@pytest.mark.parametrize(
    "typed",
    [
        "1e999999999",
        "1e-999999999",
        "",
        "a lot",
        "0",
        "-1",
        "nan",
        "inf",
        "1/0",
        "1e-10",
        "1e10",
        float("nan"),
        Fraction(-1),
    ],
)
def test_epsilon_must_be_a_number_above_0(typed: str | float | Fraction) -> None:
    """Anything else, and what is tiny or huge, is refused with an example of what to type."""
    with pytest.raises(BudgetError, match=r"for example 0\.5"):
        parse_epsilon(typed)


def test_split_is_read_exactly() -> None:
    """Percentages with decimals stay exact fractions."""
    split = parse_split("size=0.1, selection=33.3 ,histogram=66.6")
    assert split == {SIZE: Fraction(1, 1000), SELECTION: Fraction(333, 1000), HISTOGRAM: Fraction(666, 1000)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("selection=40,histogram=59.999", "exactly 100 %"),
        ("selection=0,histogram=100", "above 0 %"),
        ("selection=-10,histogram=110", "above 0 %"),
        ("histogram=100", "selection"),
        ("features=50,selection=50", "histogram"),
        ("selection=40,histogram=60,tea=0", "STEP=PERCENT"),
        ("selection=20,selection=20,histogram=60", "each step once"),
        ("selection=x,histogram=60", "number of percent"),
        ("selection=1/0,histogram=60", "number of percent"),
        ("", "STEP=PERCENT"),
    ],
)
def test_splits_that_make_no_sense_are_refused(text: str, reason: str) -> None:
    """A split must name each step once, with shares above 0 that add up to exactly the whole."""
    with pytest.raises(BudgetError, match=reason):
        parse_split(text)


@given(splits())
def test_exact_splits_pass(split: dict[str, Fraction]) -> None:
    """Shares that add up to 1 as fractions are accepted, whatever their floats add up to."""
    check_split(split)
