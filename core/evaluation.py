"""Utility of a release: classifiers trained on synthetic data, tested on held-out true records ([A] section 4).

Everything here looks at the true records: its results are for the curator only, and publishing them is not covered by ε.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import mean, stdev

import numpy as np
from sklearn.model_selection import StratifiedKFold

from core.budget import Split
from core.classifiers import (
    CLASSIFIERS,
    Samples,
    error_rate,
    grid_features,
    record_features,
    record_samples,
    release_samples,
)
from core.contingency import ContingencyTable
from core.encoding import Records
from core.errors import CancelledError, InputError
from core.mechanisms import Noise
from core.pool import Scorer, score_pool
from core.recipes import RECIPES
from core.release import run
from core.schema import Schema
from core.visibility import Visibility

NOISE_FREE, MAJORITY = "noise-free", "majority"

METHODS = (*RECIPES, NOISE_FREE, MAJORITY)
"""Names of the methods that can be evaluated."""

Progress = Callable[[int, int], bool]
"""Called with (results so far, in all); returning False cancels."""


@dataclass(frozen=True)
class Result:
    """One error rate.  Curator only.

    Parameters
    ----------
    method : str
    epsilon : float or None
        None for the methods without privacy.
    classifier : str
    fold, repeat : int
    error : float
        Share of the held-out records that are misclassified, 0 to 1.
    seconds : float
        For the release and the training together.
    """

    method: str
    epsilon: float | None
    classifier: str
    fold: int
    repeat: int
    error: float
    seconds: float
    visibility = Visibility.CURATOR_ONLY


@dataclass(frozen=True)
class Summary:
    """The error rates of one method, ε and classifier over folds and repeats.  Curator only.

    Parameters
    ----------
    method : str
    epsilon : float or None
    classifier : str
    mean : float
        Share of misclassified records, 0 to 1.
    sd : float or None
        Standard deviation of the share; None for a single run.
    runs : int
    """

    method: str
    epsilon: float | None
    classifier: str
    mean: float
    sd: float | None
    runs: int
    visibility = Visibility.CURATOR_ONLY


def summarise(results: Iterable[Result]) -> list[Summary]:
    """Sum up results by method, ε and classifier, in the order they came."""
    groups: dict[tuple[str, float | None, str], list[float]] = {}
    for result in results:
        groups.setdefault((result.method, result.epsilon, result.classifier), []).append(result.error)
    return [
        Summary(*group, mean(errors), stdev(errors) if len(errors) > 1 else None, len(errors))
        for group, errors in groups.items()
    ]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A cross-validated comparison.

    Parameters
    ----------
    epsilons : tuple of Fraction
    methods : tuple of str
        Some of `METHODS`.
    classifiers : tuple of str, default ("tree", "svm")
        Keys of `core.classifiers.CLASSIFIERS`.
    folds : int, default 10
        Stratified folds to draw; ignored where the records bring their own.
    repeats : int, default 1
        Releases for each fold and ε; drawn folds are drawn anew for each repeat.
    only_folds : tuple of int or None, default None
        Run these folds only.
    split : dict of str to Fraction or None, default None
    seed : int, default 0
        Of the folds and of the classifiers' own randomness; the privacy noise comes from elsewhere.
    """

    epsilons: tuple[Fraction, ...]
    methods: tuple[str, ...]
    classifiers: tuple[str, ...] = ("tree", "svm")
    folds: int = 10
    repeats: int = 1
    only_folds: tuple[int, ...] | None = None
    split: Split | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for kind, names, known in (("method", self.methods, METHODS), ("classifier", self.classifiers, CLASSIFIERS)):
            for name in names:
                if name not in known:
                    raise InputError(f"There is no {kind} “{name}”; choose from {', '.join(known)}.")
            if not names:
                raise InputError(f"Choose at least one {kind}.")
        if self.folds < 2:
            raise InputError(f"The number of folds ({self.folds}) must be at least 2.")
        if self.repeats < 1:
            raise InputError(f"The number of repeats ({self.repeats}) must be at least 1.")

    def run(self, records: Records, schema: Schema, noise: Noise, progress: Progress | None = None) -> Iterator[Result]:
        """Yield the results as they come.

        Parameters
        ----------
        records : Records
        schema : Schema
            A declared size counts for the whole table; each training part gets its share.
        noise : Noise
        progress : callable, optional
            See `Progress`.

        Raises
        ------
        CancelledError
            If `progress` returned False.
        """
        report = progress or (lambda done, total: True)
        parts = self._parts(records)
        total = sum(len(self._cases(repeats)) for _, _, repeats in parts) * len(self.classifiers)
        done = 0
        for fold, held_out, repeats in parts:
            for result in self._run_fold(records, schema, noise, held_out, fold, repeats, lambda: report(done, total)):  # noqa: B023 - called before the next round
                done += 1
                yield result
        report(done, total)

    def _cases(self, repeats: range) -> list[tuple[str, Fraction | None, int]]:
        """(method, ε, repeat) of one fold; methods without privacy do not depend on the repeat."""
        cases: list[tuple[str, Fraction | None, int]] = []
        for method in self.methods:
            if method in RECIPES:
                cases += [(method, epsilon, repeat) for epsilon in self.epsilons for repeat in repeats]
            else:
                cases.append((method, None, repeats[0]))
        return cases

    def _parts(self, records: Records) -> list[tuple[int, np.ndarray, range]]:
        """(fold, mask of its held-out records, the repeats that use it)."""
        if records.folds is not None:
            parts = [(int(fold), records.folds == fold, range(self.repeats)) for fold in np.unique(records.folds)]
            if len(parts) < 2:
                raise InputError("The fold column holds one fold only; it must hold at least two.")
        else:
            rarest = int(np.unique(records.classes, return_counts=True)[1].min())
            if rarest < self.folds:
                raise InputError(f"A class has fewer records than there are folds ({self.folds}); choose fewer folds.")
            parts = []
            for repeat in range(self.repeats):
                splitter = StratifiedKFold(self.folds, shuffle=True, random_state=self.seed + repeat)
                for fold, (_, rows) in enumerate(splitter.split(np.zeros(len(records.classes)), records.classes)):
                    held_out = np.zeros(len(records.classes), dtype=bool)
                    held_out[rows] = True
                    parts.append((fold, held_out, range(repeat, repeat + 1)))
        if self.only_folds is None:
            return parts
        known = {fold for fold, _, _ in parts}
        for fold in self.only_folds:
            if fold not in known:
                raise InputError(f"There is no fold {fold}; folds are {min(known)} to {max(known)}.")
        return [part for part in parts if part[0] in self.only_folds]

    def _run_fold(
        self, records: Records, schema: Schema, noise: Noise, held_out: np.ndarray, fold: int, repeats: range,
        going: Callable[[], bool],
    ) -> Iterator[Result]:  # fmt: skip
        train, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        truth = records.classes[test]
        contingency = records.contingency(len(schema.label.values), train)
        if schema.size is not None:
            schema = replace(schema, size=max(1, round(schema.size * len(train) / len(held_out))))
        scorer = _remembering(score_pool)
        for method, epsilon, repeat in self._cases(repeats):
            generator = np.random.default_rng([self.seed, fold, repeat])
            started = time.perf_counter()
            if epsilon is not None:
                release = run(
                    contingency, schema, RECIPES[method], epsilon, noise, split=self.split, scorer=scorer,
                    progress=lambda stage, done, total: going(),
                )  # fmt: skip
                samples = release_samples(release)
                features = grid_features(schema, release.grid, records.codes[test])
            elif method == NOISE_FREE:
                samples, features = record_samples(records, schema, train), record_features(records, schema, test)
            else:
                samples, features = _majority(contingency), np.empty((len(test), 0))
            prepared = time.perf_counter() - started
            for name in self.classifiers:
                if not going():
                    raise CancelledError("The evaluation was stopped.")
                started = time.perf_counter()
                error = error_rate(name, samples, features, truth, generator)
                seconds = prepared + time.perf_counter() - started
                yield Result(method, None if epsilon is None else float(epsilon), name, fold, repeat, error, seconds)


def _majority(contingency: ContingencyTable) -> Samples:
    """Rows without features: every classifier then predicts the most frequent class."""
    counts = contingency.class_counts
    return Samples(np.empty((len(counts), 0)), np.arange(len(counts)), counts.astype(np.float64))


def _remembering(scorer: Scorer) -> Scorer:
    """Keep the last scores: repeats of a release score the same pool on the same records."""
    last: dict[bytes, np.ndarray] = {}

    def score(
        contingency: ContingencyTable, schema: Schema, levels: np.ndarray, epsilon: float, *, threads: int | None = None,
        progress: Progress | None = None,
    ) -> np.ndarray:  # fmt: skip
        digest = hashlib.blake2b(levels.tobytes())
        digest.update(repr((schema.names, epsilon)).encode())
        key = digest.digest()
        if key not in last:
            last.clear()
            last[key] = scorer(contingency, schema, levels, epsilon, threads=threads, progress=progress)
        return last[key]

    return score
