"""core.evaluation: trained on the synthetic, tested on held-out true records; for the curator only."""

from __future__ import annotations

import csv
import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import evaluation
from core.bundle import Bundle
from core.encoding import Records, read_records
from core.errors import CancelledError, InputError, PrivacyError
from core.evaluation import METHODS, Evaluation, Result
from core.mechanisms import NumpyNoise
from core.recipes import RECIPES
from core.schema import Label, PrivacyUnit, Schema
from core.source import open_table
from core.taxonomy_io import read_taxonomies
from core.visibility import Visibility
from tests.core.tables import categories, declare, intervals

SCHEMA = declare(categories("a", "x", "z"), intervals("b", 0, 10, 20, 30, 40), categories("c", "u", "v", "w"))


def drawn_records(rows: int = 603, folds: int | None = None, flipped: float = 0.1, seed: int = 0) -> Records:
    """Records whose class is 1 above b = 20, but for a share that is flipped; the folds are not of equal size."""
    random = np.random.default_rng(seed)
    numbers = random.integers(1, 41, size=rows)
    codes = np.column_stack([random.integers(2, size=rows), (numbers - 1) // 10, random.integers(3, size=rows)])
    columns = np.full((rows, 3), np.nan)
    columns[:, 1] = numbers
    classes = ((numbers > 20) ^ (random.random(rows) < flipped)).astype(np.int64)
    drawn = None if folds is None else 5 + random.integers(folds, size=rows)
    return Records(codes.astype(np.uint16), classes, columns, drawn, 0)


def results_of(records: Records, seed: int = 0, schema: Schema = SCHEMA, **knobs: Any) -> list[Result]:
    """The results of an evaluation with one tree at ε = 1, unless the knobs say otherwise."""
    standard = {"epsilons": (Fraction(1),), "methods": ("majority",), "classifiers": ("tree",), "folds": 3}
    noise = NumpyNoise(np.random.default_rng(seed))
    return list(Evaluation(**(standard | knobs)).run(records, schema, noise))


# What is measured


def test_majority_is_counted() -> None:
    """Majority errs on every held-out record whose class is not the most frequent one of the training part."""
    records = drawn_records(folds=4)
    assert records.folds is not None
    for result in results_of(records):
        test = records.folds == result.fold
        guess = np.argmax(np.bincount(records.classes[~test]))
        assert result.error == np.mean(records.classes[test] != guess)


def test_true_records_set_the_mark() -> None:
    """Trained on true records the tree finds the rule: no error without flips, and about the share of flips with them."""
    assert [result.error for result in results_of(drawn_records(flipped=0), methods=("noise-free",))] == [0, 0, 0]
    flipped = results_of(drawn_records(3_000, flipped=0.1), methods=("noise-free",))
    assert np.mean([result.error for result in flipped]) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("method", RECIPES)
@pytest.mark.parametrize("classifier", ["tree", "svm"])
def test_releases_approach_the_true_records(method: str, classifier: str) -> None:
    """With much budget the release of every recipe carries the rule to both classifiers."""
    results = results_of(drawn_records(flipped=0), methods=(method,), classifiers=(classifier,), epsilons=(Fraction(20),))
    assert max(result.error for result in results) < 0.02


def test_less_budget_errs_more() -> None:
    """Averaged over many releases, a small budget costs accuracy."""
    results = results_of(drawn_records(150), methods=("tuned",), epsilons=(Fraction(1, 50), Fraction(10)), repeats=15)
    small, large = (np.mean([result.error for result in results if result.epsilon == epsilon]) for epsilon in (0.02, 10))
    assert small > large + 0.1


# Folds and repeats


def test_results_name_their_case() -> None:
    """Recipes have a result for each ε, repeat and classifier of a fold; methods without privacy one, without an ε."""
    results = results_of(
        drawn_records(folds=2), methods=("tuned", "noise-free"), epsilons=(Fraction(1), Fraction(1, 2)),
        classifiers=("tree", "svm"), repeats=2,
    )  # fmt: skip
    cases = [(r.method, r.epsilon, r.classifier, r.fold, r.repeat) for r in results]
    assert len(set(cases)) == len(cases)
    assert set(cases) == {
        *(("tuned", e, c, f, k) for e in (1.0, 0.5) for c in ("tree", "svm") for f in (5, 6) for k in (0, 1)),
        *(("noise-free", None, c, f, 0) for c in ("tree", "svm") for f in (5, 6)),
    }


def test_results_are_marked() -> None:
    """Every result says how long it took and that it is for the curator only; a bundle refuses it."""
    for result in results_of(drawn_records(), methods=METHODS):
        assert result.seconds >= 0
        assert 0 <= result.error <= 1
        assert result.visibility is Visibility.CURATOR_ONLY
        with pytest.raises(PrivacyError):
            Bundle({"utility.json": result})
    assert "visibility" not in dataclasses.asdict(result)


def test_folds_of_a_column_are_used() -> None:
    """The folds of the records are held out one after the other, under their own numbers."""
    assert [result.fold for result in results_of(drawn_records(folds=4), folds=10)] == [5, 6, 7, 8]


@pytest.mark.parametrize("folds", [None, 4])
def test_only_some_folds(folds: int | None) -> None:
    """Only the folds asked for are run, with the same result as in a run of all."""
    records = drawn_records(folds=folds)
    every = {result.fold: result.error for result in results_of(records, folds=4, methods=("noise-free",))}
    wanted = tuple(sorted(every))[1:3]
    some = results_of(records, folds=4, methods=("noise-free",), only_folds=wanted)
    assert {result.fold: result.error for result in some} == {fold: every[fold] for fold in wanted}


def test_drawn_folds_are_stratified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn folds hold out every record once in each repeat, with the classes in proportion, and differ between repeats."""
    records = drawn_records(103)
    seen = held_out_parts(monkeypatch, records, folds=5, repeats=2)
    for repeat in (seen[:5], seen[5:]):
        assert (np.sum(repeat, axis=0) == 1).all()
        for label in (0, 1):
            counts = [int((records.classes[part] == label).sum()) for part in repeat]
            assert max(counts) - min(counts) <= 1
    assert not np.array_equal(seen[0], seen[5])


def held_out_parts(monkeypatch: pytest.MonkeyPatch, records: Records, **knobs: Any) -> list[np.ndarray]:
    """Masks of the held-out records, in the order of the run."""
    parts: list[np.ndarray] = []
    original = Records.contingency

    def watched(self: Records, classes: int, rows: np.ndarray) -> Any:
        part = np.ones(len(self.codes), dtype=bool)
        part[rows] = False
        parts.append(part)
        return original(self, classes, rows)

    monkeypatch.setattr(Records, "contingency", watched)
    results_of(records, **knobs)
    return parts


def test_each_training_part_has_its_share_of_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """A declared size counts for the whole table: a training part of nine tenths gets nine tenths of it."""
    sizes: list[int | None] = []

    def watched(contingency: Any, schema: Schema, *arguments: Any, **keywords: Any) -> Any:
        sizes.append(schema.size)
        return run(contingency, schema, *arguments, **keywords)

    run = evaluation.run
    monkeypatch.setattr(evaluation, "run", watched)
    results_of(drawn_records(600), schema=dataclasses.replace(SCHEMA, size=5_000), methods=("tuned",), folds=10)
    assert sizes == [4_500] * 10


def test_evaluation_repeats_with_its_seeds() -> None:
    """The same seeds give the same errors, another seed of the noise others; time is no part of it."""
    first, again, other = (
        [result.error for result in results_of(drawn_records(), seed, methods=("tuned",), epsilons=(Fraction(1, 20),))]
        for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_declared_class_without_records() -> None:
    """A class that is declared but has no record does not stop the evaluation."""
    records = drawn_records()
    between = dataclasses.replace(records, classes=2 * records.classes)
    schema = declare(*SCHEMA.taxonomies, values=("p", "none", "q"))
    errors = [result.error for result in results_of(between, schema=schema, methods=("noise-free", "tuned"))]
    assert len(errors) == 6
    assert max(errors) < 0.4


# What is refused


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"methods": ("best",)}, "no method “best”; choose from tuned, journal-2018, paper-2015, noise-free, majority"),
        ({"methods": ()}, "at least one method"),
        ({"classifiers": ("forest",)}, "no classifier “forest”; choose from tree, svm, svm-exact"),
        ({"classifiers": ()}, "at least one classifier"),
        ({"folds": 1}, r"number of folds \(1\) must be at least 2"),
        ({"repeats": 0}, r"number of repeats \(0\) must be at least 1"),
        ({"only_folds": (1, 3)}, "no fold 3; folds are 0 to 2"),
        ({"folds": 300}, r"fewer records than there are folds \(300\); choose fewer folds"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(knobs: dict[str, Any], message: str) -> None:
    """Unknown names, and folds or repeats that cannot be, are refused with what to choose instead."""
    with pytest.raises(InputError, match=message):
        results_of(drawn_records(), **knobs)


def test_one_fold_is_none() -> None:
    """A fold column with one fold leaves nothing to train on."""
    with pytest.raises(InputError, match="holds one fold only"):
        results_of(drawn_records(folds=1))


def test_evaluation_reports_and_stops() -> None:
    """Progress counts up to the number of results; when it says no, nothing more is computed."""
    reports: list[tuple[int, int]] = []

    def report(done: int, total: int) -> bool:
        reports.append((done, total))
        return done < 3

    standard = Evaluation(epsilons=(Fraction(1),), methods=("tuned", "majority"), classifiers=("tree",), folds=3)
    run = standard.run(drawn_records(), SCHEMA, NumpyNoise(np.random.default_rng(0)), report)
    got = [next(run), next(run), next(run)]
    with pytest.raises(CancelledError):
        next(run)
    assert len(got) == 3
    assert {total for _, total in reports} == {6}
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)
    reports.clear()
    list(standard.run(drawn_records(), SCHEMA, NumpyNoise(np.random.default_rng(0)), lambda *now: not reports.append(now)))
    assert reports[-1] == (6, 6)


# Several classes


@pytest.fixture(scope="module")
def marital(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Schema, Path]:
    """Adult with the marital status, merged to three classes, as the label and the income as an attribute."""
    merged = {
        "Married-civ-spouse": "Married-Partner-present", "Married-AF-spouse": "Married-Partner-present",
        "Married-spouse-absent": "Married-Partner-absent", "Separated": "Married-Partner-absent",
        "Divorced": "Married-Partner-absent", "Widowed": "Married-Partner-absent", "Never-married": "Never-married",
    }  # fmt: skip
    path = tmp_path_factory.mktemp("marital") / "adult_marital.csv"
    with (shared_data / "adult.csv").open(encoding="utf-8", newline="") as read, path.open("w", encoding="utf-8") as write:
        reader = csv.DictReader(read)
        names = ["income" if name == "class" else name for name in reader.fieldnames or ()]
        writer = csv.writer(write)
        writer.writerow(names)
        for row in reader:
            row["marital-status"] = merged[row["marital-status"]]
            writer.writerow(row.values())
    taxonomies = read_taxonomies((shared_data / "adult_marital_hierarchy.json").read_text(encoding="utf-8"))
    label = Label("marital-status", tuple(dict.fromkeys(merged.values())))
    return Schema(tuple(taxonomies.values()), label, PrivacyUnit("person", 1), size=45_000), path


@pytest.mark.data
def test_adult_marital_status(marital: tuple[Schema, Path]) -> None:
    """The three-class label of Adult: the release at ε = 1 is near the tree on true records and far below majority."""
    schema, path = marital
    records = read_records(open_table(path), schema, "fold")
    assert records.codes.shape == (45_222, 14)
    errors = {
        result.method: result.error
        for result in results_of(records, schema=schema, methods=("paper-2015", "noise-free", "majority"), only_folds=(0,))
    }
    assert errors["majority"] == pytest.approx(0.5337, abs=0.02)
    assert errors["noise-free"] < 0.14
    assert errors["paper-2015"] < 0.16
