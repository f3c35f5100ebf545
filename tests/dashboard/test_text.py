"""The words on ε agree with the mathematics."""

import math

import pytest

from dashboard import text


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0, 10.0])
def test_certainty_is_bayes_with_even_odds(epsilon: float) -> None:
    """From 50 %, odds of e^ε to 1."""
    assert text.certainty(epsilon) == pytest.approx(math.exp(epsilon) / (1 + math.exp(epsilon)))


def test_huge_epsilon_is_called_certain() -> None:
    """ε without meaning is not dressed up as a percentage."""
    assert "practically certain" in text.epsilon_meaning(50, "person")
    assert text.certainty(1e6) == 1.0
