"""The modified χ² by which attributes are ranked ([A] Eq. 8).

Cor(A, R) = Σ_ij |o_ij − e_ij| over the leaves of A and the classes, e_ij = row_i · col_j / n.

**Lemma 4 of [A] is wrong.**  It claims sensitivity 2.  Take n records, all of class 2 and none with value v: Cor = 0.
Add one record (v, class 1): Cor = 4n / (n + 1).  The triangle inequality gives
|ΔCor| ≤ 4 (n − row)(n − col) / (n (n + 1)) < 4 for any number of classes, and both signs occur: the sensitivity is 4.  With
the paper's 2, feature selection would spend twice the ε it declares.

**Against a prior.**  With class shares p that are public or were bought with noise, Cor_p(A) = Σ_ij |o_ij − p_j · row_i|.  A
record (v, j) more changes the term (v, j) by at most 1 − p_j and each term (v, j′) by at most p_j′, together
2 (1 − p_j): the sensitivity is 2 · max_j (1 − p_j) ≤ 2.

Both are computed in whole numbers and rounded down once, to units of 2^−20 records.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from core.contingency import ContingencyTable
from core.schema import Schema

CORRELATION_SENSITIVITY = Fraction(4)
"""Sensitivity of Cor under adding or removing a record."""

SCALE = 2**20
"""Fixed-point units in one record."""


def correlation(counts: np.ndarray) -> Fraction:
    """Cor(A, R) of one attribute.

    Parameters
    ----------
    counts : ndarray of int, shape (values, classes)
        Contingency table of the attribute and the label.

    Returns
    -------
    Fraction
        In records, ≥ 0 and < 2n; 0 for an empty table.
    """
    n = int(counts.sum())
    if n == 0:
        return Fraction(0)
    rows = [int(row) for row in counts.sum(axis=1)]
    columns = [int(column) for column in counts.sum(axis=0)]
    deviations = (
        abs(n * int(counts[i, j]) - rows[i] * columns[j]) for i in range(len(rows)) if rows[i] for j in range(len(columns))
    )
    return Fraction(sum(deviations), n)


def correlation_to_prior(counts: np.ndarray, prior: Sequence[Fraction]) -> Fraction:
    """Cor_p(A): deviation of one attribute's table from given class shares.

    Parameters
    ----------
    counts : ndarray of int, shape (values, classes)
    prior : sequence of Fraction, shape (classes,)
        Non-negative, with sum 1.
    """
    rows = [int(row) for row in counts.sum(axis=1)]
    return sum(
        (abs(int(counts[i, j]) - share * rows[i]) for i in range(len(rows)) if rows[i] for j, share in enumerate(prior)),
        Fraction(0),
    )


def prior_sensitivity(prior: Sequence[Fraction]) -> Fraction:
    """Sensitivity of Cor_p: 2 · max_j (1 − p_j)."""
    return 2 * (1 - min(prior))


def normalised_prior(noisy_counts: np.ndarray) -> tuple[Fraction, ...]:
    """Class shares from noisy class counts; negative ones stand for 0, and all equal where nothing is left."""
    kept = [max(0, int(count)) for count in noisy_counts]
    total = sum(kept)
    return tuple(Fraction(count, total) if total else Fraction(1, len(kept)) for count in kept)


def rank_attributes(
    contingency: ContingencyTable, schema: Schema, prior: Sequence[Fraction] | None = None
) -> list[Fraction]:
    """Cor of every attribute, or Cor_p where a prior is given, in the order of the schema.  Private."""
    tables = (contingency.marginal(j, len(taxonomy.leaves)) for j, taxonomy in enumerate(schema.taxonomies))
    if prior is None:
        return [correlation(table) for table in tables]
    return [correlation_to_prior(table, prior) for table in tables]
