"""Rules of WCAG 2.2 AA, as axe-core checks them, in each state, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Page, expect
from viewer import documents
from viewer.mounting import Show

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RUN = """async (rulesOnly) => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const rules = { "label-content-name-mismatch": { enabled: true }, "target-size": { enabled: true } };
  const all = { runOnly: { type: "tag", values: tags }, rules };
  const some = { runOnly: { type: "rule", values: rulesOnly } };
  const { violations, passes } = await axe.run(document, rulesOnly ? some : all);
  if (!rulesOnly && passes.length < 10) throw new Error("axe looked at almost nothing");
  return violations.map(({ id, nodes: [first, ...others] }) =>
    `${id}: ${JSON.stringify(first.target)} ${first.failureSummary}, and ${others.length} more`);
}"""

PAST = {
    "label": "",
    "state": "complete",
    "began": "2026-11-24T10:00:00Z",
    "rows": 1,
    "size_bytes": 812,
    "try": 1,
}
HISTORY = [{**PAST, "id": day, "schema_changed": True, "edges_changed": True} for day in ("a", "b", "c")]
ANSWER = documents.answer(
    documents.simple(),
    previous=[{"id": "p", "label": "p"}],
    history=HISTORY,
    notes=["A note."],
    tries=[1, 2],
    **{"try": 2},
)
REVENUE = "?sl_dataset=file+/shop/revenue"

STATES: dict[str, tuple[dict[str, Any], str, str]] = {
    "first": (ANSWER, "", "Open all"),
    "dataset": (ANSWER, REVENUE, "Open all"),
    "traced": (ANSWER, f"{REVENUE}&sl_column=revenue", ""),
    "all rows": (ANSWER, f"{REVENUE}&sl_column=&sl_tab=executions", "1: show its datasets"),
    "since": (ANSWER, "?sl_tab=previous", ""),
    "gaps": (ANSWER, "?sl_tab=gaps", ""),
    "checks": (ANSWER, "?sl_tab=checks", ""),
    "run": (ANSWER, "?sl_tab=run", ""),
    "columns": (ANSWER, "?sl_tab=columns", ""),
    "failed": (documents.answer(documents.failed()), "", "Show what it read"),
    "composed": (documents.answer(documents.composed()), "?sl_tab=tasks", ""),
    "empty": (documents.answer(None, reason={"sentence": "Why.", "command": "spark-lineage doctor"}), "", ""),
}


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing(show: Show, page: Page, server: str, state: str) -> None:
    """Names, contrast, roles and sizes; of the dark theme, contrast."""
    answer, address, button = STATES[state]
    page.goto(f"{server}/{address}")
    show(answer, {"p": documents.before_simple()})
    page.evaluate(AXE)
    if button:
        page.get_by_role("button", name=button).click()
    found = {}
    for theme in ("light", "dark"):
        page.evaluate("(theme) => { document.documentElement.className = theme; }", theme)
        expect(page.locator(".viewer.dark")).to_have_count(1 if theme == "dark" else 0)
        found[theme] = page.evaluate(RUN, ["color-contrast"] if theme == "dark" else None)
    assert found == {"light": [], "dark": []}


def test_axe_finds_nothing_while_searching(show: Show, page: Page) -> None:
    """The list of what was found, and a narrow screen."""
    show(ANSWER)
    page.evaluate(AXE)
    page.set_viewport_size({"width": 420, "height": 860})
    page.get_by_label("Find a dataset or column").fill("rev")
    expect(page.locator(".found [role=option]").first).to_be_visible()
    assert page.evaluate(RUN) == []
