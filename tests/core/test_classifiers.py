"""core.classifiers: what the classifiers see, and that weights stand for repeated rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.classifiers import (
    CLASSIFIERS,
    Samples,
    error_rate,
    grid_features,
    record_features,
    record_samples,
    release_samples,
)
from core.encoding import Records
from core.errors import InputError
from core.taxonomy import MISSING, Taxonomy
from tests.core.tables import categories, declare, intervals, node, release_of

REGION = Taxonomy(
    "region", node("Any", {"Coast": {"North": {}, "South": {}}, "Hills": {"East": {}, "West": {}}, "Isle": {}})
)
AGE = intervals("age", 0, 10, 20, 30, special=[MISSING])
SEX = categories("sex", "f", "m")
SCHEMA = declare(REGION, AGE, SEX)


def generator(seed: int = 0) -> np.random.Generator:
    """A generator of that seed."""
    return np.random.default_rng(seed)


def drawn_records(rows: int, seed: int = 0, missing: bool = True) -> Records:
    """Records of `SCHEMA` in which the class follows age and region, with noise."""
    random = generator(seed)
    numbers = np.ceil(random.random(rows) * 30)
    absent = missing & (random.random(rows) < 0.1)
    codes = np.column_stack(
        [random.integers(5, size=rows), np.where(absent, 3, np.ceil(numbers / 10) - 1), random.integers(2, size=rows)]
    )
    score = (numbers > 15) * 2.0 + (codes[:, 0] < 2) - 1.5 + random.normal(0, 0.7, rows)
    columns = np.full((rows, 3), np.nan)
    columns[:, 1] = np.where(absent, np.nan, numbers)
    return Records(codes.astype(np.uint16), (score > 0).astype(np.int64), columns, None, 0)


def test_release_becomes_weighted_rows() -> None:
    """Each cell and class with a positive count is one row with that weight; negative counts are left out."""
    samples = release_samples(
        release_of(SCHEMA, {"sex": 1, "age": 1}, [[5, -3], [0, 2], [-1, 0], [4, 4], *[[0, 0]] * 3, [7, 0]])
    )
    assert samples.weights.tolist() == [5, 2, 4, 4, 7]
    assert samples.classes.tolist() == [0, 1, 0, 1, 0]


def test_numeric_attributes_are_one_ordered_feature() -> None:
    """A numeric attribute enters as the place of its interval, with an indicator for each special leaf."""
    samples = release_samples(release_of(SCHEMA, {"age": 1}, [[1, 0]] * 4))
    assert samples.features.tolist() == [[0, 0], [1, 0], [2, 0], [3, 1]]


def test_categories_are_indicators() -> None:
    """A categorical attribute enters as an indicator for each node, a single one where there are two."""
    assert release_samples(release_of(SCHEMA, {"region": 1}, [[1, 0]] * 3)).features.tolist() == np.eye(3).tolist()
    assert release_samples(release_of(SCHEMA, {"sex": 1}, [[1, 0]] * 2)).features.tolist() == [[0], [1]]


@pytest.mark.parametrize("grid", [{}, {"region": 1}, {"region": 2, "sex": 1}, {"age": 1, "region": 1, "sex": 1}])
def test_records_are_seen_as_the_release_sees_them(grid: dict[str, int]) -> None:
    """The features of a true record are those of the cell that it falls into."""
    records = drawn_records(200)
    nodes = [
        SCHEMA.taxonomy(name).level_maps[level][records.codes[:, SCHEMA.names.index(name)]] for name, level in grid.items()
    ]
    sizes = [SCHEMA.taxonomy(name).level_sizes[level] for name, level in grid.items()]
    cells = math.prod(sizes)
    of_cells = release_samples(release_of(SCHEMA, grid, [[1, 0]] * cells)).features
    cell = np.ravel_multi_index(nodes, sizes) if grid else np.zeros(200, dtype=int)
    assert np.array_equal(grid_features(SCHEMA, grid, records.codes), of_cells[cell])


def test_true_records_keep_their_numbers() -> None:
    """Without privacy a classifier sees numbers as they are; a missing one is set apart by its indicator."""
    codes = np.array([[0, 1, 0], [4, 3, 1]], dtype=np.uint16)
    numbers = np.array([[np.nan, 12.5, np.nan], [np.nan, np.nan, np.nan]])
    features = record_features(Records(codes, np.array([0, 1]), numbers, None, 0), SCHEMA, np.arange(2))
    assert features.tolist() == [[1, 0, 0, 0, 0, 12.5, 0, 0], [0, 0, 0, 0, 1, 10.0, 1, 1]]
    assert np.isfinite(features).all()


@given(st.integers(1, 300), st.integers(0, 99))
@settings(max_examples=20)
def test_weights_count_the_records(rows: int, seed: int) -> None:
    """The unique rows of true records, repeated by weight, are the records again."""
    records = drawn_records(rows, seed)
    samples = record_samples(records, SCHEMA, np.arange(rows))
    repeated = np.repeat(np.column_stack([samples.features, samples.classes]), samples.weights.astype(int), axis=0)
    whole = np.column_stack([record_features(records, SCHEMA, np.arange(rows)), records.classes])
    assert sorted(map(tuple, repeated)) == sorted(map(tuple, whole))


def test_equal_records_are_one_row() -> None:
    """Records that agree in every feature and the class are merged; a different number keeps them apart."""
    codes = np.array([[0, 0, 0]] * 4, dtype=np.uint16)
    numbers = np.array([[np.nan, age, np.nan] for age in (5, 5, 6, 5)])
    samples = record_samples(Records(codes, np.array([0, 0, 0, 1]), numbers, None, 0), SCHEMA, np.arange(4))
    assert sorted(zip(samples.features[:, 5], samples.classes, samples.weights, strict=True)) == [
        (5, 0, 2),
        (5, 1, 1),
        (6, 0, 1),
    ]


@pytest.mark.parametrize("name", ["tree", "svm-exact"])
def test_weights_stand_for_repeated_rows(name: str) -> None:
    """Training on unique rows with weights and on repeated rows predicts the same."""
    records = drawn_records(400)
    unique = record_samples(records, SCHEMA, np.arange(400))
    times = unique.weights.astype(int)
    assert times.max() > 1
    repeated = Samples(np.repeat(unique.features, times, axis=0), np.repeat(unique.classes, times), np.ones(times.sum()))
    for record in range(0, 400, 20):
        test = record_features(records, SCHEMA, np.array([record]))
        errors = {error_rate(name, samples, test, np.zeros(1), generator()) for samples in (unique, repeated)}
        assert len(errors) == 1


def test_tree_learns_and_prunes() -> None:
    """The tree finds a rule that the class follows, and makes nothing of pure noise."""
    features = np.arange(200.0)[:, None]
    rule = Samples(features, (features[:, 0] > 120).astype(np.int64), np.ones(200))
    assert error_rate("tree", rule, features, rule.classes, generator()) == 0
    heavy = Samples(np.zeros((2, 1)), np.array([0, 1]), np.array([3.0, 1.0]))
    assert error_rate("tree", heavy, np.zeros((4, 1)), np.array([0, 0, 0, 1]), generator()) == 0.25


def test_approximated_kernel_is_close_to_the_exact_one() -> None:
    """On a small table the Nyström machine errs as the exact kernel machine does, to within two points in a hundred."""
    records, unseen = drawn_records(600, 1), drawn_records(600, 2)
    samples = record_samples(records, SCHEMA, np.arange(600))
    features = record_features(unseen, SCHEMA, np.arange(600))
    errors = {name: error_rate(name, samples, features, unseen.classes, generator()) for name in ("svm", "svm-exact")}
    majority = min(unseen.classes.mean(), 1 - unseen.classes.mean())
    assert errors["svm-exact"] < 0.6 * majority
    assert errors["svm"] == pytest.approx(errors["svm-exact"], abs=0.02)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_several_classes_are_learnt(name: str) -> None:
    """Every classifier tells three classes apart."""
    features = np.repeat(np.arange(3.0), 30)[:, None]
    classes = np.repeat(np.arange(3), 30)
    assert error_rate(name, Samples(features, classes, np.ones(90)), features, classes, generator()) == 0


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    ("train", "error"),
    [
        (Samples(np.ones((1, 1)), np.array([1]), np.array([2.0])), 2 / 3),
        (Samples(np.empty((2, 0)), np.array([0, 1]), np.array([1.0, 5.0])), 2 / 3),
        (Samples(np.empty((0, 1)), np.array([], dtype=np.int64), np.array([])), 1 / 3),
    ],
    ids=["one class", "no features", "no rows"],
)
def test_nothing_to_learn_from(name: str, train: Samples, error: float) -> None:
    """One class, no features or no rows: the guess is the heaviest class, or the first one."""
    test = np.ones((3, train.features.shape[1]))
    assert error_rate(name, train, test, np.array([0, 0, 1]), generator()) == pytest.approx(error)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifier_repeats_with_its_generator(name: str) -> None:
    """The same generator gives the same error."""
    records = drawn_records(300)
    samples, features = (
        record_samples(records, SCHEMA, np.arange(150)),
        record_features(records, SCHEMA, np.arange(150, 300)),
    )
    errors = {error_rate(name, samples, features, records.classes[150:], generator(7)) for _ in range(2)}
    assert len(errors) == 1


def test_unknown_classifier_is_refused() -> None:
    """A classifier that does not exist is refused with those that do."""
    with pytest.raises(InputError, match="no classifier “forest”; choose from tree, svm, svm-exact"):
        error_rate("forest", Samples(np.ones((1, 1)), np.zeros(1), np.ones(1)), np.ones((1, 1)), np.zeros(1), generator())
