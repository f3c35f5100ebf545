"""The downloads of a finished release, the same on every page that offers them."""

from __future__ import annotations

import streamlit as st

from core.bundle import HISTOGRAM, MANIFEST, SAMPLED, SYNTHETIC, TAXONOMIES
from core.visibility import Visibility
from dashboard import layout
from dashboard.state import FinishedRelease

_FILES = (
    (f"{SYNTHETIC}.csv", "Synthetic table, groups (CSV)", "text/csv"),
    (f"{SYNTHETIC}.parquet", "Synthetic table, groups (Parquet)", "application/octet-stream"),
    (f"{SAMPLED}.csv", "Synthetic table, drawn values (CSV)", "text/csv"),
    (f"{SAMPLED}.parquet", "Synthetic table, drawn values (Parquet)", "application/octet-stream"),
    (HISTOGRAM, "Noisy histogram (CSV)", "text/csv"),
    (TAXONOMIES, "Taxonomies (JSON)", "application/json"),
    (MANIFEST, "Manifest with every parameter (JSON)", "application/json"),
)


def downloads(finished: FinishedRelease) -> None:
    """All files at once, and one by one; packed when they are asked for, not whenever the page is drawn."""
    stamp = finished.created.strftime("%Y%m%d-%H%M%S")
    st.download_button(
        "Download all (ZIP)", finished.bundle.archive, f"release-{stamp}.zip", "application/zip", type="primary",
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip
    with st.expander("Single files"):
        for name, title, mime in _FILES:
            st.download_button(title, finished.bundle[name], name, mime, on_click="ignore", key=f"download-{name}")
    mark(finished)


def mark(finished: FinishedRelease) -> None:
    """Who may see a release: not everybody, where parts of it are not private."""
    if finished.release.caveats:
        layout.visibility(
            Visibility.CURATOR_ONLY, "Parts of this release are not private; read the notes before it goes out."
        )
    else:
        layout.visibility(Visibility.PRIVATE_RELEASE)
