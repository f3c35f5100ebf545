"""What every test may ask for: the real tables beside the project, and hypothesis without a clock."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from core.contingency import ContingencyTable
from core.encoding import Records, read_records
from core.schema import Label, PrivacyUnit, Schema
from core.source import open_table
from core.taxonomy_io import read_taxonomies

settings.register_profile("project", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("project")


@dataclass(frozen=True, eq=False)
class Adult:
    """UCI Adult with the authors' taxonomies."""

    schema: Schema
    records: Records

    def outside_fold(self, fold: int) -> ContingencyTable:
        """The training part of one fold."""
        assert self.records.folds is not None
        return self.records.contingency(2, (self.records.folds != fold).nonzero()[0])


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real tables; tests that need it are skipped where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real tables of ../shared are not beside the project")
    return folder


@pytest.fixture(scope="session")
def adult(shared_data: Path) -> Adult:
    """Adult, 45,222 records, 14 attributes."""
    taxonomies = read_taxonomies((shared_data / "adult_hierarchy.json").read_text(encoding="utf-8"))
    schema = Schema(tuple(taxonomies.values()), Label("class", ("<=50K", ">50K")), PrivacyUnit("person", 1))
    return Adult(schema, read_records(open_table(shared_data / "adult.csv"), schema, fold_column="fold"))
