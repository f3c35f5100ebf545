"""Grid quality: the expected number of correctly classified records ([A] Eq. 1, [J] Eq. 5).

For a cell with the two largest class counts a ≥ b, x = a − b and ε_h the budget of the histogram, Laplace noise on both
counts swaps the majority with probability w(x) = ½ e^(−ε_h x) (1 + ε_h x / 2); the histogram classifier then gets
a − x·w(x) records of the cell right.  The quality gq(g) is the sum over the cells; for two classes
n − gq(g) = Σ (b + x·w(x)) is Eq. 1 of [A].

**Range of change, proved.**  With f(x) = x·w(x), adding a record changes gq of every grid by 1 − (f(x + 1) − f(x))
(majority class), by f(x) − f(x − 1) (runner-up, or a third class that ties with it), or by 0.  The mean value theorem
puts f(x + 1) − f(x) between −0.0889087 and 0.5, so gq changes by an amount within [−0.0889087, 1.0889087]: the
sensitivity is 1.0889087 ([J] rounds it to 1.1), and gq(g) + 0.0889087·n grows by between 0 and 1.1778174 for every grid.

Scores are fixed-point integers (2^−32 records): sums are then exact, so they depend neither on threads nor on the order
of rows, and the range of change can be checked on the look-up table itself, without a word about rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from core.contingency import ContingencyTable
from core.errors import PrivacyError

QUALITY_SENSITIVITY = Fraction("1.0889087")
"""Largest change of gq when a record comes or goes (rounded up)."""

QUALITY_WIDTH = Fraction("1.1778174")
"""Spread between the largest and the smallest change of gq over all grids (rounded up)."""

SCALE = 2**32
"""Fixed-point units in one record."""

MAX_RECORDS = 2**30
"""Tables beyond this would overflow the fixed-point sums."""


def swap_probability(x: np.ndarray, epsilon: float) -> np.ndarray:
    """Probability that noise swaps the majority of a cell ([A] Eq. 5).

    Parameters
    ----------
    x : ndarray, ≥ 0
        Difference of the two largest counts.
    epsilon : float, > 0
        Budget of the histogram.
    """
    z = epsilon * np.asarray(x, dtype=np.float64)
    return 0.5 * np.exp(-z) * (1 + z / 2)


def expected_loss_table(epsilon: float) -> np.ndarray:
    """The look-up table x ↦ x·w(x) in fixed point.

    Parameters
    ----------
    epsilon : float, > 0
        Budget of the histogram.

    Returns
    -------
    ndarray of int64, shape (m,)
        Units of 2^−32 records; zero from m on.

    Raises
    ------
    PrivacyError
        If the increments of the table leave the proved range.
    """
    length = min(math.ceil(60 / epsilon) + 2, 2**24)
    x = np.arange(length)
    table = np.rint(x * swap_probability(x, epsilon) * SCALE).astype(np.int64)
    table[-1] = 0
    used = int(np.flatnonzero(table)[-1]) + 2 if table.any() else 2
    table = table[:used]
    step = np.diff(table)
    excess = QUALITY_SENSITIVITY - 1
    if step.min(initial=0) < -excess * SCALE or step.max(initial=0) > SCALE // 2 + 1:
        raise PrivacyError("The privacy budget (ε) is too small to tell one grid from another; choose a larger one.")
    return table


def grid_quality(counts: np.ndarray, epsilon: float) -> float:
    """Gq of one histogram, from the definition.

    Parameters
    ----------
    counts : ndarray of int, shape (cells, classes)
    epsilon : float, > 0
        Budget of the histogram.

    Returns
    -------
    float
        Expected number of correctly classified records.
    """
    top = np.sort(counts, axis=1)[:, -2:]
    a = top[:, 1]
    x = a - top[:, 0]
    return math.fsum(a - x * swap_probability(x, epsilon))


def expected_errors(contingency: ContingencyTable, counts: np.ndarray, epsilon: float) -> float:
    """N − gq: expected misclassified records of a grid's histogram (for two classes, Eq. 1 of [A])."""
    return contingency.n - grid_quality(counts, epsilon)
