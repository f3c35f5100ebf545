"""Page Taxonomies: how each attribute may be coarsened."""

import pandas as pd
import streamlit as st

from core.schema import Label, MissingPolicy
from core.taxonomy import Taxonomy
from core.taxonomy_build import (
    from_level_table,
    level_table,
    suggest_categorical,
    suggest_from_data,
    suggest_numeric,
)
from core.taxonomy_io import read_taxonomies, write_taxonomies
from core.visibility import Visibility
from dashboard import charts, layout
from dashboard.state import Workspace, forget, once, workspace

_EDITED_LEAVES = 2_000
"""A taxonomy with more leaves than this is shown but not edited in the table."""


def _all_at_once(ws: Workspace) -> None:
    """Suggest, import, export."""
    suggest, imported, export = st.columns(3, gap="medium")
    below = st.container()  # sentences have no room in the cards
    with suggest.container(border=True, height=230):
        st.markdown("**Suggest**")
        st.caption("Makes a taxonomy for every column by looking at the private table, and marks it so.")
        suggesting = st.button("Suggest from the table")
    with imported.container(border=True, height=230):
        uploaded = st.file_uploader("Import taxonomies (JSON)", type=["json"], key="taxonomy-upload")
    with below:
        if suggesting:
            _suggest(ws)
        if uploaded is not None and once(f"taxonomies-{uploaded.file_id}"):
            _import(ws, uploaded.getvalue())
    with export.container(border=True, height=230):
        st.markdown("**Export**")
        st.caption("All taxonomies of this table in one JSON file, to use them again next year.")
        st.download_button(
            "Download taxonomies",
            write_taxonomies(ws.taxonomies) if ws.taxonomies else "",
            "taxonomies.json",
            "application/json",
            disabled=not ws.taxonomies,
            on_click="ignore",
        )


def _suggest(ws: Workspace) -> None:
    assert ws.source is not None
    with layout.one_sentence(), st.spinner("Looking at the columns …"):
        label = Label(ws.label_name or "", ws.label_values or ("0", "1"))
        found, skipped = suggest_from_data(ws.source, label, missing_leaf=ws.missing is MissingPolicy.LEAF)
        ws.taxonomies = found | {name: tree for name, tree in ws.taxonomies.items() if not tree.suggested}
        for name, reason in skipped.items():
            st.info(f"“{name}” got no suggestion: {reason}. Give it a taxonomy below, or leave it out.")


def _import(ws: Workspace, content: bytes) -> None:
    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        st.error("The taxonomy file is not UTF-8 text; export it again.", icon=":material/error:")
        return
    with layout.one_sentence():
        found = read_taxonomies(written)
        used = {name: tree for name, tree in found.items() if name in ws.columns}
        ws.taxonomies |= used
        unused = [name for name in found if name not in used]
        st.success(f"{len(used)} taxonomies were taken over.")
        if unused:
            st.warning(f"The table has no column for {', '.join(f'“{name}”' for name in unused)}; these were left aside.")


def _one_attribute(ws: Workspace) -> None:
    """Picture, levels and editor of one attribute."""
    choice, state = st.columns([4, 1], vertical_alignment="bottom")
    name = choice.selectbox("Attribute", ws.columns, key="attribute")
    status = _status(ws, name)
    state.badge(status, color="orange" if status == "suggested from data" else "green" if status == "declared" else "gray")
    tree = ws.taxonomies.get(name)
    if tree is None:
        st.info("This attribute has no taxonomy yet, so it is left out. Make one below.", icon=":material/pending:")
        _make(ws, name)
        return
    use, public = st.columns(2)
    if use.toggle("Use this attribute", value=name not in ws.excluded, key=f"use-{name}"):
        ws.excluded.discard(name)
    else:
        ws.excluded.add(name)
    if tree.suggested and public.button(
        "Its values and edges are public knowledge",
        key=f"public-{name}",
        help="Press it if you would have written the same values without looking at this table.",
    ):
        tree = ws.taxonomies[name] = Taxonomy(name, tree.root)
    picture, levels = st.columns([3, 2], gap="large")
    with picture:
        figure, depth = charts.taxonomy_figure(tree)
        st.plotly_chart(figure, key=f"tree-{name}", config={"displayModeBar": False}, alt=f"Taxonomy of {name}")
        kind = Visibility.CURATOR_ONLY if tree.suggested else Visibility.PUBLIC
        shown = "" if depth == tree.height else f" Levels below {depth} are too dense to draw."
        layout.visibility(kind, f"From the root (left) to the finest groups (right); click a group to zoom in.{shown}")
    with levels:
        st.markdown("**Levels**")
        st.dataframe(
            [
                {"Level": level, "Groups": size, "For example": ", ".join(tree.labels(level)[:2])}
                for level, size in enumerate(tree.level_sizes)
            ],
            hide_index=True,
        )
        st.caption("A grid uses one level of each attribute; level 0 leaves the attribute out.")
    with st.expander("Edit the groups in a table"):
        _edit(ws, tree)
    with st.expander("Start over"):
        _make(ws, name)


def _edit(ws: Workspace, tree: Taxonomy) -> None:
    """Leaf-to-node labels in a table; the tree changes only when the button is pressed."""
    if len(tree.leaves) > _EDITED_LEAVES:
        st.info(f"This taxonomy has {len(tree.leaves):,} finest groups; edit it in its JSON file and import it again.")
        return
    depth = st.number_input("Levels below the root", 1, 12, tree.height, key=f"depth-{tree.attribute}")
    table = level_table(tree, int(depth))
    names = [*(f"Level {level}" for level in range(1, int(depth))), "Finest group"]
    edited = st.data_editor(
        pd.DataFrame(table, columns=names),
        num_rows="dynamic",
        hide_index=True,
        height=min(36 * (len(table) + 2), 420),
        key=f"edit-{tree.attribute}-{depth}-{hash(tree.root)}",
    )
    st.caption("Rows with the same entry belong to one group. Write intervals as (0.0, 5.0]; they must meet without a gap.")
    if st.button("Apply", key=f"apply-{tree.attribute}", type="primary"):
        with layout.one_sentence():
            rows = [["" if pd.isna(cell) else str(cell).strip() for cell in row] for row in edited.to_numpy()]
            ws.taxonomies[tree.attribute] = from_level_table(tree.attribute, tree.root.label, rows, tree.suggested)
            forget(f"depth-{tree.attribute}")
            st.rerun()


def _make(ws: Workspace, name: str) -> None:
    """A taxonomy from a declared range or a declared list of values."""
    kind = st.segmented_control("Kind", ["Numbers", "Categories"], default="Numbers", required=True, key=f"kind-{name}")
    if kind == "Numbers":
        low, high, whole = st.columns(3, vertical_alignment="bottom")
        least = low.number_input("Least value that may occur", value=None, key=f"low-{name}")
        greatest = high.number_input("Greatest value that may occur", value=None, key=f"high-{name}")
        integer = whole.checkbox("Whole numbers", value=True, key=f"whole-{name}")
        if st.button("Make equal-width groups", key=f"make-numbers-{name}", disabled=least is None or greatest is None):
            assert least is not None
            assert greatest is not None
            with layout.one_sentence():
                ws.taxonomies[name] = suggest_numeric(
                    name, float(least), float(greatest), integer=integer, suggested=False,
                    missing=ws.missing is MissingPolicy.LEAF,
                )  # fmt: skip
                st.rerun()
        return
    written = st.text_area("Values that may occur, one a line", key=f"values-{name}", placeholder="red\ngreen\nother")
    if st.button("Make a taxonomy", key=f"make-values-{name}", disabled=not written.strip()):
        with layout.one_sentence():
            values = [line.strip() for line in written.splitlines() if line.strip()]
            missing = ws.missing is MissingPolicy.LEAF
            ws.taxonomies[name] = suggest_categorical(name, values, suggested=False, missing=missing)
            st.rerun()


def _status(ws: Workspace, column: str) -> str:
    tree = ws.taxonomies.get(column)
    if tree is None:
        return "no taxonomy, left out"
    if column in ws.excluded:
        return "left out"
    return "suggested from data" if tree.suggested else "declared"


def render() -> None:
    """Draw the page."""
    ws = workspace()
    layout.header("Taxonomies", "A taxonomy says into which ever coarser groups an attribute’s values may be joined.")
    if layout.needs(ws, "Data") or (ws.source is not None and ws.label_name is not None):
        _all_at_once(ws)
        st.divider()
        _one_attribute(ws)
        suggested = [tree.attribute for tree in ws.used_taxonomies if tree.suggested]
        if suggested:
            st.warning(
                f"{len(suggested)} taxonomies were made by looking at the private table. A release with them says in plain "
                "words that it is not private end to end.",
                icon=":material/warning:",
            )
    layout.next_step(ws, "Taxonomies")


render()
