"""core.bundle: what leaves the building, and nothing else."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.bundle import Bundle, make_bundle
from core.contingency import ContingencyTable
from core.errors import InputError, PrivacyError
from core.mechanisms import NumpyNoise, OpenDPNoise
from core.recipes import JOURNAL_2018, PAPER_2015, RECIPES, TUNED
from core.release import Release, run
from core.schema import Label, MissingPolicy, PrivacyUnit, Schema
from core.taxonomy import MISSING
from core.taxonomy_io import read_taxonomies
from core.visibility import CuratorOutput, PrivateOutput, PublicOutput
from tests.core.tables import categories, declare, intervals, release_of

CREATED = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
FILES = [
    "synthetic.csv", "synthetic.parquet", "synthetic_sampled.csv", "synthetic_sampled.parquet", "histogram.csv",
    "taxonomies.json", "manifest.json",
]  # fmt: skip

SCHEMA = declare(
    categories("a", "x", "z"), intervals("b", 0, 1, 2, special=[MISSING]), categories("c", "u", "v", "w"),
    missing=MissingPolicy.LEAF, size=1_000, rows=3,
)  # fmt: skip

N = 1_009
"""A number of records that no other figure of a release has."""


def table(n: int = N) -> ContingencyTable:
    """A table of `n` records in which the label follows the first attribute."""
    generator = np.random.default_rng(0)
    codes = generator.integers([2, 3, 3], size=(n, 3))
    return ContingencyTable.from_records(codes, (codes[:, 0] + (generator.random(n) < 0.2)) % 2, 2)


def bundle_of(release: Release, seed: int = 0, rule: Any = "clip") -> Bundle:
    """The bundle of a release."""
    return make_bundle(release, CREATED, np.random.default_rng(seed), rule)


@pytest.fixture(scope="module")
def release() -> Release:
    """A private release with the default recipe."""
    return run(table(), SCHEMA, TUNED, Fraction("0.7"), OpenDPNoise())


def leaves(document: Any) -> Iterator[Any]:
    """Every value of a JSON document."""
    if isinstance(document, dict | list):
        for part in document.values() if isinstance(document, dict) else document:
            yield from leaves(part)
    else:
        yield document


# What a bundle takes


@pytest.mark.parametrize(
    "output", [CuratorOutput(b""), b"bytes", "text", None, object()], ids=lambda output: type(output).__name__
)
def test_only_publishable_types_are_taken(output: Any) -> None:
    """A bundle takes public outputs and private releases; anything else is refused by its type, with the file named."""
    Bundle({"a": PublicOutput(b""), "b": PrivateOutput(b"")})
    with pytest.raises(PrivacyError, match=r"“utility\.csv” is for the curator only"):
        Bundle({"a": PublicOutput(b""), "utility.csv": output})


def test_files_of_a_release(release: Release) -> None:
    """A release is both shapes as CSV and Parquet, the histogram, the taxonomies and the manifest; only declarations are public."""
    bundle = bundle_of(release)
    assert list(bundle.files) == FILES
    assert [name for name, output in bundle.files.items() if isinstance(output, PublicOutput)] == ["taxonomies.json"]


# The tables


def test_tables_are_those_of_the_histogram(release: Release) -> None:
    """The CSV files have a row for each positive count, and the histogram every noisy count."""
    bundle = bundle_of(release)
    expected = int(np.maximum(release.counts, 0).sum())
    assert len(pd.read_csv(io.BytesIO(bundle["synthetic.csv"]))) == expected
    assert len(pd.read_csv(io.BytesIO(bundle["synthetic_sampled.csv"]))) == expected
    histogram = pd.read_csv(io.BytesIO(bundle["histogram.csv"]))
    assert histogram["noisy_count"].tolist() == release.counts.ravel().tolist()


@pytest.mark.parametrize("name", ["synthetic", "synthetic_sampled"])
def test_parquet_holds_the_same_rows(name: str) -> None:
    """CSV and Parquet are the same table in the same order; mixed columns are text, whole numbers are integers."""
    schema = declare(intervals("b", 0, 4, 9, special=[MISSING]), intervals("age", 0, 10, 20), categories("code", "007", "1"))
    counts = [[3, 1]] * (3 * 2 * 2)
    bundle = bundle_of(release_of(schema, {"b": 1, "age": 1, "code": 1}, counts))
    text = pd.read_csv(io.BytesIO(bundle[f"{name}.csv"]), dtype=str, keep_default_na=False)
    typed = pd.read_parquet(io.BytesIO(bundle[f"{name}.parquet"]))
    assert typed.astype(str).to_dict("list") == text.to_dict("list")
    assert typed["age"].dtype == (np.int64 if name == "synthetic_sampled" else "str")
    assert typed["b"].dtype == "str"


def test_release_without_rows_is_a_table_with_columns() -> None:
    """Counts that are all negative give empty tables that can be read."""
    bundle = bundle_of(release_of(SCHEMA, {"a": 1}, [[-1, -1], [-2, 0]]))
    for name in ("synthetic", "synthetic_sampled"):
        typed = pd.read_parquet(io.BytesIO(bundle[f"{name}.parquet"]))
        assert len(typed) == 0
        assert list(typed.columns) == list(pd.read_csv(io.BytesIO(bundle[f"{name}.csv"])).columns)


def test_taxonomies_are_those_declared(release: Release) -> None:
    """The taxonomies of the bundle are the declared ones, in the exchange format."""
    published = read_taxonomies(bundle_of(release)["taxonomies.json"].decode())
    assert tuple(published.values()) == SCHEMA.taxonomies


# The manifest


def test_manifest_digests_every_other_file(release: Release) -> None:
    """The manifest lists the SHA-256 of every file but itself."""
    bundle = bundle_of(release)
    assert bundle.manifest["files"] == {name: hashlib.sha256(bundle[name]).hexdigest() for name in FILES[:-1]}


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)
def test_manifest_holds_every_parameter(recipe: Any) -> None:
    """Guarantee, recipe, split, draws, declarations, pool, grid and repair: the manifest says all of them, exactly."""
    done = run(table(), SCHEMA, recipe, Fraction("0.7"), OpenDPNoise())
    manifest = bundle_of(done, rule="project").manifest
    assert manifest["created"] == "2024-05-06T07:08:09+00:00"
    assert manifest["private"] is True
    assert manifest["guarantee"] == {
        "definition": "pure ε-differential privacy",
        "neighbours": "tables that differ by adding or removing one record",
        "epsilon_per_record": "7/10",
        "unit": "person",
        "records_per_unit_at_most": 3,
        "epsilon_per_unit": "21/10",
        "epsilon_spent": float(done.spent),
    }
    assert manifest["recipe"]["name"] == recipe.name
    assert sum(Fraction(part["epsilon"]) for part in manifest["split"].values()) == Fraction("0.7")
    assert [draw["step"] for draw in manifest["draws"]] == [spend.step for spend in done.spends]
    assert all(draw["epsilon_spent_by_map"] <= float(Fraction(draw["epsilon_granted"])) for draw in manifest["draws"])
    assert sum(Fraction(draw["epsilon_granted"]) for draw in manifest["draws"]) == Fraction("0.7")
    assert manifest["records"]["missing_values"] == "leaf"
    assert manifest["records"]["source"] == done.plan.size_source
    assert manifest["records"]["number_used"] == done.plan.n
    assert manifest["label"] == {"name": "y", "values": ["p", "q"]}
    assert manifest["attributes"] == ["a", "b", "c"]
    assert manifest["pool"] == {
        "cell_cap": done.cap,
        "size": done.pool_size,
        "feature_selection": False,
        "k": None,
        "candidates": ["a", "b", "c"],
        "dropped": [],
    }
    assert manifest["grid"] == done.grid
    assert manifest["cells"] == len(done.counts)
    assert "projected" in manifest["negative_counts"]
    assert manifest["left_out_of_sampled"] == [name for name in "abc" if name not in done.grid]
    assert manifest["synthetic_rows"] == len(pd.read_csv(io.BytesIO(bundle_of(done, rule="project")["synthetic.csv"])))


@pytest.mark.parametrize("epsilon", ["0.1", "1", "10", "100"])
def test_exact_number_of_records_is_not_published(epsilon: str) -> None:
    """Where paper-2015 has no declared size, neither the exact n nor a figure that it can be computed from is published."""
    undeclared = declare(*SCHEMA.taxonomies, missing=MissingPolicy.LEAF)
    done = run(table(), undeclared, PAPER_2015, Fraction(epsilon), OpenDPNoise())
    assert done.plan.n == N
    manifest = bundle_of(done).manifest
    assert manifest["records"] == {"number_used": None, "source": "exact", "missing_values": "leaf"}
    assert manifest["pool"]["cell_cap"] is None
    assert manifest["pool"]["size"] is None
    del manifest["synthetic_rows"]  # paid for: the sum of noisy counts
    assert not {N, str(N), float(N), done.cap} & set(leaves(manifest))
    assert any("exact number of records" in caveat for caveat in manifest["caveats"])


@pytest.mark.parametrize("recipe", [TUNED, JOURNAL_2018], ids=lambda recipe: recipe.name)
def test_bought_number_of_records_is_published(recipe: Any) -> None:
    """A number of records that was bought with noise is published as such, with its draw."""
    done = run(table(), declare(*SCHEMA.taxonomies), recipe, Fraction(1), OpenDPNoise())
    manifest = bundle_of(done).manifest
    assert manifest["records"]["source"] == "noisy"
    assert manifest["records"]["number_used"] == done.plan.n
    assert manifest["draws"][0]["step"] == "number of records"
    assert not manifest["caveats"]


def test_repeatable_noise_is_never_released() -> None:
    """A run with noise for experiments has no bundle: nothing of it may leave the building."""
    with pytest.raises(PrivacyError, match="for experiments only"):
        bundle_of(run(table(), SCHEMA, TUNED, Fraction(1), NumpyNoise(np.random.default_rng(0))))


def test_what_is_not_private_says_so() -> None:
    """Suggested declarations are marked in the manifest, in words and for programs."""
    schema = Schema(
        (categories("a", "x", "z", suggested=True), *SCHEMA.taxonomies[1:]),
        Label("y", ("p", "q"), suggested=True), PrivacyUnit("person", 1),
    )  # fmt: skip
    manifest = bundle_of(run(table(), schema, TUNED, Fraction(1), OpenDPNoise())).manifest
    assert "“a”, “y” were read from the private data" in manifest["caveats"][0]
    assert manifest["suggested_from_data"] == ["a", "y"]


def test_manifest_is_plain_json(release: Release) -> None:
    """The manifest is strict JSON in UTF-8, without NaN, and ends with a line end."""
    content = bundle_of(release)["manifest.json"]
    assert json.loads(content, parse_constant=pytest.fail) == bundle_of(release).manifest
    assert content.endswith(b"}\n")
    assert "ε-differential privacy".encode() in content


def test_bundle_repeats_with_its_generator(release: Release) -> None:
    """Making a bundle draws no noise: the same release, time and generator give the same bytes."""
    assert bundle_of(release, 1).files == bundle_of(release, 1).files
    assert bundle_of(release, 1)["histogram.csv"] == bundle_of(release, 2)["histogram.csv"]


# On disk


def test_archive_holds_every_file(release: Release) -> None:
    """The ZIP lists all files of the bundle with their bytes."""
    bundle = bundle_of(release)
    with zipfile.ZipFile(io.BytesIO(bundle.archive())) as archive:
        assert archive.namelist() == FILES
        assert archive.testzip() is None
        assert all(archive.read(name) == bundle[name] for name in FILES)


@pytest.mark.parametrize("folder", [".", "new", "new/nested"])
def test_bundle_is_written_into_a_new_or_empty_folder(tmp_path: Path, release: Release, folder: str) -> None:
    """All files are written into a folder that is empty or not there yet."""
    bundle = bundle_of(release)
    paths = bundle.write(tmp_path / folder)
    assert [path.name for path in paths] == FILES
    assert all(path.read_bytes() == bundle[path.name] for path in paths)


def test_nothing_is_overwritten(tmp_path: Path, release: Release) -> None:
    """A folder that holds anything, a file in the folder's place and a second write are refused, and all stays as it was."""
    bundle = bundle_of(release)
    bundle.write(tmp_path / "first")
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / ".hidden").write_text("earlier")
    (tmp_path / "file").write_text("earlier")
    for taken in ("first", "used", "file"):
        with pytest.raises(InputError, match=f"“{taken}” is not empty; choose a new folder"):
            bundle_of(release, 1).write(tmp_path / taken)
    assert (tmp_path / "file").read_text() == "earlier"
    assert [path.name for path in (tmp_path / "used").iterdir()] == [".hidden"]
    assert (tmp_path / "first" / "synthetic.csv").read_bytes() == bundle["synthetic.csv"]


@pytest.mark.parametrize("folder", ["file/below", "x" * 300])
def test_folder_that_cannot_be_made_is_an_input_error(tmp_path: Path, release: Release, folder: str) -> None:
    """A folder below a file, or with an impossible name, is refused in a sentence."""
    (tmp_path / "file").write_text("earlier")
    with pytest.raises(InputError, match="cannot be made; choose another folder"):
        bundle_of(release).write(tmp_path / folder)
