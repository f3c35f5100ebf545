"""An officer's way through the application in a real browser, from a table to the downloaded files."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

import sample_data
from core.schema import Declaration
from core.taxonomy_io import read_taxonomies
from tests.dashboard.pages import SMALL

pytestmark = pytest.mark.browser


def test_five_clicks_from_a_sample_to_a_private_table(page: Page, address: str, tmp_path: Path) -> None:
    """The whole way on a sample: five steps, one press of Release, and files with declared columns and values only."""
    page.goto(address)
    page.get_by_role("button", name="Use this sample").nth(1).click()
    expect(page.get_by_role("heading", name="Clinic (invented): the first rows")).to_be_visible()
    for following in ("Taxonomies", "Privacy budget", "Preview", "Release"):
        page.get_by_role("button", name=f"Next: {following}").click()
        expect(page.get_by_role("heading", name=following, exact=True, level=1)).to_be_visible()
        _no_sideways_scrolling(page)
    page.get_by_test_id("stMain").get_by_role("button", name="Release").click()
    expect(page.get_by_text("The chosen grid", exact=True)).to_be_visible(timeout=120_000)
    page.get_by_text("Single files").click()

    declared = Declaration.read(sample_data.sample_path("clinic").read_text(encoding="utf-8"))
    taxonomies = read_taxonomies(sample_data.sample_path(declared.taxonomies).read_text(encoding="utf-8"))
    groups = pd.read_csv(_download(page, "Synthetic table, groups (CSV)", tmp_path), dtype=str, keep_default_na=False)
    assert list(groups.columns) == [*taxonomies, declared.label.name]
    assert len(groups) > 1_000
    for name, taxonomy in taxonomies.items():
        nodes = {label for level in range(taxonomy.height + 1) for label in taxonomy.labels(level)} | {"Any"}
        assert set(groups[name]) <= nodes
    assert set(groups[declared.label.name]) <= set(declared.label.values)

    manifest = json.loads(_download(page, "Manifest with every parameter (JSON)", tmp_path).read_text(encoding="utf-8"))
    assert manifest["guarantee"]["epsilon_spent"] <= float(manifest["guarantee"]["epsilon_per_record"])
    assert manifest["private"] is True
    assert manifest["caveats"] == []
    assert manifest["synthetic_rows"] == len(groups)


def test_choices_and_release_survive_a_page_refresh(page: Page, address: str) -> None:
    """A refresh of the page finds table, choices and the finished release again."""
    page.goto(address)
    page.get_by_role("button", name="Use this sample").nth(1).click()
    expect(page.get_by_text("the first rows")).to_be_visible()
    page.get_by_role("link", name="Release", exact=True).click()
    page.get_by_test_id("stMain").get_by_role("button", name="Release").click()
    expect(page.get_by_text("The chosen grid", exact=True)).to_be_visible(timeout=120_000)
    page.reload()
    expect(page.get_by_text("The chosen grid", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Release again")).to_be_disabled()


def test_uploaded_table_is_declared_and_previewed(page: Page, address: str, tmp_path: Path) -> None:
    """An uploaded table goes from nothing declared to a preview, with taxonomies suggested and marked."""
    table = tmp_path / "small.csv"
    table.write_text(SMALL, encoding="utf-8")
    page.goto(address)
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(table)
    expect(page.get_by_text("small.csv: the first rows")).to_be_visible()
    expect(page.get_by_text("Before the next step: Choose the label")).to_be_visible()
    label = page.get_by_role("combobox", name="Label: the column")
    label.fill("class")
    label.press("ArrowDown")
    label.press("Enter")
    expect(page.get_by_text("Its classes")).to_be_visible()
    page.get_by_role("textbox", name="Who is protected?").fill("person")
    page.get_by_role("textbox", name="Who is protected?").press("Tab")
    page.get_by_role("spinbutton", name="Rows each has at most").fill("1")
    page.get_by_role("spinbutton", name="Rows each has at most").press("Tab")
    page.get_by_role("button", name="Next: Taxonomies").click()
    page.get_by_role("button", name="Suggest from the table").click()
    expect(page.get_by_text("not private end to end")).to_be_visible()
    page.get_by_role("button", name="Next: Privacy budget").click()
    page.get_by_role("button", name="Next: Preview").click()
    expect(page.get_by_role("heading", name="Which attributes go with the label")).to_be_visible()


def test_bad_upload_gets_one_sentence(page: Page, address: str, tmp_path: Path) -> None:
    """A file that is not what its suffix says gets a plain sentence, and the page goes on."""
    table = tmp_path / "broken.csv"
    table.write_bytes(b"PK\x03\x04 not a table")
    page.goto(address)
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(table)
    expect(page.get_by_text("is not what its suffix says")).to_be_visible()
    expect(page.get_by_role("button", name="Use this sample").first).to_be_enabled()


def _download(page: Page, label: str, folder: Path) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label, exact=True).click()
    target = folder / waiting.value.suggested_filename
    waiting.value.save_as(target)
    return target


def _no_sideways_scrolling(page: Page) -> None:
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth")
    assert wide <= 0
