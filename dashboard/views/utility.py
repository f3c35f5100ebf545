"""Page Utility: how good the table is for classification, next to the download."""

from dataclasses import asdict

import pandas as pd
import streamlit as st

from core.classifiers import CLASSIFIERS
from core.encoding import read_records
from core.evaluation import MAJORITY, NOISE_FREE, Evaluation, Result, summarise
from core.mechanisms import OpenDPNoise
from core.visibility import CuratorOutput, Visibility
from dashboard import charts, layout
from dashboard.downloads import downloads
from dashboard.jobs import Job, Report
from dashboard.state import Workspace, workspace

_TITLES = {MAJORITY: "Majority", NOISE_FREE: "NoiseFree"}
_SHORT = {"tree": "Decision tree", "svm": "SVM (approximate)", "svm-exact": "SVM (exact, slow)"}


def _start(ws: Workspace, classifiers: tuple[str, ...], folds: int, repeats: int) -> None:
    """Cross-validate in the background; results are shown as they come."""
    source, schema = ws.source, ws.schema()
    evaluation = Evaluation(
        epsilons=(ws.epsilon,),
        methods=(MAJORITY, ws.recipe_name, NOISE_FREE),
        classifiers=classifiers,
        folds=folds,
        repeats=repeats,
        split=ws.split,
    )
    results: list[Result] = []
    ws.partial_results = results
    assert source is not None

    def work(report: Report) -> list[Result]:
        report("read", 0, 1)
        records = read_records(source, schema)
        for result in evaluation.run(records, schema, OpenDPNoise(), lambda done, total: report("evaluate", done, total)):
            results.append(result)
        return results

    ws.evaluating, ws.evaluating_choices = Job(work), ws.choices()


def _settings(ws: Workspace) -> None:
    """What to train and how often."""
    with st.form("utility"):
        classifiers = st.pills(
            "Classifiers", list(CLASSIFIERS), selection_mode="multi", default=["tree", "svm"], format_func=_SHORT.__getitem__,
            help="The approximate SVM (Nyström features and a linear machine) takes seconds, the exact one (LibSVM) minutes on "
            "tens of thousands of records.",
        )  # fmt: skip
        folds, repeats, button = st.columns([2, 2, 2], vertical_alignment="bottom")
        parts = folds.number_input("Folds", 2, 10, 5, help="Parts of the table; each is held out once for testing.")
        times = repeats.number_input("Repeats", 1, 10, 1, help="How often the folds and the releases are drawn.")
        if button.form_submit_button("Measure", type="primary", icon=":material/query_stats:"):
            with layout.one_sentence():
                _start(ws, tuple(classifiers), int(parts), int(times))
                st.rerun()
    st.caption(
        "Trains classifiers on synthetic tables made with your choices from a part of the records, and tests them on the "
        "others. These rehearsals publish nothing; they are not the released table itself."
    )


def _results(ws: Workspace, results: list[Result]) -> None:
    groups = summarise(results)
    methods = {
        group.method: _TITLES.get(group.method, f"{group.method}, ε = {group.epsilon:g}" if group.epsilon else group.method)
        for group in groups
    }
    figure = charts.error_chart(groups, methods, _SHORT)
    st.plotly_chart(figure, key="errors", config={"displayModeBar": False}, alt="Misclassification by method and classifier")
    layout.visibility(
        Visibility.CURATOR_ONLY,
        "Lower is better. Majority always guesses the most frequent class; NoiseFree learns from the true records. Lines show one standard deviation over folds and repeats. Measured on the true records, not covered "
        "by ε: it must not leave the building.",
    )
    st.dataframe(
        [
            {
                "Method": methods[group.method],
                "Classifier": _SHORT[group.classifier],
                "Misclassified": f"{100 * group.mean:.1f} %",
                "± one sd": "one run" if group.sd is None else f"{100 * group.sd:.1f} points",
                "Runs": group.runs,
            }
            for group in groups
        ],
        hide_index=True,
    )
    if ws.evaluating_choices != ws.choices():
        st.info("Measured with earlier choices; press Measure to bring it up to date.", icon=":material/history:")
    figures = CuratorOutput(pd.DataFrame([asdict(result) for result in results]).to_csv(index=False).encode())
    st.download_button(
        "Save these figures for the curator (CSV)",
        figures.content,
        "curator-only-utility.csv",
        "text/csv",
        on_click="ignore",
    )


def render() -> None:
    """Draw the page."""
    ws = workspace()
    layout.header(
        "Utility", "See how well classifiers trained on such a synthetic table do on true records they have not seen."
    )
    if layout.needs(ws, "Data", "Taxonomies", "Privacy budget"):
        main, side = st.columns([3, 1], gap="large")
        with side:
            st.subheader("The release", anchor=False)
            if ws.latest is None:
                st.info("Nothing is released yet.", icon=":material/pending:")
                layout.link("Release", "Go to Release")
            else:
                downloads(ws.latest)
        with main:
            job = ws.evaluating
            if job is not None and job.running:
                layout.watch(job, "Stop", "stop-evaluation")
            else:
                _settings(ws)
                if job is not None:
                    layout.outcome(job)
            if ws.partial_results and (job is None or not job.running):
                _results(ws, ws.partial_results)


render()
