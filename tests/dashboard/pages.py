"""A running application for the page tests, and small tables to upload."""

from __future__ import annotations

import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

import dashboard
from dashboard.layout import PAGES
from dashboard.state import Workspace, _workspaces

APP = Path(dashboard.__file__).parent / "app.py"

SMALL = "age,colour,class\n" + "".join(
    f"{20 + i % 40},{'red' if i % 3 else 'blue'},{'yes' if (i % 40 > 20) == bool(i % 5) else 'no'}\n" for i in range(400)
)
"""A table of 400 records that depends on its attributes."""


def start() -> AppTest:
    """The application on its first page."""
    return AppTest.from_file(str(APP), default_timeout=60).run()


def workspace_of(app: AppTest) -> Workspace:
    """The workspace behind a running application."""
    return _workspaces()[app.session_state["workspace"]]


def on(app: AppTest, page: str) -> AppTest:
    """The same application on another page."""
    return app.switch_page(PAGES[page][0]).run()


def with_sample(name: str = "clinic") -> AppTest:
    """The application with a sample in use."""
    return start().button(key=f"sample-{name}").click().run()


def with_small_table() -> AppTest:
    """The application with a small uploaded table, fully declared."""
    app = start()
    upload(app, "small.csv", SMALL.encode())
    declare(app, "class")
    app.toggle(key="size-public").set_value(True).run()
    app.number_input(key="size").set_value(400).run()
    on(app, "Taxonomies")
    named(app, "Suggest from the table").click().run()
    return app


def declare(app: AppTest, label: str) -> AppTest:
    """Declare label and unit of privacy of the uploaded table."""
    app.selectbox(key="label").select(label).run()
    app.text_input(key="who").input("person").run()
    return app.number_input(key="rows").set_value(1).run()


def upload(app: AppTest, name: str, content: bytes) -> AppTest:
    """Upload a table on the page Data."""
    return app.file_uploader(key="upload").upload(name, content, "text/csv").run()


def named(app: AppTest, label: str):
    """The button of a label."""
    return next(button for button in app.button if button.label == label)


def finished(app: AppTest, seconds: float = 60) -> AppTest:
    """Run the page again until no job of its workspace is running."""
    ws = workspace_of(app)
    until = time.monotonic() + seconds
    for job in (ws.counting, ws.releasing, ws.evaluating):
        if job is not None:
            job.wait(max(0.0, until - time.monotonic()))
            assert not job.running
    return app.run()


def words(app: AppTest) -> str:
    """Everything the page says, to search in."""
    kinds = (app.title, app.markdown, app.caption, app.info, app.warning, app.error, app.success, app.subheader)
    return "\n".join(str(element.value) for elements in kinds for element in elements)
