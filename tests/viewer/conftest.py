"""Pages with the modules of the viewer, from a server on loopback: a request to elsewhere fails the test."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browsers
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect
from viewer import documents
from viewer.mounting import MOUNT, PREVIOUS, STATIC, Show

browser = browsers.browser
expect.set_options(timeout=browsers.TIMEOUT_MS)

PAGE = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Viewer</title>
<style>body{margin:0} #here{height:100vh}</style><main id="here"></main>"""


class Files(http.server.SimpleHTTPRequestHandler):
    """The modules, and an empty page at every other address."""

    def do_GET(self) -> None:
        """Answer with a module, or with the page; a page that was closed needs no answer."""
        with contextlib.suppress(ConnectionError):
            if self.path.endswith(".js"):
                # Airflow's tab has the version in the path of its modules.
                self.path = self.path.removeprefix("/static/1.0")
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(b"" if self.path.endswith(".ico") else PAGE)

    def end_headers(self) -> None:
        """Let a sandboxed frame import the modules."""
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents and {"page", "modules"} & set(
            getattr(item, "fixturenames", ())
        ):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server on loopback."""
    handler = functools.partial(Files, directory=str(STATIC))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()


@pytest.fixture(scope="session")
def wrong() -> list[str]:
    """Errors of a page: a request to elsewhere, an error in the console, a dialog."""
    return []


@pytest.fixture(scope="module")
def context(browser: Browser, server: str, wrong: list[str]) -> Iterator[BrowserContext]:
    """One context for the tests of a module: what the viewer imports is fetched once."""
    opened = browser.new_context(
        viewport={"width": 1400, "height": 860}, reduced_motion="reduce", timezone_id="UTC"
    )
    opened.set_default_timeout(browsers.TIMEOUT_MS)

    def guard(request: Request) -> None:
        if not request.url.startswith((server, "blob:")):
            wrong.append(f"request to {request.url}")

    opened.on("request", guard)
    opened.on("weberror", lambda error: wrong.append(f"error: {error.error}"))
    opened.on(
        "console",
        lambda message: wrong.append(f"console: {message.text}") if message.type == "error" else None,
    )
    opened.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, server: str, wrong: list[str]) -> Iterator[Page]:
    """An empty page from which the modules can be imported; nothing wrong may happen in it."""
    wrong.clear()
    opened = context.new_page()
    opened.goto(server)
    yield opened
    for each in context.pages:
        each.close()
    assert wrong == []


@pytest.fixture(scope="module")
def modules(context: BrowserContext, server: str) -> Iterator[Page]:
    """One page for all tests of modules that draw nothing."""
    opened = context.new_page()
    opened.goto(server)
    yield opened
    opened.close()


@pytest.fixture
def show(page: Page) -> Show:
    """Mount the viewer with an answer; `runs` are earlier runs by their ids."""

    def mounted(answer: dict[str, Any], runs: dict[str, Any] | None = None, on: Page | None = None) -> Page:
        shown = on or page
        shown.evaluate(MOUNT, json.dumps([answer, runs or {}]))
        return shown

    return mounted


@pytest.fixture
def viewer(show: Show) -> Page:
    """The viewer of the simple document, with two earlier runs; the second has no lineage."""
    answer = documents.answer(documents.simple(), previous=PREVIOUS, tries=[1, 2], **{"try": 2})
    return show(answer, {"p": documents.before_simple()})
