"""A browser for tests: Debian's Chromium, driven by playwright.

The environment variable CHROMIUM may name the executable. Where there is none, tests fail: a skip would hide
that nobody looked. `SPARK_LINEAGE_NO_BROWSER=1` skips them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Request

TIMEOUT_MS = 60_000
"""Limit for what a page does in a moment: a busy machine needs many of them."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module.

    Not of a process: until playwright ends, its event loop is the running one of the thread, and no other
    test there could run a coroutine.
    """
    if os.environ.get("SPARK_LINEAGE_NO_BROWSER") == "1":
        pytest.skip("SPARK_LINEAGE_NO_BROWSER=1")
    chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    if chromium is None:
        pytest.fail(
            "the tests of the viewer need Chromium: install it (Debian: apt-get install chromium"
            " fonts-dejavu-core), name it in the environment variable CHROMIUM, or leave these tests out with"
            " SPARK_LINEAGE_NO_BROWSER=1",
            pytrace=False,
        )
    # Here, because environments of other versions have tests beside this module, and no playwright.
    from playwright.sync_api import sync_playwright

    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=chromium, args=[*sandbox, "--disable-dev-shm-usage"]
        )
        yield opened
        opened.close()


@contextlib.contextmanager
def guarded(browser: Browser, server: str, **settings: Any) -> Iterator[BrowserContext]:
    """A context for Airflow's pages: a request to elsewhere and an error in a page fail the test.

    Airflow's own pages ask for a task instance of no run while they change: refused requests count only if
    they are ours.
    """
    settings = {"viewport": {"width": 1400, "height": 860}, "reduced_motion": "reduce", **settings}
    opened = browser.new_context(**settings)
    opened.set_default_timeout(TIMEOUT_MS)
    wrong: list[str] = []

    def guard(request: Request) -> None:
        if not request.url.startswith((server, "blob:", "data:")):
            wrong.append(f"request to {request.url}")

    def note(message: ConsoleMessage) -> None:
        place = message.location["url"]
        is_theirs = message.text.startswith("Failed to load resource") and "/spark_lineage/" not in place
        if message.type == "error" and not is_theirs:
            wrong.append(f"console: {message.text} ({place})")

    opened.on("request", guard)
    opened.on("weberror", lambda error: wrong.append(f"error: {error.error}"))
    opened.on("console", note)
    opened.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    yield opened
    opened.close()
    assert wrong == [], wrong
