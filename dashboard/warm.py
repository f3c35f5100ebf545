"""Compile the kernels in the background when the application starts, so that nobody waits for it later."""

from __future__ import annotations

import threading

import streamlit as st

from core import pool


@st.cache_resource
def warm_up() -> threading.Thread:
    """Start the compilation once for the server."""
    thread = threading.Thread(target=pool.warm_up, daemon=True, name="privpfc-warm-up")
    thread.start()
    return thread
