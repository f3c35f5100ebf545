"""Page Data: which table, which label, who is protected."""

import streamlit as st

import sample_data
from core.schema import Declaration, MissingPolicy
from core.source import SUFFIXES
from core.visibility import Visibility
from dashboard import layout, text
from dashboard.state import Workspace, forget, once, workspace

_WIDGETS = ("label", "label_values", "label_declared", "who", "rows", "size", "size-public", "missing")


def _choose_table(ws: Workspace) -> None:
    """Samples and upload."""
    st.subheader("1 · Choose a table", anchor=False)
    columns = st.columns(len(sample_data.SAMPLES) + 1, gap="medium")
    for column, name in zip(columns, sample_data.SAMPLES, strict=False):
        declared = Declaration.read(sample_data.sample_path(name).read_text(encoding="utf-8"))
        with column.container(border=True, height=270):
            st.markdown(f"**{declared.title}**")
            st.caption(declared.description)
            if st.button("Use this sample", key=f"sample-{name}", type="primary" if ws.source is None else "secondary"):
                with layout.one_sentence():
                    ws.open_sample(name)
                    forget(*_WIDGETS)
    with columns[-1].container(border=True, height=270):
        uploaded = st.file_uploader(
            "Upload a table (CSV, TSV, Parquet or Excel)",
            type=[suffix[1:] for suffix in SUFFIXES],
            key="upload",
            help="One row a record, the first line names the columns. The file stays on the machine this application runs on.",
        )
    # Below the cards, where a sentence has room.
    if uploaded is not None and once(f"upload-{uploaded.file_id}"):
        with layout.one_sentence():
            ws.open_upload(uploaded.name, uploaded.getvalue())
            forget(*_WIDGETS)
            st.success(f"“{uploaded.name}” is open. Now choose its label below.")


def _show_table(ws: Workspace) -> None:
    """The first rows."""
    assert ws.source is not None
    st.subheader(f"{ws.title}: the first rows", anchor=False)
    with layout.one_sentence():
        st.dataframe(ws.source.head(5), hide_index=True)
        layout.visibility(Visibility.CURATOR_ONLY, "These are real records of your table; they must not leave the building.")


def _declare(ws: Workspace) -> None:
    """Label, unit of privacy, size and missing values."""
    assert ws.source is not None
    st.subheader("2 · Declare what is known about it", anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        _declare_label(ws)
    with right:
        _declare_unit(ws)


def _declare_label(ws: Workspace) -> None:
    assert ws.source is not None
    options = list(ws.source.columns)
    chosen = st.selectbox(
        "Label: the column that classifiers are to predict",
        options,
        index=options.index(ws.label_name) if ws.label_name in options else None,
        placeholder="Choose a column",
        key="label",
    )
    if chosen is not None and chosen != ws.label_name:
        values = ws.source.distinct_values(chosen, 100)
        ws.label_name, ws.label_values, ws.label_suggested = chosen, tuple(values), True
        forget("label_values", "label_declared")
    if ws.label_name is None:
        return
    if len(ws.label_values) > 100:
        st.error(f"“{ws.label_name}” has more than 100 values; choose a column with fewer classes.", icon=":material/error:")
        ws.label_name, ws.label_values = None, ()
        return
    ws.label_values = tuple(
        st.multiselect(
            "Its classes", ws.label_values, default=ws.label_values, accept_new_options=True, key="label_values",
            help="Every class that may occur. Records with another class are refused.",
        )
    )  # fmt: skip
    ws.label_suggested = not st.checkbox(
        "These classes are public knowledge",
        value=not ws.label_suggested,
        key="label_declared",
        help="Tick it if you would have written the same list without looking at this table. Otherwise the release says "
        "that this part is not private.",
    )


def _declare_unit(ws: Workspace) -> None:
    who, rows = st.columns([3, 2], vertical_alignment="bottom")
    ws.unit_who = who.text_input(
        "Who is protected?", ws.unit_who, placeholder="person, patient, household …", key="who"
    ).strip()
    rows_each = rows.number_input(
        "Rows each has at most", min_value=1, max_value=10_000, value=ws.unit_rows, step=1, placeholder="required", key="rows",
        help="If one person can stand in the table k times, the guarantee for that person is k times ε.",
    )  # fmt: skip
    ws.unit_rows = None if rows_each is None else int(rows_each)
    public = st.toggle(
        "The rough number of records is public knowledge",
        value=ws.size is not None,
        key="size-public",
        help="Only if the rough size of the table is no secret. Otherwise the recipe spends a little of the budget on it.",
    )
    if public:
        size = st.number_input(
            "About how many records?", min_value=1, value=ws.size, step=1000, placeholder="a round number", key="size"
        )
        ws.size = None if size is None else int(size)
    else:
        ws.size = None
    policies = list(text.MISSING)
    policy = st.selectbox(
        "Records with missing values",
        policies,
        index=policies.index(ws.missing or "none"),
        format_func=text.MISSING.__getitem__,
        key="missing",
    )
    ws.missing = None if policy == "none" else MissingPolicy(policy)


def _show_declarations(ws: Workspace) -> None:
    """What is declared about each attribute."""
    st.subheader("3 · Attributes", anchor=False)
    if not ws.taxonomies:
        st.caption("The attributes of this table have no taxonomies yet; the next page makes or imports them.")
        return
    rows = [
        {
            "Attribute": column,
            "Kind": "numeric" if tree and tree.numeric else "categorical" if tree else "—",
            "Finest groups": None if tree is None else len(tree.leaves),
            "Levels": None if tree is None else tree.height,
            "Declared": "no taxonomy: left out" if tree is None else "suggested from data" if tree.suggested else "declared",
        }
        for column in ws.columns
        for tree in [ws.taxonomies.get(column)]
    ]
    st.dataframe(rows, hide_index=True, height=min(38 * (len(rows) + 1), 420))
    layout.visibility(Visibility.PUBLIC if not any(t.suggested for t in ws.used_taxonomies) else Visibility.CURATOR_ONLY)


def render() -> None:
    """Draw the page."""
    ws = workspace()
    layout.header("Data", "Choose the table that has to leave the building, and say what is publicly known about it.")
    _choose_table(ws)
    if ws.source is not None:
        _show_table(ws)
        _declare(ws)
        _show_declarations(ws)
    layout.next_step(ws, "Data")


render()
