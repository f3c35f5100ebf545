"""The only file that draws noise: a thin skin over OpenDP.

Every draw says what it spent: the number comes from the measurement's own privacy map, not from our formulas.  Scores are
integers (fixed point), so no floating-point rounding stands between the proved sensitivity and the mechanism.

Choices are made by OpenDP's noisy max with exponential noise, which is permute-and-flip (McKenna and Sheldon 2020): at the
same ε never worse than the exponential mechanism of the papers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import opendp.prelude as dp

from core.errors import BudgetError, PrivacyError

dp.enable_features("contrib")


@dataclass(frozen=True)
class Spend:
    """What one draw cost.

    Parameters
    ----------
    step : str
        What was bought, in words.
    mechanism : str
    sensitivity : Fraction
        In records.
    scale : float
        Scale of the noise, in records.
    granted, spent : Fraction
        ε that the split granted, and ε by the measurement's own map.
    """

    step: str
    mechanism: str
    sensitivity: Fraction
    scale: float
    granted: Fraction
    spent: Fraction


class Noise(Protocol):
    """A source of noise."""

    private: bool
    """False where what it touches is NOT PRIVATE."""

    def counts(self, step: str, values: np.ndarray, epsilon: Fraction) -> tuple[np.ndarray, Spend]:
        """Noisy counts; one record changes one of them by 1.

        Parameters
        ----------
        step : str
        values : ndarray of int64, shape (m,)
        epsilon : Fraction, > 0

        Returns
        -------
        ndarray of int64, shape (m,)
            Negative counts included.
        Spend
        """

    def choose(
        self, step: str, scores: np.ndarray, epsilon: Fraction, sensitivity: Fraction, unit: int, *, k: int = 1,
        monotonic: bool = False,
    ) -> tuple[list[int], Spend]:  # fmt: skip
        """The places of the k best scores, best first, without replacement.

        Parameters
        ----------
        step : str
        scores : ndarray of int64, shape (m,)
            In units of 1 / `unit` records.
        epsilon : Fraction, > 0
            For all k draws together.
        sensitivity : Fraction, > 0
            Largest change of a score when a record comes or goes, in records; if `monotonic`, the width of the range
            of changes.
        unit : int
        k : int, default 1
        monotonic : bool, default False
            True if, after a shift that is the same for all scores, adding a record lowers none of them.
        """


@dataclass(frozen=True)
class OpenDPNoise:
    """Noise for releases, from the operating system's randomness through OpenDP."""

    private = True

    def counts(self, step: str, values: np.ndarray, epsilon: Fraction) -> tuple[np.ndarray, Spend]:
        """Discrete Laplace noise of scale 1/ε; see `Noise`."""
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        measurement, scale = _fitting(lambda scale: dp.m.make_laplace(*space, scale), 1, epsilon, 1)
        spend = Spend(step, "discrete Laplace", Fraction(1), scale, epsilon, _spent(measurement, 1, epsilon))
        return np.array(measurement(_list(values)), dtype=np.int64), spend

    def choose(
        self, step: str, scores: np.ndarray, epsilon: Fraction, sensitivity: Fraction, unit: int, *, k: int = 1,
        monotonic: bool = False,
    ) -> tuple[list[int], Spend]:  # fmt: skip
        """Permute-and-flip, k times over; see `Noise`."""
        d_in = math.ceil(sensitivity * unit)
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=monotonic)

        def make(scale: float) -> Any:
            if k == 1:
                return dp.m.make_noisy_max(*space, dp.max_divergence(), scale)
            return dp.m.make_noisy_top_k(*space, dp.max_divergence(), k, scale)

        measurement, scale = _fitting(make, d_in, epsilon, d_in * k * (1 if monotonic else 2))
        spend = Spend(
            step, "permute-and-flip", sensitivity, scale / unit, epsilon, _spent(measurement, d_in, epsilon)
        )  # fmt: skip
        chosen = measurement(_list(scores))
        return ([chosen] if k == 1 else list(chosen)), spend


@dataclass(frozen=True)
class NumpyNoise:
    """Repeatable noise for experiments.  NOT PRIVATE: a seed is known, floating point is not hardened.

    Parameters
    ----------
    generator : numpy.random.Generator
    """

    generator: np.random.Generator
    private = False

    def counts(self, step: str, values: np.ndarray, epsilon: Fraction) -> tuple[np.ndarray, Spend]:
        """The same law as `OpenDPNoise.counts`: the difference of two geometric variables."""
        p = -math.expm1(-float(epsilon))
        shape = np.shape(values)
        noise = self.generator.geometric(p, shape) - self.generator.geometric(p, shape)
        spend = Spend(step, "discrete Laplace, NOT PRIVATE", Fraction(1), float(1 / epsilon), epsilon, epsilon)
        return np.asarray(values, dtype=np.int64) + noise, spend

    def choose(
        self, step: str, scores: np.ndarray, epsilon: Fraction, sensitivity: Fraction, unit: int, *, k: int = 1,
        monotonic: bool = False,
    ) -> tuple[list[int], Spend]:  # fmt: skip
        """The same law as `OpenDPNoise.choose`: the largest of scores with exponential noise, k times over."""
        scale = float(sensitivity * k * (1 if monotonic else 2) / epsilon)
        left = np.asarray(scores, dtype=np.float64) / unit
        chosen = []
        for _ in range(k):
            best = int(np.argmax(left + self.generator.exponential(scale, len(left))))
            chosen.append(best)
            left[best] = -np.inf
        return chosen, Spend(step, "permute-and-flip, NOT PRIVATE", sensitivity, scale, epsilon, epsilon)


def selection_probabilities(scores: np.ndarray, scale: float) -> np.ndarray:
    """Exact law of one choice by permute-and-flip.

    Candidates come in random order; candidate i is taken with probability p_i = e^((s_i − s_max) / scale).  With a uniform
    arrival time for each, P(i) = p_i ∫₀¹ Π_{j≠i} (1 − t·p_j) dt, a polynomial integrated exactly by Gauss and Legendre.

    Parameters
    ----------
    scores : ndarray of float, shape (m,)
    scale : float, > 0
        For a non-monotonic score of sensitivity Δ, 2Δ/ε; for a monotonic one of width Δ, Δ/ε.

    Returns
    -------
    ndarray of float, shape (m,)
        Probabilities with sum 1.
    """
    accept = np.exp((np.asarray(scores, dtype=np.float64) - np.max(scores)) / scale)
    nodes, weights = np.polynomial.legendre.leggauss(len(accept) // 2 + 1)
    time = (nodes + 1) / 2
    rejected = 1 - np.outer(accept, time)
    others = np.array([np.prod(np.delete(rejected, i, axis=0), axis=0) for i in range(len(accept))])
    return accept * (others @ (weights / 2))


def _fitting(make: Callable[[float], Any], d_in: int, granted: Fraction, width: int) -> tuple[Any, float]:
    """The measurement of the least scale, a few units in the last place about `width` / ε, whose map stays in the grant."""
    if granted <= 0:
        raise BudgetError(f"epsilon ({float(granted)}) must be > 0")
    candidate = float(width / granted)
    for _ in range(64):
        measurement = make(candidate)
        if Fraction(measurement.map(d_in)) <= granted:
            return measurement, candidate
        candidate = math.nextafter(candidate, math.inf)
    raise PrivacyError(f"No noise scale near {float(width / granted)} keeps to the granted ε; nothing was released.")


def _spent(measurement: Any, d_in: int, granted: Fraction) -> Fraction:
    """What the measurement's map says; refused where that exceeds the grant."""
    spent = Fraction(measurement.map(d_in))
    if spent > granted:
        raise PrivacyError("A draw would cost more than the split grants; nothing was released.")
    return spent


def _list(values: np.ndarray) -> Any:
    """OpenDP takes 64-bit integer arrays without a detour over Python objects."""
    return np.ascontiguousarray(values, dtype=np.int64)
