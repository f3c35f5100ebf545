from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import mechanisms
from core.errors import BudgetError, PrivacyError
from core.mechanisms import Noise, NumpyNoise, OpenDPNoise, selection_probabilities
from core.quality import QUALITY_WIDTH, SCALE

epsilons = st.sampled_from(
    [Fraction(1, 3), Fraction(1, 7), Fraction("0.1"), Fraction(3, 10) * Fraction(1, 97), Fraction(20), Fraction(1, 1000)]
) | st.fractions(Fraction(1, 10_000), 100)
"""Budgets that have no exact float among them."""

SOURCES = [OpenDPNoise(), NumpyNoise(np.random.default_rng(3))]
SCORES = [3.0, 0.0, 2.5, 2.5, -4.0]


def permute_and_flip(scores: list[float], scale: float) -> list[float]:
    """The law of permute-and-flip from its definition: every order of the candidates, a coin for each in turn."""
    heads = [math.exp((score - max(scores)) / scale) for score in scores]
    law = [0.0] * len(scores)
    for order in itertools.permutations(range(len(scores))):
        reached = 1.0
        for candidate in order:
            law[candidate] += reached * heads[candidate]
            reached *= 1 - heads[candidate]
    return [mass / math.factorial(len(scores)) for mass in law]


def one_after_the_other(scores: list[float], scale: float, k: int) -> dict[tuple[int, ...], float]:
    """The law of k choices without replacement."""
    law = {(): 1.0}
    for _ in range(k):
        grown = {}
        for taken, mass in law.items():
            left = [i for i in range(len(scores)) if i not in taken]
            for i, chance in zip(left, permute_and_flip([scores[i] for i in left], scale), strict=True):
                grown[*taken, i] = mass * chance
        law = grown
    return law


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=6), st.floats(0.05, 50))
def test_selection_probabilities_are_permute_and_flip(scores: list[float], scale: float) -> None:
    """The integrated polynomial is the average over all orders of the candidates."""
    assert selection_probabilities(np.array(scores), scale) == pytest.approx(permute_and_flip(scores, scale), abs=1e-12)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=60), st.floats(0.05, 50))
def test_selection_probabilities_are_a_distribution(scores: list[float], scale: float) -> None:
    """Probabilities are above 0, add up to 1, and a better score is never less likely."""
    law = selection_probabilities(np.array(scores), scale)
    assert law.sum() == pytest.approx(1)
    assert (law >= 0).all()
    assert (np.diff(law[np.argsort(scores, kind="stable")]) >= -1e-12).all()


@settings(max_examples=60)
@given(epsilons)
def test_counts_spend_what_was_granted_and_no_more(epsilon: Fraction) -> None:
    """By the measurement's own map noisy counts cost at most the grant, and all of it but a rounding error."""
    noisy, spend = OpenDPNoise().counts("histogram", np.array([0, 5, 10**9]), epsilon)
    assert noisy.shape == (3,)
    assert noisy.dtype == np.int64
    assert epsilon * (1 - Fraction(1, 10**12)) < spend.spent <= spend.granted == epsilon
    assert spend.scale == pytest.approx(float(1 / epsilon))


@settings(max_examples=60)
@given(
    epsilons,
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([Fraction(11, 10), QUALITY_WIDTH, Fraction(4), Fraction(1, 3)]),
    st.sampled_from([1, 2**20, SCALE]),
)
def test_choices_spend_what_was_granted_and_no_more(
    epsilon: Fraction, k: int, monotonic: bool, sensitivity: Fraction, unit: int
) -> None:
    """K choices together cost at most the grant; at k = 1 the scale is Δ/ε for a monotonic score, else 2Δ/ε."""
    scores = np.array([0, 3, 1, 2]) * unit
    chosen, spend = OpenDPNoise().choose("grid", scores, epsilon, sensitivity, unit, k=k, monotonic=monotonic)
    assert len(set(chosen)) == k
    assert set(chosen) <= set(range(4))
    assert epsilon * (1 - Fraction(1, 10**12)) < spend.spent <= spend.granted == epsilon
    whole_units = Fraction(math.ceil(sensitivity * unit), unit)
    assert spend.scale == pytest.approx(float(whole_units * k * (1 if monotonic else 2) / epsilon))


@pytest.mark.parametrize("source", SOURCES, ids=["opendp", "numpy"])
@pytest.mark.parametrize("k", [1, 2])
def test_law_of_the_choice(source: Noise, k: int) -> None:
    """Frequencies of 3,000 choices are within 0.07 of permute-and-flip, k times (by chance otherwise once in 10^11)."""
    draws, epsilon = 3_000, Fraction(4)
    scores = np.array([int(score * 2**20) for score in SCORES])
    found = Counter(tuple(source.choose("grid", scores, epsilon, Fraction(1), 2**20, k=k)[0]) for _ in range(draws))
    law = one_after_the_other(SCORES, 2 * k / float(epsilon), k)
    assert sum(found[chosen] for chosen in law) == draws
    assert max(abs(found[chosen] / draws - chance) for chosen, chance in law.items()) < 0.07


@pytest.mark.parametrize("source", SOURCES, ids=["opendp", "numpy"])
def test_law_of_the_counts(source: Noise) -> None:
    """Frequencies of the noise on 100,000 counts are within 0.012 of the discrete Laplace law of scale 1/ε."""
    counts, epsilon = 100_000, Fraction(1, 2)
    noisy, _ = source.counts("histogram", np.full(counts, 7), epsilon)
    alpha = math.exp(-epsilon)
    for noise in range(-6, 7):
        expected = (1 - alpha) / (1 + alpha) * alpha ** abs(noise)
        assert np.mean(noisy == 7 + noise) == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize("source", SOURCES, ids=["opendp", "numpy"])
def test_a_huge_budget_leaves_no_noise(source: Noise) -> None:
    """With ε = 10⁶ counts stay as they are and the best come first."""
    counts, _ = source.counts("histogram", np.array([4, 0, 9]), Fraction(10**6))
    chosen, _ = source.choose("attributes", np.array([1, 7, 0, 3]) * SCALE, Fraction(10**6), Fraction(1), SCALE, k=3)
    assert counts.tolist() == [4, 0, 9]
    assert chosen == [1, 3, 0]


def test_numpy_noise_repeats_and_says_that_it_is_not_private() -> None:
    """The same seed gives the same noise; the source and each spend say NOT PRIVATE, those of OpenDP never do."""
    first, second = (
        NumpyNoise(np.random.default_rng(1)).counts("histogram", np.zeros(50), Fraction(1, 10)) for _ in range(2)
    )
    assert (first[0] == second[0]).all()
    chosen = NumpyNoise(np.random.default_rng(1)).choose("grid", np.arange(3), Fraction(1), Fraction(1), 1)
    assert "NOT PRIVATE" in first[1].mechanism
    assert "NOT PRIVATE" in chosen[1].mechanism
    assert NumpyNoise.private is False
    assert OpenDPNoise.private is True
    assert "NOT PRIVATE" not in OpenDPNoise().counts("histogram", np.zeros(1), Fraction(1))[1].mechanism


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1)])
def test_nothing_is_drawn_without_a_budget(epsilon: Fraction) -> None:
    """A grant of 0 or less is refused."""
    with pytest.raises(BudgetError, match="must be > 0"):
        OpenDPNoise().counts("histogram", np.zeros(1), epsilon)
    with pytest.raises(BudgetError, match="must be > 0"):
        OpenDPNoise().choose("grid", np.arange(2), epsilon, Fraction(1), 1)


@pytest.mark.parametrize(
    ("measurement", "draw"),
    [
        ("make_laplace", lambda noise: noise.counts("histogram", np.zeros(1), Fraction(1))),
        ("make_noisy_max", lambda noise: noise.choose("grid", np.arange(2), Fraction(1), Fraction(1), 1)),
        ("make_noisy_top_k", lambda noise: noise.choose("attributes", np.arange(3), Fraction(1), Fraction(1), 1, k=2)),
    ],
)
def test_a_map_that_exceeds_the_grant_stops_the_draw(
    measurement: str, draw: Callable[[Noise], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no scale near the formula's keeps to the grant by the measurement's own map, nothing is drawn."""

    class Costly:
        """A measurement that costs twice what it should."""

        def map(self, d_in: int) -> float:
            return 2.0 * d_in

        def __call__(self, values: object) -> object:
            raise AssertionError("drawn in spite of the map")

    monkeypatch.setattr(mechanisms.dp.m, measurement, lambda *arguments: Costly())
    with pytest.raises(PrivacyError, match="nothing was released"):
        draw(OpenDPNoise())
