"""The classifiers of the evaluation, and the features they see ([A] section 4.1).

Training rows are unique and carry weights.  Numeric attributes enter as one ordered feature, categorical ones as an
indicator for each node; the special leaves ``missing`` and ``other`` of a numeric attribute get an indicator too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from core.contingency import group_rows
from core.encoding import Records
from core.errors import InputError
from core.grid import Grid
from core.release import Release
from core.schema import Schema
from core.synthesis import repaired_counts
from core.taxonomy import Taxonomy

CLASSIFIERS = {
    "tree": "CART decision tree",
    "svm": "SVM, radial kernel approximated by Nyström features",
    "svm-exact": "SVM, radial kernel, LibSVM",
}
"""Name → what it is.  The exact kernel machine needs minutes on tens of thousands of rows, its approximation seconds."""

NYSTROEM_COMPONENTS = 300
"""Landmarks of the approximated kernel (Williams and Seeger 2001)."""

PRUNING = 12.0
"""Cost-complexity of CART: a split must be worth so many records of the root's impurity (rpart's cp, times n)."""

LEAF_RECORDS = 7.0
"""Least weight of a leaf of CART, in records, as rpart's minbucket."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Training rows: unique, with weights.

    Parameters
    ----------
    features : ndarray of float64, shape (rows, features)
    classes : ndarray of int64, shape (rows,)
    weights : ndarray of float64, shape (rows,), > 0
    """

    features: np.ndarray
    classes: np.ndarray
    weights: np.ndarray


def release_samples(release: Release) -> Samples:
    """A release as training rows: one for each cell and class with a positive count."""
    counts = repaired_counts(release.counts)
    cell, label = np.nonzero(counts)
    nodes = np.unravel_index(cell, tuple(len(nodes) for nodes in release.nodes)) if release.grid else ()
    columns = dict(zip(release.grid, nodes, strict=True))
    return Samples(_node_features(release.schema, release.grid, columns, len(cell)), label, counts[cell, label] * 1.0)


def grid_features(schema: Schema, grid: Grid, codes: np.ndarray) -> np.ndarray:
    """Features of true records as the release sees them: the nodes of the grid above their leaves.

    Parameters
    ----------
    schema : Schema
    grid : dict of str to int
    codes : ndarray of uint16, shape (records, attributes)
    """
    columns = {
        name: schema.taxonomy(name).level_maps[level][codes[:, schema.names.index(name)]] for name, level in grid.items()
    }
    return _node_features(schema, grid, columns, len(codes))


def record_samples(records: Records, schema: Schema, rows: np.ndarray) -> Samples:
    """True records as training rows."""
    group, first = group_rows(np.column_stack([records.codes[rows], records.classes[rows].astype(np.uint16)]))
    numeric = [j for j, taxonomy in enumerate(schema.taxonomies) if taxonomy.numeric]
    if numeric:
        # Numbers inside one leaf still differ, so rows merge only where these agree too.
        keys = np.column_stack([records.numbers[rows][:, numeric], group])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    kept = rows[first]
    weights = np.bincount(group.ravel(), minlength=len(first)).astype(np.float64)
    return Samples(record_features(records, schema, kept), records.classes[kept], weights)


def record_features(records: Records, schema: Schema, rows: np.ndarray) -> np.ndarray:
    """Features of true records at full resolution: numbers as they are, an indicator for each category."""
    parts = []
    for j, taxonomy in enumerate(schema.taxonomies):
        codes = records.codes[rows, j]
        if not taxonomy.numeric:
            parts.append(_indicators(codes, range(len(taxonomy.leaves))))
            continue
        special = _special(taxonomy, taxonomy.height)
        numbers = np.where(np.isin(codes, special), taxonomy.leaf_intervals[0].high, records.numbers[rows, j])
        parts += [numbers[:, None], _indicators(codes, special)]
    return np.hstack(parts)


def error_rate(name: str, train: Samples, features: np.ndarray, truth: np.ndarray, generator: np.random.Generator) -> float:
    """Train on weighted rows and test on true records.

    Parameters
    ----------
    name : str
        A key of `CLASSIFIERS`.
    train : Samples
    features : ndarray of float64, shape (records, features)
    truth : ndarray of int64, shape (records,)
    generator : numpy.random.Generator
        For ties in the tree and the landmarks of the kernel.

    Returns
    -------
    float
        Share of misclassified records, 0 to 1.
    """
    if name not in CLASSIFIERS:
        raise InputError(f"There is no classifier “{name}”; choose from {', '.join(CLASSIFIERS)}.")
    if len(np.unique(train.classes)) < 2:
        guess = int(train.classes[0]) if len(train.classes) else 0
        return float(np.mean(truth != guess))
    if train.features.shape[1] == 0:
        guess = int(np.argmax(np.bincount(train.classes, train.weights)))
        return float(np.mean(truth != guess))
    seed = int(generator.integers(2**31))
    if name == "tree":
        return _tree_error(train, features, truth, seed)
    return _kernel_error(train, features, truth, seed, exact=name == "svm-exact")


def _tree_error(train: Samples, features: np.ndarray, truth: np.ndarray, seed: int) -> float:
    total = train.weights.sum()
    shares = np.bincount(train.classes, train.weights) / total
    tree = DecisionTreeClassifier(
        ccp_alpha=PRUNING / total * (1 - np.sum(shares**2)),
        min_weight_fraction_leaf=min(0.5, LEAF_RECORDS / total),
        random_state=seed,
    )
    tree.fit(train.features, train.classes, sample_weight=train.weights)
    return float(np.mean(tree.predict(features) != truth))


def _kernel_error(train: Samples, features: np.ndarray, truth: np.ndarray, seed: int, exact: bool) -> float:
    """Features to unit variance, C = 1 and γ = 1 / features, the defaults of LibSVM."""
    scaler = StandardScaler().fit(train.features, sample_weight=train.weights)
    inputs, tests = scaler.transform(train.features), scaler.transform(features)
    gamma = 1 / inputs.shape[1]
    if exact:
        machine = SVC(C=1.0, gamma=gamma, cache_size=1000, random_state=seed)
    else:
        # Landmarks are drawn by weight: rows of the synthetic table, not cells.
        drawn = np.random.default_rng(seed).choice(
            len(inputs), size=4 * NYSTROEM_COMPONENTS, p=train.weights / train.weights.sum()
        )
        landmarks = np.unique(drawn)
        kernel = Nystroem(gamma=gamma, n_components=min(NYSTROEM_COMPONENTS, len(landmarks)), random_state=seed)
        kernel.fit(inputs[landmarks])
        inputs, tests = kernel.transform(inputs), kernel.transform(tests)
        machine = LinearSVC(C=1.0, dual=False, random_state=seed)
    machine.fit(inputs, train.classes, sample_weight=train.weights)
    return float(np.mean(machine.predict(tests) != truth))


def _node_features(schema: Schema, grid: Grid, columns: dict[str, np.ndarray], rows: int) -> np.ndarray:
    parts = [np.empty((rows, 0))]
    for name, level in grid.items():
        taxonomy, nodes = schema.taxonomy(name), columns[name]
        if taxonomy.numeric:
            parts += [nodes[:, None].astype(np.float64), _indicators(nodes, _special(taxonomy, level))]
        else:
            parts.append(_indicators(nodes, range(taxonomy.level_sizes[level])))
    return np.hstack(parts)


def _special(taxonomy: Taxonomy, level: int) -> list[int]:
    """Places of the nodes of a numeric taxonomy that are not intervals."""
    return [place for place, node in enumerate(taxonomy.nodes(level)) if node.interval is None]


def _indicators(codes: np.ndarray, values: range | list[int]) -> np.ndarray:
    """One column for each value; a single one where there are two."""
    columns = list(values)[1:] if len(values) == 2 and isinstance(values, range) else list(values)
    return (codes[:, None] == np.array(columns, dtype=np.int64)[None, :]).astype(np.float64)
