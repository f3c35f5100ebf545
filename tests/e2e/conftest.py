"""A server of the application and a headless Chromium, for the tests that drive both."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium; skipped where there is none, unless the environment demands it."""
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        reason = f"no Chromium is installed (looked for {', '.join(_BROWSERS)})"
        if os.environ.get("PRIVPFC_BROWSER_TESTS") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The application, started by its own command from a folder that is not the project's."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    start = "import sys; from core.cli import main; sys.exit(main())"
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-c", start, "dashboard", "--port", str(port)],
            cwd=folder,
            env=os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _wait(f"http://localhost:{port}/_stcore/health")
            yield f"http://localhost:{port}"
        finally:
            os.killpg(server.pid, 15)
            server.wait(20)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh browser session at the size of a small laptop; it must log no error."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert not errors


def _wait(health: str) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(health, timeout=5).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
