"""One page skeleton: title, what the page decides, the content, what is missing, the next step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st

from core.budget import STEPS
from core.errors import PrivPfCError
from core.visibility import Visibility
from dashboard import text
from dashboard.jobs import Job
from dashboard.state import Workspace

PAGES = {
    "Data": ("views/data.py", "database"),
    "Taxonomies": ("views/taxonomies.py", "account_tree"),
    "Privacy budget": ("views/budget.py", "lock"),
    "Preview": ("views/preview.py", "visibility"),
    "Release": ("views/release.py", "publish"),
    "Utility": ("views/utility.py", "query_stats"),
}
"""Title → file and icon, in the order of the work."""


def header(title: str, sentence: str) -> None:
    """Title and the one sentence that says what the page decides."""
    st.title(title)
    st.markdown(sentence)


def visibility(kind: Visibility, note: str = "") -> None:
    """Say who may see what stands above."""
    color, label, meaning = text.VISIBILITY[kind]
    st.caption(f":{color}-badge[{label}] {note or meaning}")


def needs(workspace: Workspace, *pages: str) -> bool:
    """True if nothing is missing on earlier pages; otherwise say what, with a link."""
    gaps = {page: gap for page, gap in workspace.gaps().items() if page in pages}
    for page, gap in gaps.items():
        st.info(f"**{page}:** {gap}", icon=":material/pending:")
        link(page, f"Go to {page}")
    return not gaps


def next_step(workspace: Workspace, page: str) -> None:
    """What is still missing before the next page, or the way there."""
    titles = list(PAGES)
    place = titles.index(page)
    following = titles[place + 1]
    st.divider()
    gaps = workspace.gaps()
    gap = next((gaps[earlier] for earlier in titles[: place + 1] if earlier in gaps), None)
    if gap:
        st.info(f"Before the next step: {gap}", icon=":material/pending:")
    if st.button(
        f"Next: {following}",
        type="primary" if gap is None else "secondary",
        icon=":material/arrow_forward:",
        disabled=gap is not None,
        key=f"next-{page}",
    ):
        st.switch_page(PAGES[following][0])


def link(page: str, label: str) -> None:
    """A link to a page."""
    st.page_link(PAGES[page][0], label=label, icon=":material/arrow_forward:")


def sidebar(workspace: Workspace) -> None:
    """The running summary of the choices."""
    with st.sidebar:
        st.subheader("Your choices", anchor=False)
        if workspace.source is None:
            st.caption("No table yet.")
            return
        lines = [("Table", workspace.title), ("Label", workspace.label_name or "not chosen")]
        unit = (
            "not chosen" if workspace.unit_rows is None else f"{workspace.unit_who}, at most {workspace.unit_rows:,} row(s)"
        )
        lines.append(("Protected", unit))
        lines.append(("Public size", "not declared" if workspace.size is None else f"about {workspace.size:,} records"))
        suggested = sum(taxonomy.suggested for taxonomy in workspace.used_taxonomies)
        note = f" ({suggested} from data)" if suggested else ""
        lines.append(("Attributes", f"{len(workspace.used_taxonomies)} of {len(workspace.columns)}{note}"))
        try:
            epsilon = workspace.epsilon
            sure = 100 * text.certainty(float(epsilon * (workspace.unit_rows or 1)))
            lines.append(("Privacy budget (ε)", f"{float(epsilon):g} — 50 % becomes at most {sure:.0f} %"))
        except PrivPfCError:
            lines.append(("Privacy budget (ε)", "not a number"))
        lines.append(("Recipe", workspace.recipe_name))
        lines.append(("Split", _split_text(workspace)))
        st.caption("  \n".join(f"**{name}:** {_plain(value)}" for name, value in lines))
        if workspace.releases:
            spent = float(workspace.spent_on_table)
            st.caption(
                f"Releases of this table so far: ε = {spent:g} in all. Budgets of releases about the same people add up."
            )


def figure(label: str, value: str, note: str = "") -> None:
    """One number in a frame, with its unit in the label and a note that may wrap."""
    with st.container(border=True, height="stretch", gap="small"):
        st.metric(label, value)
        st.caption(_plain(note))


@contextmanager
def one_sentence() -> Iterator[None]:
    """Show an error that is meant for the officer, and go on."""
    try:
        yield
    except PrivPfCError as error:
        st.error(str(error), icon=":material/error:")


def watch(job: Job[Any], cancel_label: str, key: str) -> None:
    """Progress of a running job with a cancel button; the page is drawn anew when the job ends."""

    @st.fragment(run_every=0.5)
    def progress() -> None:
        if not job.running:
            st.rerun()
        stage = "Stopping" if job.stopping else text.STAGES.get(job.stage, job.stage)
        share = min(1.0, job.done / max(1, job.total))
        counter = f" — {job.done:,} of {job.total:,}" if job.total > 1 else ""
        st.progress(share, text=f"{stage}{counter}")
        st.button(cancel_label, key=key, on_click=job.cancel, disabled=job.stopping)

    progress()


def outcome(job: Job[Any]) -> None:
    """Why an ended job has no result."""
    if job.error:
        st.error(job.error, icon=":material/error:")
    elif job.cancelled:
        st.info("Stopped. Nothing was released, and your choices are kept.", icon=":material/cancel:")


def _split_text(workspace: Workspace) -> str:
    try:
        parts = workspace.recipe.budget(workspace.epsilon, size=False, features=False, split=workspace.split).parts
        whole = sum(parts.values())
        return ", ".join(
            f"{float(100 * parts[step] / whole):.0f} % {text.STEPS[step].lower()}" for step in STEPS if step in parts
        )
    except PrivPfCError as error:
        return str(error)


def _plain(value: str) -> str:
    """File names and labels are shown as they are, not as Markdown."""
    return "".join(f"\\{character}" if character in "\\`*_{}[]<>#|$~:" else character for character in value)
