from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.errors import PrivacyError
from core.quality import (
    QUALITY_SENSITIVITY,
    QUALITY_WIDTH,
    SCALE,
    expected_errors,
    expected_loss_table,
    grid_quality,
    swap_probability,
)
from core.release import grid_histogram
from tests.conftest import Adult
from tests.helpers import EPSILONS, dense_table, flat, schema_of

LOWEST, HIGHEST = -0.0889087, 1.0889087


def quality_of_cell(counts: tuple[int, ...], epsilon: float) -> float:
    """Gq of a histogram of one cell."""
    return grid_quality(np.array([counts]), epsilon)


@pytest.mark.parametrize("epsilon", [0.01, *EPSILONS])
@pytest.mark.parametrize(("classes", "most"), [(2, 30), (3, 9), (4, 4)])
def test_range_of_change(classes: int, most: int, epsilon: float) -> None:
    """Adding a record changes gq by −0.0889087 to 1.0889087: two classes, the largest two of more, ties included."""
    for counts in itertools.product(range(most + 1), repeat=classes):
        before = quality_of_cell(counts, epsilon)
        for k in range(classes):
            after = quality_of_cell((*counts[:k], counts[k] + 1, *counts[k + 1 :]), epsilon)
            assert LOWEST <= after - before <= HIGHEST


@pytest.mark.parametrize("epsilon", [0.0001, 0.001, 0.01, *EPSILONS])
def test_range_of_change_of_the_table_itself(epsilon: float) -> None:
    """The fixed-point table keeps to the range exactly, rounding included, at every difference x of the top two."""
    table = expected_loss_table(epsilon)
    step = [int(after) - int(before) for before, after in itertools.pairwise([*table, 0])]
    to_majority, to_runner_up = [SCALE - s for s in step], step
    low, high = (1 - QUALITY_SENSITIVITY) * SCALE, QUALITY_SENSITIVITY * SCALE
    assert all(low <= change <= high for change in to_majority + to_runner_up)


def test_range_of_change_is_tight() -> None:
    """Both ends are approached to seven digits where the noise is wide, at ε_h·x = 1 + √3."""
    x, epsilon = 10_000, (1 + math.sqrt(3)) / 10_000
    before = quality_of_cell((x, 0), epsilon)
    assert quality_of_cell((x + 1, 0), epsilon) - before == pytest.approx(HIGHEST, abs=1e-7)
    assert quality_of_cell((x, 1), epsilon) - before == pytest.approx(LOWEST, abs=1e-7)


def test_constants_are_the_proved_ones_rounded_up() -> None:
    """The sensitivity is h(1 + √3), h(z) = 1 − e^(−z)(2 − z²)/4, and the width is that plus its mirror."""
    z = 1 + math.sqrt(3)
    peak = 1 - math.exp(-z) * (2 - z * z) / 4
    assert peak < QUALITY_SENSITIVITY < peak + 1e-7
    assert QUALITY_WIDTH == 2 * QUALITY_SENSITIVITY - 1


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("x", [0, 1, 4])
def test_swap_probability_is_that_of_laplace_noise(x: int, epsilon: float) -> None:
    """W(x) is the probability that Laplace noise on two counts x apart puts the smaller one on top."""
    noise = np.linspace(-60 / epsilon, 60 / epsilon, 1_200_001)
    density = epsilon / 2 * np.exp(-epsilon * np.abs(noise))
    gap = noise + x
    tail = np.where(gap > 0, np.exp(-epsilon * np.abs(gap)) / 2, 1 - np.exp(-epsilon * np.abs(gap)) / 2)
    assert swap_probability(np.array(x), epsilon) == pytest.approx(np.trapezoid(density * tail, noise), abs=1e-8)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_loss_table_is_the_rounded_expected_loss(epsilon: float) -> None:
    """The table holds x·w(x) to the nearest 2^−32 and ends where it has become 0."""
    table = expected_loss_table(epsilon)
    x = np.arange(len(table) + 3)
    exact = x * swap_probability(x, epsilon)
    assert np.abs(table / SCALE - exact[: len(table)]).max() <= 0.5 / SCALE
    assert table[-1] == 0
    assert exact[len(table) :].max() < 0.5 / SCALE


def test_loss_table_refuses_an_epsilon_too_small_for_it() -> None:
    """Where the table would have to be cut off, the range of change would not hold: it is refused."""
    with pytest.raises(PrivacyError, match="too small"):
        expected_loss_table(1e-7)


def test_quality_by_hand() -> None:
    """A cell of 3 and 1 at ε_h = 1 has gq = 3 − 2·½e⁻²(1 + 1); cells add up; a third class only takes part on top."""
    one = 3 - 2 * math.exp(-2)
    assert grid_quality(np.array([[3, 1]]), 1.0) == pytest.approx(one)
    assert grid_quality(np.array([[3, 1], [0, 0], [2, 2]]), 1.0) == pytest.approx(one + 2)
    assert grid_quality(np.array([[1, 0, 3]]), 1.0) == pytest.approx(one)


def test_expected_errors_are_equation_1_for_two_classes() -> None:
    """N − gq = Σ b + x·w(x) for two classes; for three it counts the other class as well."""
    table = dense_table(schema_of(flat("a", 2)), (5, 2, 1, 7))
    losses = [b + x * float(swap_probability(np.array(x), 0.5)) for b, x in [(2, 3), (1, 6)]]
    assert expected_errors(table, table.counts, 0.5) == pytest.approx(sum(losses))
    three = dense_table(schema_of(flat("a", 2), classes=3), (5, 2, 1, 0, 1, 7))
    assert expected_errors(three, three.counts, 0.5) == pytest.approx(sum(losses) + 1)


@pytest.mark.data
def test_adult_reference_figures(adult: Adult, shared_data: Path) -> None:
    """The histograms of 160 grids give the figures of the authors' own program."""
    reference = json.loads((shared_data / "adult_reference_quality.json").read_text(encoding="utf-8"))
    table, epsilon = adult.outside_fold(0), reference["epsilon_histogram"]
    found = [expected_errors(table, grid_histogram(table, adult.schema, g["levels"]), epsilon) for g in reference["grids"]]
    assert len(found) == 160
    assert found == pytest.approx([grid["quality"] for grid in reference["grids"]], rel=0, abs=1e-6)
