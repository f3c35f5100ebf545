"""Page Release: one button, once."""

import io
from datetime import UTC, datetime
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

from core.bundle import make_bundle
from core.encoding import read_contingency
from core.mechanisms import OpenDPNoise
from core.release import run
from core.synthesis import left_out
from dashboard import layout, text
from dashboard.downloads import downloads, mark
from dashboard.jobs import Job, Report
from dashboard.state import FinishedRelease, Workspace, workspace


def _start(ws: Workspace) -> None:
    """Start the release; what it needs is copied now, so that later edits do not reach it."""
    source, schema, recipe, epsilon = ws.source, ws.schema(), ws.recipe, ws.epsilon
    split, rule, digest, choices = ws.split, ws.counts_rule, ws.digest, ws.choices()
    counting = ws.counting if ws.counting_choices == ws.schema_choices() else None
    assert source is not None

    def work(report: Report) -> FinishedRelease:
        report("read", 0, 1)
        counted = counting.result if counting is not None else None
        table = counted or read_contingency(source, schema)
        release = run(table.contingency, schema, recipe, epsilon, OpenDPNoise(), split=split, progress=report)
        # From here on the budget is spent: the result is kept even if the officer asks to stop.
        report("write", 0, 1)
        created = datetime.now(UTC)
        bundle = make_bundle(release, created, np.random.default_rng(), rule)
        finished = FinishedRelease(release, bundle, created, digest, choices)
        ws.releases.append(finished)
        return finished

    ws.releasing = Job(work)


def _button(ws: Workspace) -> None:
    """The one button; a second release of the same table asks first."""
    rules: list[Literal["clip", "project"]] = ["clip", "project"]
    ws.counts_rule = st.radio(
        "Noisy counts below zero",
        rules,
        index=rules.index(ws.counts_rule),
        format_func=text.COUNT_RULES.__getitem__,
        key="counts-rule",
        help="Costs no privacy: it looks at the noisy counts only.",
    )
    again = True
    if ws.releases:
        again = st.checkbox(
            f"Spend another ε = {ws.epsilon_text} on the same people",
            key=f"again-{len(ws.releases)}",
            help="Budgets of releases about the same people add up. Releasing until the result looks nice breaks the guarantee.",
        )
    label = "Release" if not ws.releases else "Release again"
    if st.button(label, type="primary", icon=":material/publish:", disabled=not again, key="release"):
        with layout.one_sentence():
            _start(ws)
            st.rerun()
    st.caption(f"Spends ε = {ws.epsilon_text} for one record. The noise is drawn once and the result is kept.")


def _result(ws: Workspace, finished: FinishedRelease) -> None:
    """What was published, and what it cost."""
    release = finished.release
    if finished.choices != ws.choices():
        st.info("This release was made with earlier choices; it is kept as it is.", icon=":material/history:")
    for caveat in release.caveats:
        st.warning(caveat, icon=":material/warning:")
    who = release.schema.unit.who
    spent, unit, rows, scale = st.columns(4)
    with spent:
        layout.figure("ε spent", f"{float(release.spent):.4g}", f"for one record, of {float(release.epsilon):g} granted")
    with unit:
        sure = 100 * text.certainty(float(release.unit_epsilon))
        layout.figure(f"ε for one {who}", f"{float(release.unit_epsilon):g}", f"50 % likely becomes at most {sure:.0f} %")
    with rows:
        total = finished.bundle.manifest["synthetic_rows"]
        layout.figure("Synthetic rows", f"{total:,}", f"from {release.counts.shape[0]:,} cells")
    with scale:
        layout.figure("Noise scale", f"{release.spends[-1].scale:.3g}", "records, on every count (discrete Laplace)")
    st.markdown(f"**The chosen grid**, one of {release.pool_size:,} candidates")
    if not release.grid:
        st.caption("No attribute was worth the noise: only the classes are published. Try a larger ε.")
    st.dataframe(
        [
            {
                "Attribute": name,
                "Level": level,
                "Groups": len(nodes),
                "For example": ", ".join(n.label for n in nodes[:3]),
            }
            for (name, level), nodes in zip(release.grid.items(), release.nodes, strict=True)
        ],
        hide_index=True,
    )
    st.markdown("**What the budget bought**")
    st.dataframe(
        [
            {
                "Step": spend.step.capitalize(),
                "Mechanism": spend.mechanism,
                "ε granted": f"{float(spend.granted):.4g}",
                "ε spent": f"{float(spend.spent):.4g}",
                "Noise scale (records)": f"{spend.scale:.4g}",
            }
            for spend in release.spends
        ],
        hide_index=True,
    )
    mark(finished)
    _head(finished)


def _head(finished: FinishedRelease) -> None:
    """The first rows in both shapes, next to the downloads."""
    release = finished.release
    st.markdown("**The synthetic table**")
    table, files = st.columns([3, 1], gap="large")
    with table:
        groups, drawn = st.tabs(["Groups (as in the paper)", "Drawn values"])
        with groups:
            st.dataframe(_first_rows(finished, "synthetic.csv"), hide_index=True)
            st.caption("“Any” marks the attributes that are not part of the chosen grid.")
        with drawn:
            st.dataframe(_first_rows(finished, "synthetic_sampled.csv"), hide_index=True)
            gone = left_out(release)
            if gone:
                st.caption(f"Left out, because the chosen grid does not use them: {', '.join(gone)}.")
    with files:
        downloads(finished)


def _first_rows(finished: FinishedRelease, name: str) -> pd.DataFrame:
    """The first rows of a published file, exactly as it holds them."""
    return pd.read_csv(io.BytesIO(finished.bundle[name]), dtype=str, keep_default_na=False, nrows=8)


def render() -> None:
    """Draw the page."""
    ws = workspace()
    layout.header("Release", "One button spends the budget, once, and makes the table that may leave the building.")
    if layout.needs(ws, "Data", "Taxonomies", "Privacy budget"):
        job = ws.releasing
        if job is not None and job.running:
            layout.watch(job, "Stop", "stop-release")
        else:
            if job is not None:
                layout.outcome(job)
            _button(ws)
            if ws.latest is not None:
                st.divider()
                _result(ws, ws.latest)
    layout.next_step(ws, "Release")


render()
