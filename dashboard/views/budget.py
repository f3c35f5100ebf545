"""Page Privacy budget: ε, recipe and split."""

from fractions import Fraction

import numpy as np
import streamlit as st

from core.budget import STEPS, parse_epsilon
from core.errors import PrivPfCError
from core.plan import size_source
from core.recipes import RECIPES
from dashboard import layout, text
from dashboard.state import Workspace, workspace

_VALUES = [float(f"{value:.2g}") for value in np.geomspace(0.01, 10, 61)]
"""Stops of the slider: 20 a decade."""


def _epsilon(ws: Workspace) -> None:
    """Slider and typed entry for the same number."""
    slider, typed = st.columns([4, 1], gap="large", vertical_alignment="bottom")
    try:
        nearest = min(_VALUES, key=lambda value: abs(np.log(value / float(ws.epsilon))))
    except PrivPfCError:
        nearest = 1.0
    moved = slider.select_slider(
        "Privacy budget (ε) for one record, logarithmic", _VALUES, nearest, format_func=lambda value: f"{value:g}",
        key=f"epsilon-slider-{ws.epsilon_text}",
    )  # fmt: skip
    if moved != nearest:
        ws.epsilon_text = f"{moved:g}"
        st.rerun()
    written = typed.text_input("or type it", ws.epsilon_text, key=f"epsilon-typed-{ws.epsilon_text}").strip()
    if written != ws.epsilon_text:
        try:
            parse_epsilon(written)
        except PrivPfCError as error:
            st.error(f"{error} The budget stays at {ws.epsilon_text}.", icon=":material/error:")
            return
        ws.epsilon_text = written
        st.rerun()


def _meaning(ws: Workspace) -> None:
    """ε in plain odds, for the unit of privacy."""
    rows = ws.unit_rows or 1
    epsilon = float(ws.epsilon) * rows
    who = ws.unit_who or "record"
    factor, sure, whole = st.columns(3)
    with factor:
        layout.figure(
            "Odds change by at most", f"× {np.exp(epsilon):,.3g}" if epsilon < 50 else "any factor", "e to the power of ε"
        )
    with sure:
        layout.figure(
            "50 % likely becomes at most", f"{100 * text.certainty(epsilon):.1f} %", "for any fact about one " + who
        )
    with whole:
        layout.figure(f"ε for one {who}", f"{epsilon:g}", f"{rows:,} row(s) each × ε = {ws.epsilon_text}")
    st.markdown(text.epsilon_meaning(epsilon, who))
    st.caption(text.epsilon_advice(epsilon))


def _recipe(ws: Workspace) -> None:
    """The recipe, each with its sentence."""
    names = list(RECIPES)
    ws.recipe_name = st.radio(
        "Recipe",
        names,
        index=names.index(ws.recipe_name),
        captions=[recipe.summary for recipe in RECIPES.values()],
        format_func=lambda name: f"{name} (recommended)" if name == names[0] else name,
        key="recipe",
    )


def _split(ws: Workspace) -> None:
    """What the budget buys, in percent that always adds up."""
    own = st.toggle("Set the split myself", value=ws.own_split is not None, key="own-split")
    if own:
        start = ws.own_split or (20, 30, 50)
        low, high = st.slider(
            "Two handles cut the budget into three parts (%)", 0, 100, (start[0], start[0] + start[1]), 1, format="%d %%",
            key="split",
            help="Left of the first handle: choosing attributes, used only where there are too many candidate grids. Between "
            "the handles: choosing the grid. Right of the second: the noisy counts.",
        )  # fmt: skip
        ws.own_split = (low, high - low, 100 - high)
    else:
        ws.own_split = None
    bought = size_source(ws.recipe, ws.size) == "noisy"
    rows: dict[str, dict[str, str | None]] = {}
    empty = dict.fromkeys(title for title, _ in _paths(ws))
    with layout.one_sentence():
        for title, features in _paths(ws):
            budget = ws.recipe.budget(ws.epsilon, size=bought, features=features, split=ws.split)
            for step, part in budget.parts.items():
                rows.setdefault(step, {"Step": text.STEPS[step]} | empty)[title] = _part(part, budget.epsilon)
        st.dataframe([rows[step] for step in STEPS if step in rows], hide_index=True, placeholder="—")
        st.caption(
            "ε of each step, and its share of the whole; the parts sum to ε to the last digit. Attributes are chosen "
            "first only where the pool of candidate grids is too large."
        )


def _paths(ws: Workspace) -> list[tuple[str, bool]]:
    """The ways a release may take, and whether attributes are selected on it."""
    paths = [("ε, usually", False)]
    shared = ws.own_split is None or ws.own_split[0] > 0
    if ws.recipe.split_with_features is not None and shared:
        paths.append(("ε, with too many grids", True))
    return paths


def _part(part: Fraction, whole: Fraction) -> str:
    return f"{float(part):.4g}  ({float(100 * part / whole):.1f} %)"


def render() -> None:
    """Draw the page."""
    ws = workspace()
    layout.header("Privacy budget", "The privacy budget (ε) says how much the published table may depend on any one record.")
    _epsilon(ws)
    with layout.one_sentence():
        _meaning(ws)
    st.divider()
    recipe, split = st.columns([2, 3], gap="large")
    with recipe:
        _recipe(ws)
    with split:
        st.markdown("**What the budget buys**")
        _split(ws)
    layout.next_step(ws, "Privacy budget")


render()
