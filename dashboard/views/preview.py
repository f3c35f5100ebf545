"""Page Preview: what a release will work on, before anything is spent."""

from fractions import Fraction

import numpy as np
import streamlit as st

from core.plan import Plan
from core.ranking import rank_attributes
from core.visibility import Visibility
from dashboard import charts, layout
from dashboard.state import Workspace, workspace

_CURVE = np.geomspace(0.01, 10, 31)


def _plan_kind(ws: Workspace, plan: Plan) -> Visibility:
    """Cap and pool are public only if nothing of the table entered them."""
    public = plan.size_source == "declared" and not ws.schema().suggested
    return Visibility.PUBLIC if public else Visibility.CURATOR_ONLY


def _figures(ws: Workspace) -> None:
    plan = ws.plan()
    records, cap, pool, path = st.columns(4)
    source = {"declared": "as declared", "exact": "exact count", "noisy": "exact; the release adds noise"}[plan.size_source]
    chosen = f"{plan.k} of {len(plan.space.names)}" if plan.feature_selection else f"all {len(plan.space.names)}"
    with records:
        layout.figure("Records", f"{plan.n:,}", source)
    with cap:
        layout.figure("Cell cap", f"{plan.cap:,}", "cells in a candidate grid at most")
    with pool:
        layout.figure("Pool size", f"{plan.pool_size:,}", f"candidate grids; the recipe allows {plan.recipe.pool_limit:,}")
    with path:
        layout.figure("Attributes", chosen, "chosen privately first" if plan.feature_selection else "compete in the pool")
    layout.visibility(_plan_kind(ws, plan))


def _curve(ws: Workspace) -> None:
    st.subheader("How many grids compete", anchor=False)
    plan = ws.plan()
    sizes = [ws.plan(Fraction(f"{epsilon:.4g}")).pool_size for epsilon in _CURVE]
    figure = charts.pool_curve(list(_CURVE), sizes, float(ws.epsilon), plan.pool_size, plan.recipe.pool_limit)
    st.plotly_chart(figure, key="pool-curve", config={"displayModeBar": False}, alt="Pool size against the privacy budget")
    layout.visibility(
        _plan_kind(ws, plan), "A larger budget allows finer grids. The number of candidates itself costs no privacy."
    )


def _ranking(ws: Workspace) -> None:
    st.subheader("Which attributes go with the label", anchor=False)
    schema = ws.schema()
    scores = [float(score) for score in rank_attributes(ws.counted().contingency, schema)]
    figure = charts.ranking_chart(schema.names, scores, schema.label.name)
    st.plotly_chart(figure, key="ranking", config={"displayModeBar": False}, alt="Attributes by modified χ²")
    layout.visibility(
        Visibility.CURATOR_ONLY,
        "Computed from the true records without noise. Do not leave out attributes because of it: that choice would leak.",
    )


def render() -> None:
    """Draw the page."""
    ws = workspace()
    layout.header("Preview", "See how many candidate grids your choices allow, before anything is spent.")
    if layout.needs(ws, "Data", "Taxonomies", "Privacy budget"):
        job = ws.start_counting()
        if job.running:
            layout.watch(job, "Stop reading", "stop-counting")
        elif job.result is None:
            layout.outcome(job)
            layout.link("Data", "Change the declarations on the page Data")
            layout.link("Taxonomies", "Change the taxonomies")
        else:
            if job.result.dropped:
                st.warning(f"{job.result.dropped:,} records with a missing value are left out.", icon=":material/warning:")
                layout.visibility(Visibility.CURATOR_ONLY)
            with layout.one_sentence():
                _figures(ws)
                curve, ranking = st.columns(2, gap="large")
                with curve:
                    _curve(ws)
                with ranking:
                    _ranking(ws)
    layout.next_step(ws, "Preview")


render()
