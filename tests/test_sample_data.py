"""sample_data: invented tables that come out of their script byte for byte, with declarations that fit them."""

from __future__ import annotations

import re
import runpy
import shutil
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from core.encoding import read_contingency, read_records
from core.schema import Declaration, Schema
from core.source import open_table
from core.taxonomy_io import read_taxonomies
from sample_data import SAMPLES, sample_path


def declaration_of(sample: str) -> Declaration:
    """What is declared about a sample."""
    return Declaration.read(sample_path(sample).read_text(encoding="utf-8"))


def schema_of(declaration: Declaration) -> Schema:
    """The schema of a sample."""
    taxonomies = read_taxonomies(sample_path(declaration.taxonomies).read_text(encoding="utf-8"))
    return Schema(
        tuple(taxonomies.values()), declaration.label, declaration.unit, declaration.size, declaration.missing
    )  # fmt: skip


@pytest.fixture(scope="module")
def regenerated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the script has been run again; skipped under other versions than the tables were written with."""
    readme = sample_path("README.md").read_text(encoding="utf-8")
    for library in ("NumPy", "pandas"):
        written = re.search(rf"{library} (\d+\.\d+)", readme)
        assert written
        if version(library.lower()).split(".")[:2] != written[1].split("."):
            pytest.skip(f"the tables were written with {library} {written[1]}, whose random streams or texts may differ")
    folder = tmp_path_factory.mktemp("sample_data")
    for name in ("generate.py", *SAMPLES.values()):
        shutil.copy(sample_path(name), folder)
    runpy.run_path(str(folder / "generate.py"), run_name="__main__")
    return folder


@pytest.mark.parametrize("sample", SAMPLES)
def test_script_writes_the_same_bytes(regenerated: Path, sample: str) -> None:
    """The script writes the table that stands beside it, byte for byte."""
    table = declaration_of(sample).table
    assert (regenerated / table).read_bytes() == sample_path(table).read_bytes()


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_cell_is_covered(sample: str) -> None:
    """The table fits its declarations: all records are counted, under every declared class, and no column is left over."""
    declaration = declaration_of(sample)
    schema = schema_of(declaration)
    source = open_table(sample_path(declaration.table))
    assert sorted(source.columns) == sorted([*schema.names, schema.label.name])
    counted = read_contingency(source, schema)
    assert counted.dropped == 0
    assert counted.contingency.n == declaration.size
    assert (counted.contingency.class_counts > 0).all()
    assert not schema.suggested


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_leaf_occurs(sample: str) -> None:
    """No leaf of a taxonomy stands for nothing: every one has records."""
    schema = schema_of(declaration_of(sample))
    contingency = read_contingency(open_table(sample_path(declaration_of(sample).table)), schema).contingency
    for column, taxonomy in enumerate(schema.taxonomies):
        records = contingency.marginal(column, len(taxonomy.leaves)).sum(axis=1)
        assert [leaf for leaf, count in zip(taxonomy.leaves, records, strict=True) if not count] == []


@pytest.mark.parametrize(("sample", "rows", "attributes", "classes"), [("census", 45_000, 12, 2), ("clinic", 10_000, 10, 3)])
def test_samples_are_large_enough(sample: str, rows: int, attributes: int, classes: int) -> None:
    """The samples have the rows, attributes and classes of the tables that the program is for."""
    schema = schema_of(declaration_of(sample))
    assert schema.size is not None
    assert schema.size >= rows
    assert len(schema.names) >= attributes
    assert len(schema.label.values) == classes


@pytest.mark.parametrize("sample", SAMPLES)
def test_label_can_be_learnt(sample: str) -> None:
    """A tree on the leaf codes errs far less than naming the commonest class, and by no means never."""
    schema = schema_of(declaration_of(sample))
    records = read_records(open_table(sample_path(declaration_of(sample).table)), schema)
    tree = DecisionTreeClassifier(max_leaf_nodes=60, random_state=0)
    error = np.mean(cross_val_predict(tree, records.codes, records.classes, cv=3) != records.classes)
    majority = 1 - np.bincount(records.classes).max() / len(records.classes)
    assert 0.3 * majority < error < 0.7 * majority


def test_unknown_sample_is_refused() -> None:
    """A name that is neither a sample nor one of the files is refused with those that are."""
    with pytest.raises(FileNotFoundError, match="must be one of census, clinic"):
        sample_path("survey")
