"""Every page in its empty, error, busy and finished states."""

import pytest

from core.visibility import Visibility
from dashboard.layout import PAGES
from tests.dashboard.pages import (
    SMALL,
    declare,
    finished,
    named,
    on,
    start,
    upload,
    with_sample,
    with_small_table,
    words,
    workspace_of,
)


@pytest.mark.parametrize("page", list(PAGES))
def test_empty_pages_say_what_is_missing(page: str) -> None:
    """Without a table every page opens, says what comes first, and offers the way there."""
    app = on(start(), page)
    assert not app.exception
    assert app.title[0].value == page
    assert "Choose a sample or upload a table." in words(app)


@pytest.mark.parametrize("page", list(PAGES))
@pytest.mark.parametrize("sample", ["census", "clinic"])
def test_samples_open_every_page(page: str, sample: str) -> None:
    """With a sample nothing is missing on any page."""
    app = on(with_sample(sample), page)
    finished(app)
    assert not app.exception
    assert not app.error
    assert "Before the next step" not in words(app)


def test_sidebar_sums_up_the_choices() -> None:
    """The sidebar names table, label, unit, size, attributes, ε with its meaning, recipe and split."""
    app = with_sample()
    summary = "\n".join(caption.value for caption in app.sidebar.caption)
    for expected in ("Clinic", "triage", "patient", "12,000", "10 of 10", "73 %", "tuned", "35 %", "65 %"):
        assert expected in summary


def test_next_is_closed_until_the_page_is_complete() -> None:
    """The next step is a disabled button with a reason, and opens once the page is complete."""
    app = start()
    assert named(app, "Next: Taxonomies").disabled
    app.button(key="sample-clinic").click().run()
    assert not named(app, "Next: Taxonomies").disabled
    named(app, "Next: Taxonomies").click().run()
    assert app.title[0].value == "Taxonomies"


def test_upload_asks_for_label_and_unit_one_after_the_other() -> None:
    """An uploaded table needs a label, then the unit of privacy; neither has a default."""
    app = upload(start(), "small.csv", SMALL.encode())
    assert "Choose the label" in words(app)
    app.selectbox(key="label").select("class").run()
    assert workspace_of(app).label_values == ("no", "yes")
    assert "Say who is protected" in words(app)
    app.text_input(key="who").input("person").run()
    app.number_input(key="rows").set_value(2).run()
    assert not named(app, "Next: Taxonomies").disabled


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("records.csv", b"1,2\n3,4\n"),
        ("twice.csv", b"a,a\n1,2\n"),
        ("blank.csv", b"a,\n1,2\n"),
        ("table.parquet", b"a,b\n1,2\n"),
        ("wide.csv", ",".join(f"c{i}" for i in range(10_000)).encode() + b"\n" + b",".join([b"1"] * 10_000)),
        ("latin.csv", "größe,b\n1,ä\n".encode("latin-1")),
    ],
)
def test_bad_upload_gets_one_sentence_and_keeps_the_table_in_use(name: str, content: bytes) -> None:
    """A table that cannot be used is refused in one sentence; the one in use and its declarations stay."""
    app = with_sample()
    upload(app, name, content)
    assert not app.exception
    assert len(app.error) == 1
    assert app.error[0].value.count(". ") == 0
    assert workspace_of(app).title == "Clinic (invented)"
    assert workspace_of(app).label_name == "triage"


def test_label_with_one_value_is_refused() -> None:
    """A label with a single class is refused in a sentence that names it."""
    app = upload(start(), "one.csv", b"a,b\nx,same\ny,same\n")
    declare(app, "b")
    on(app, "Taxonomies")
    named(app, "Suggest from the table").click().run()
    on(app, "Preview")
    assert not app.exception
    assert "The label “b” has 1 value" in words(app)


def test_suggested_taxonomies_are_marked_until_declared() -> None:
    """Taxonomies made from the data say so; pressing “public knowledge” takes the mark away."""
    app = with_small_table()
    assert "not private end to end" in words(app)
    ws = workspace_of(app)
    assert all(tree.suggested for tree in ws.used_taxonomies)
    app.button(key="public-age").click().run()
    assert not ws.taxonomies["age"].suggested


def test_attribute_left_out_takes_no_part() -> None:
    """The toggle of an attribute removes it from the release and brings it back."""
    app = on(with_sample(), "Taxonomies")
    app.toggle(key="use-age").set_value(False).run()
    assert "age" not in workspace_of(app).schema().names
    app.toggle(key="use-age").set_value(True).run()
    assert "age" in workspace_of(app).schema().names


def test_taxonomy_import_names_every_defect_and_changes_nothing() -> None:
    """A defective taxonomy file is refused with attribute and node, and the taxonomies in use stay."""
    app = on(with_sample(), "Taxonomies")
    before = dict(workspace_of(app).taxonomies)
    bad = b'{"age": {"(0.0, 9.0]": {"(0.0, 4.0]": {}, "(5.0, 9.0]": {}}}}'
    app.file_uploader(key="taxonomy-upload").upload("t.json", bad, "application/json").run()
    assert "“age”" in app.error[0].value
    assert "(5.0, 9.0]" in app.error[0].value
    assert workspace_of(app).taxonomies == before


def test_taxonomy_made_from_a_declared_range() -> None:
    """Start over makes equal-width groups from a declared range, without a look at the data."""
    app = on(with_sample(), "Taxonomies")
    app.number_input(key="low-age").set_value(0.0).run()
    app.number_input(key="high-age").set_value(99.0).run()
    app.button(key="make-numbers-age").click().run()
    tree = workspace_of(app).taxonomies["age"]
    assert not tree.suggested
    assert tree.numeric
    assert (tree.leaf_intervals[0].low, tree.leaf_intervals[-1].high) == (-1.0, 99.0)


@pytest.mark.parametrize("typed", ["0", "-1", "abc", "nan", "inf", ""])
def test_bad_epsilon_is_refused_and_the_old_one_stays(typed: str) -> None:
    """ε that is not a number above 0 gets one sentence; the budget stays as it was."""
    app = on(with_sample(), "Privacy budget")
    app.text_input(key="epsilon-typed-1.0").input(typed).run()
    assert not app.exception
    assert "must be a number above 0" in app.error[0].value
    assert workspace_of(app).epsilon_text == "1.0"


def test_typed_epsilon_is_kept_to_the_last_digit() -> None:
    """The slider and the typed entry set one number, kept as typed."""
    app = on(with_sample(), "Privacy budget")
    app.text_input(key="epsilon-typed-1.0").input("0.123456789").run()
    assert workspace_of(app).epsilon_text == "0.123456789"
    app.select_slider(key="epsilon-slider-0.123456789").set_value(0.5).run()
    assert workspace_of(app).epsilon_text == "0.5"


def test_own_split_always_adds_up() -> None:
    """Wherever the handles stand, the three parts are 100 percent and the budget is exact."""
    app = on(with_sample(), "Privacy budget")
    app.toggle(key="own-split").set_value(True).run()
    for low, high in ((10, 45), (0, 50), (33, 34)):
        app.slider(key="split").set_range(low, high).run()
        assert not app.exception
        assert sum(workspace_of(app).own_split or ()) == 100
        assert not app.error


def test_split_without_a_share_for_the_counts_is_explained() -> None:
    """A split that leaves a step nothing is refused in words and opens no page after it."""
    app = on(with_sample(), "Privacy budget")
    app.toggle(key="own-split").set_value(True).run()
    app.slider(key="split").set_range(20, 100).run()
    assert not app.exception
    assert app.error
    assert named(app, "Next: Preview").disabled


def test_preview_shows_cap_pool_curve_and_ranking_with_their_marks() -> None:
    """Cap and pool are public under a declared size; the ranking is for the curator only."""
    app = finished(on(with_sample(), "Preview"))
    said = words(app)
    assert {metric.label for metric in app.metric} == {"Records", "Cell cap", "Pool size", "Attributes"}
    assert len(app.get("plotly_chart")) == 2
    assert Visibility.PUBLIC in said
    assert Visibility.CURATOR_ONLY in said


def test_preview_without_declared_size_is_for_the_curator() -> None:
    """Where n is not declared, cap and pool look at the records and are marked so."""
    app = with_sample()
    app.toggle(key="size-public").set_value(False).run()
    finished(on(app, "Preview"))
    assert not app.exception
    assert f"[{Visibility.PUBLIC}]" not in words(app)


def test_missing_values_without_a_policy_stop_with_a_sentence() -> None:
    """A missing cell is never dropped silently: the page says where to choose the policy."""
    app = with_sample()
    app.selectbox(key="missing").select("none").run()
    finished(on(app, "Preview"))
    assert "empty cells" in app.error[0].value


def test_release_happens_once_and_is_kept() -> None:
    """One press makes one release; another visit shows the same one, and a second asks first."""
    app = finished(on(with_small_table(), "Preview"))
    on(app, "Release")
    app.button(key="release").click().run()
    finished(app)
    ws = workspace_of(app)
    assert len(ws.releases) == 1
    first = ws.releases[0]
    assert first.release.spent <= first.release.epsilon
    on(on(app, "Data"), "Release")
    assert ws.releases == [first]
    assert app.button(key="release").disabled
    app.checkbox(key="again-1").check().run()
    assert not app.button(key="release").disabled


def test_release_says_what_is_not_private() -> None:
    """A release with declarations read from the data says in plain words that this part is not private."""
    app = on(with_small_table(), "Release")
    app.button(key="release").click().run()
    finished(app)
    assert "not private" in " ".join(warning.value for warning in app.warning)


def test_stopped_release_publishes_nothing_and_keeps_the_choices() -> None:
    """Cancel ends the job without a release; the choices are still there."""
    app = on(with_sample("census"), "Release")
    app.button(key="release").click()
    app.run()
    ws = workspace_of(app)
    assert ws.releasing is not None
    ws.releasing.cancel()
    finished(app)
    assert ws.releases == []
    assert "Stopped" in words(app)
    assert ws.label_name == "income"


def test_utility_compares_with_both_baselines_next_to_the_download() -> None:
    """Tree and SVM errors of the recipe stand beside Majority and NoiseFree, marked curator-only."""
    app = finished(on(with_small_table(), "Preview"))
    on(app, "Release")
    app.button(key="release").click().run()
    finished(app)
    on(app, "Utility")
    app.number_input[0].set_value(2)
    named(app, "Measure").click().run()
    finished(app)
    assert not app.exception
    results = workspace_of(app).partial_results
    assert {(result.method, result.classifier) for result in results} == {
        (method, classifier) for method in ("majority", "tuned", "noise-free") for classifier in ("tree", "svm")
    }
    assert Visibility.CURATOR_ONLY in words(app)
    assert any(button.label == "Download all (ZIP)" for button in app.get("download_button"))


def test_utility_of_a_table_too_small_for_the_folds_is_explained() -> None:
    """A class with fewer records than folds gives one sentence, not a failure."""
    app = upload(start(), "tiny.csv", b"a,b,class\n" + b"x,u,p\ny,v,q\n" * 2)
    declare(app, "class")
    on(app, "Taxonomies")
    named(app, "Suggest from the table").click().run()
    on(app, "Utility")
    named(app, "Measure").click().run()
    finished(app)
    assert "choose fewer folds" in app.error[0].value


def test_changed_choices_leave_the_release_and_say_so() -> None:
    """A release made with earlier choices is kept as it is and marked."""
    app = on(with_small_table(), "Release")
    app.button(key="release").click().run()
    finished(app)
    on(app, "Privacy budget")
    app.text_input(key="epsilon-typed-1.0").input("2").run()
    on(app, "Release")
    assert "earlier choices" in words(app)
    assert len(workspace_of(app).releases) == 1
