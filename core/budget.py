"""PrivacyBudget: exact splits of ε, and the three recipes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from core.errors import BudgetError

SIZE, FEATURES, SELECTION, HISTOGRAM = STEPS = ("size", "features", "selection", "histogram")
"""What ε buys, in the order it is spent: the noisy number of records, the choice of attributes, of the grid, the counts."""

Split = Mapping[str, Fraction]
"""Step → share of ε."""


EPSILON_LIMIT = Fraction(10**9)
"""Largest ε, and the inverse of the smallest: noise and counts beyond leave the range of 64-bit integers."""


def parse_epsilon(value: str | float | Fraction) -> Fraction:
    """Read ε exactly as it was typed.

    Raises
    ------
    BudgetError
        Where it is not a number, not above 0, or so small or large that it can only be a slip of the keyboard.
    """
    try:
        epsilon = value if isinstance(value, Fraction) else _exact(str(value))
    except (ValueError, ZeroDivisionError) as error:
        raise BudgetError("The privacy budget (ε) must be a number above 0, for example 0.5.") from error
    if epsilon <= 0:
        raise BudgetError(f"The privacy budget (ε = {value}) must be a number above 0, for example 0.5.")
    if not 1 / EPSILON_LIMIT <= epsilon <= EPSILON_LIMIT:
        raise BudgetError("The privacy budget (ε) must be a number above 0 that is neither tiny nor huge, for example 0.5.")
    return epsilon


def _exact(text: str) -> Fraction:
    """A decimal number or a fraction, exactly; ValueError where it is neither, or has an absurd exponent."""
    text = text.strip()
    if "/" not in text and abs(float(text)) > 1e300:
        raise ValueError("an exponent like that would fill the memory with digits")
    return Fraction(text) if "/" in text or float(text) else Fraction(0)


def parse_split(text: str) -> dict[str, Fraction]:
    """Read ``selection=35,histogram=65``, in percent.

    Raises
    ------
    BudgetError
        Where a step is unknown, a share is not above 0, or they do not add up to 100.
    """
    split: dict[str, Fraction] = {}
    for entry in text.split(","):
        step, _, percent = entry.partition("=")
        if step.strip() not in STEPS or step.strip() in split:
            raise BudgetError(f"Write the split as STEP=PERCENT,… with each step once; steps are {', '.join(STEPS)}.")
        try:
            split[step.strip()] = _exact(percent) / 100
        except (ValueError, ZeroDivisionError) as error:
            raise BudgetError(f"The share of “{step.strip()}” must be a number of percent.") from error
    check_split(split)
    return split


def check_split(split: Split) -> None:
    """Refuse a split that does not add up to the whole, or a share that is not above 0."""
    for step, share in split.items():
        if share <= 0:
            raise BudgetError(f"The share of “{step}” ({float(100 * share):g} %) must be above 0 %.")
    total = sum(split.values(), Fraction(0))
    if total != 1:
        raise BudgetError(f"The shares add up to {float(100 * total):g} %; they must add up to exactly 100 %.")
    if not {SELECTION, HISTOGRAM} <= split.keys():
        raise BudgetError("A split needs a share for selection and one for histogram.")


@dataclass(frozen=True)
class PrivacyBudget:
    """ε and the parts it is split into.

    Parameters
    ----------
    epsilon : Fraction, > 0
    parts : dict of str to Fraction
        Step → ε; they sum to `epsilon` to the last digit.
    """

    epsilon: Fraction
    parts: Mapping[str, Fraction]

    def __post_init__(self) -> None:
        if sum(self.parts.values(), Fraction(0)) != self.epsilon:
            raise BudgetError("The parts of the privacy budget do not sum to ε.")

    def __getitem__(self, step: str) -> Fraction:
        return self.parts[step]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One published way to set PrivPfC's knobs.

    Parameters
    ----------
    name : str
    source : str
    summary : str
        One sentence for the officer.
    noise_to_signal : Fraction
        δ of [A] Eq. 9.
    pool_limit : int
        B: a larger pool asks for feature selection, or is cut.
    cap_rule : {"half", "histogram", "largest"}
        ⌊δ·n·ε/2⌋; round(δ·n·ε_h); the largest cap between δ·n·ε_h and 8·δ·n·ε_h whose pool fits.
    cut : bool
        True: the pool is the first B grids by number of attributes; False: all grids under the cap.
    size : {"exact", "noisy", "always noisy"}
        n where it is not declared; ``always noisy`` ignores a declared size.
    size_share : Fraction
        ε_N / ε where n is bought.
    split, split_with_features : dict of str to Fraction
        Shares of what remains after ε_N.
    selection_sensitivity : Fraction
        In records.
    monotonic : bool
        True: `selection_sensitivity` is the width of the range of changes and nothing is halved (method of this project);
        False: weights e^(ε·gq / 2Δ) as in the papers.
    prior_share : Fraction
        Part of the features' share that buys the class prior of Cor_p; 0 ranks by Cor.
    """

    name: str
    source: str
    summary: str
    noise_to_signal: Fraction = Fraction(1, 5)
    pool_limit: int = 200_000
    cap_rule: Literal["half", "histogram", "largest"]
    cut: bool = False
    size: Literal["exact", "noisy", "always noisy"]
    size_share: Fraction = Fraction(0)
    split: Split
    split_with_features: Split | None
    selection_sensitivity: Fraction = Fraction(11, 10)
    monotonic: bool = False
    prior_share: Fraction = Fraction(0)

    def budget(self, epsilon: Fraction, *, size: bool, features: bool, split: Split | None = None) -> PrivacyBudget:
        """Split ε over the steps that a release takes.

        Parameters
        ----------
        epsilon : Fraction, > 0
        size, features : bool
            Whether n is bought, and whether attributes are selected.
        split : dict of str to Fraction, optional
            The officer's own shares instead of the recipe's.  The shares of steps not taken go to the others in
            proportion, but for the size: it is bought before it is known whether attributes are selected, so its
            share is the same either way.  A size that must be bought but has no share takes the recipe's first.

        Raises
        ------
        BudgetError
            If attributes must be selected and the officer's split has no share for that.
        """
        own = self.split_with_features if features and self.split_with_features else self.split
        shares = dict(split or own)
        if split is not None:
            check_split(split)
            if features and FEATURES not in split:
                raise BudgetError("This pool needs feature selection: give the step “features” a share of the split.")
        if not features:
            shares.pop(FEATURES, None)
        size_share = shares.pop(SIZE, self.size_share)
        rest = 1 - size_share if size else Fraction(1)
        whole = sum(shares.values(), Fraction(0))
        shares = {step: share * rest / whole for step, share in shares.items()}
        if size:
            shares[SIZE] = size_share
        return PrivacyBudget(epsilon, {step: epsilon * shares[step] for step in STEPS if step in shares})
