"""Text of anybody: no script runs, no request is sent, nothing is named by data, and what is broken is said.

Each page of these tests fails by itself on a dialog, a request to elsewhere, or an error (conftest.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from viewer import documents
from viewer.mounting import Show

NAMES_OF_CODE = """() => {
  const root = document.querySelector("main > div").shadowRoot;
  const ofCode = /^(box-\\d+(-\\d+)?|found(-\\d+)?|pane|tab)$/;
  const ids = [...root.querySelectorAll("[id]")].map(({ id }) => id).filter((id) => !ofCode.test(id));
  const named = [...root.querySelectorAll("[name]")].length;
  const elements = ["img", "script", "iframe", "object", "b", "foreignobject"];
  const foreign = [...root.querySelectorAll("*")].filter(({ localName }) => elements.includes(localName));
  return [ids, named, foreign.length, [...root.querySelectorAll("a")].map((a) => a.getAttribute("href"))];
}"""


def test_hostile_names_are_text(show: Show, page: Page) -> None:
    """In the graph, in every table, in the panel, in the export."""
    page = show(documents.answer(documents.hostile(), notes=["<img src=x>"]), {})
    page.get_by_role("button", name="Open all").click()
    page.locator(".graph .header").first.click()
    page.locator(".graph .row").first.click()
    for tab in page.get_by_role("tab").all():
        tab.click()
        ids, named, foreign, links = page.evaluate(NAMES_OF_CODE)
        assert (ids, named, foreign) == ([], 0, 0)
    assert links == ["http://localhost/?<script>"]
    expect(page.get_by_role("heading", level=2)).to_have_text("<img src=x onerror=alert(1)>")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert "<img" not in text
    assert not page.evaluate(
        "(text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')", text
    )


def test_endless_names_are_cut_and_marks_of_direction_are_seen(show: Show) -> None:
    """An unseen character has a mark, so it cannot reorder what stands beside it."""
    page = show(documents.answer(documents.hostile()))
    longest = page.evaluate("""() => {
      const root = document.querySelector("main > div").shadowRoot;
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      let longest = 0;
      let unseen = 0;
      while (walker.nextNode()) {
        longest = Math.max(longest, walker.currentNode.data.length);
        unseen += /[\\0\\u202a-\\u202e\\u2066-\\u2069]/.test(walker.currentNode.data);
      }
      return [longest, unseen];
    }""")
    assert longest[0] <= 1000
    assert longest[1] == 0
    assert page.locator(".viewer").evaluate("(element) => element.scrollWidth <= element.clientWidth")


@pytest.mark.parametrize(
    "broken",
    [
        None,
        3,
        [],
        "torn",
        {},
        {"document": 7},
        {"document": {"datasets": [None, 3, {}], "edges": {}}},
        {"document": {**documents.simple(), "datasets": [{"name": "a", "columns": "b", "reads": 3}, None]}},
        {
            "document": {
                **documents.simple(),
                "executions": [{"reads": [99, "a"], "number": "x"}],
                "run": None,
            }
        },
        {"document": documents.simple(), "history": [1], "previous": {}, "tries": "1", "notes": [None]},
        {"document": {**documents.simple(), "edges": [documents.edge(0, "a", 2, "b", type=None)] * 3}},
    ],
)
def test_a_broken_answer_is_no_error(show: Show, broken: Any) -> None:
    """Something is said, and every tab that there is opens."""
    page = show(broken)
    expect(page.locator(".empty h2, .graph .title, .note").first).to_be_visible()
    for tab in page.get_by_role("tab").all():
        tab.click()


def test_a_permalink_of_something_else_is_ignored(show: Show, page: Page, server: str) -> None:
    """A dataset, a column, a tab and a run that are not there."""
    page.goto(f"{server}/?sl_dataset=nothing&sl_column=%3Cb%3E&sl_tab=__proto__&sl_vs=%00")
    show(documents.answer(documents.simple()))
    expect(page.locator(".graph .title")).to_have_count(3)
    expect(page.get_by_role("tab", name="Columns 3")).to_have_attribute("aria-selected", "true")


def test_a_column_that_is_not_there_is_traced_to_nothing(show: Show, page: Page, server: str) -> None:
    """The dataset of a permalink is still selected."""
    page.goto(f"{server}/?sl_dataset=file+/shop/orders&sl_column=gone")
    show(documents.answer(documents.simple()))
    expect(page.get_by_role("heading", level=3)).to_have_text("orders")
