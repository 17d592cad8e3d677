"""The tables below the graph."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page, expect
from viewer import documents
from viewer.mounting import Show


def test_the_table_filters_and_exports_what_it_shows(viewer: Page) -> None:
    """CSV and JSON have whole names."""
    viewer.get_by_label("Filter the table").fill("join")
    expect(viewer.locator(".pane tbody .ref")).to_have_text(
        ["revenue all rows", "customers.id", "orders.customer_id"]
    )
    with viewer.expect_download() as download:
        viewer.get_by_role("button", name="JSON").click()
    edges = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert [(edge["input"], edge["field"], edge["output"], edge["column"]) for edge in edges] == [
        ("/shop/customers", "id", "/shop/revenue", None),
        ("/shop/orders", "customer_id", "/shop/revenue", None),
    ]
    with viewer.expect_download() as download:
        viewer.get_by_role("button", name="CSV").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert (download.value.suggested_filename, len(lines)) == ("columns.csv", 3)
    viewer.get_by_label("Filter the table").fill("no such column")
    expect(viewer.get_by_text("Nothing has this text.")).to_be_visible()


def test_columns_without_edges_are_in_the_table_and_in_its_exports(viewer: Page) -> None:
    """Below a heading of their own; unknown where a gap says why."""
    expect(viewer.locator("tr", has_text="revenue.score")).to_contain_text(
        "⚠ unknowna Python function computes it"
    )
    expect(viewer.locator("tbody th")).to_have_text(
        ["All rows: what decides which rows there are", "Columns without a source"]
    )
    with viewer.expect_download() as download:
        viewer.get_by_role("button", name="CSV").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert '"score","","","","","","","a Python function computes it"' in text
    viewer.get_by_label("Filter the table").fill("no such column")
    with viewer.expect_download() as download:
        viewer.get_by_role("button", name="CSV").click()
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith('"output_namespace","output"')


def test_what_an_execution_lights_is_told_by_its_button(viewer: Page) -> None:
    """Whatever takes it back: the button, Escape, or another table in between."""
    viewer.get_by_role("tab", name="Executions").click()
    first = viewer.get_by_role("button", name="1: show its datasets")
    first.click()
    expect(first).to_have_attribute("aria-pressed", "true")
    viewer.get_by_role("tab", name="Columns").click()
    viewer.get_by_role("tab", name="Executions").click()
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(viewer.locator(".box.dim")).not_to_have_count(0)
    viewer.keyboard.press("Escape")
    expect(first).to_have_attribute("aria-pressed", "false")
    expect(viewer.locator(".box.dim")).to_have_count(0)


def test_gaps_lead_to_their_columns(viewer: Page) -> None:
    """A click on the column of a gap traces it."""
    viewer.get_by_role("tab", name="Gaps 1").click()
    viewer.get_by_role("tabpanel").get_by_role("button", name="revenue.score").click()
    expect(viewer.locator(".row.traced .name")).to_have_text("score")


def test_complete_is_said(show: Show) -> None:
    """Without a gap."""
    page = show(documents.answer(documents.cyclic()))
    page.get_by_role("tab", name="Gaps 0").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("✓ Complete")


def test_an_execution_lights_its_datasets(viewer: Page) -> None:
    """And no more after a second click."""
    viewer.get_by_role("tab", name="Executions 2").click()
    first = viewer.get_by_role("button", name="1: show its datasets")
    first.click()
    expect(viewer.locator(".box.dim .title")).to_have_text(["customers", "revenue"])
    first.click()
    expect(viewer.locator(".box.dim")).to_have_count(0)


def test_since_the_previous_run(viewer: Page) -> None:
    """Amounts with their change, what is new or gone; another run can be chosen."""
    viewer.get_by_role("tab", name="Since the previous run").click()
    pane = viewer.get_by_role("tabpanel")
    expect(pane.locator("tr", has_text="3 → 1")).to_contain_text("revenuerows3 → 1\u221266.7 %")
    expect(pane.locator("tr", has_text="revenue.score")).to_contain_text("+ new")
    expect(pane.locator("tr", has_text="type")).to_contain_text("float → double")
    pane.get_by_role("combobox").select_option("q")
    expect(pane).to_contain_text("That run has no lineage that can be read.")
    assert "sl_vs=q" in viewer.url


def test_checks_facts_and_links(viewer: Page) -> None:
    """Checks, facts and links have tables of their own."""
    viewer.get_by_role("tab", name="Checks 2").click()
    expect(viewer.get_by_role("tabpanel")).to_contain_text("✕ revenue > 100")
    viewer.get_by_role("tab", name="Run", exact=True).click()
    expect(viewer.get_by_role("tabpanel")).to_contain_text("one partition has 80 % of the rows")
    expect(viewer.get_by_role("link", name="Spark")).to_have_attribute(
        "href", "http://localhost:18080/history/local-1"
    )


def test_tasks_of_a_composed_run(show: Show) -> None:
    """Pills between datasets; tasks without lineage are named in the table alone."""
    page = show(documents.answer(documents.composed(), kind="dag_run"))
    expect(page.locator(".box.task .title")).to_have_text(["clean", "delays"])
    page.get_by_role("tab", name="Tasks 3").click()
    expect(page.locator("tr", has_text="mail")).to_contain_text("no lineage recorded")
    page.get_by_role("button", name="Show its datasets: delays").click()
    expect(page.locator(".box.dim .title")).to_have_text(["/raw/flights".rpartition("/")[2], "clean"])


def test_history_opens_a_run(show: Show) -> None:
    """Newest first, with marks where something changed."""
    run = {
        "state": "complete",
        "began": "2026-11-24T10:00:00Z",
        "rows": 1,
        "size_bytes": 812,
        "try": 1,
        "edges_changed": False,
    }
    history = [{**run, "id": f"run {day}", "label": "", "schema_changed": day == 24} for day in (25, 24, 23)]
    page = show(documents.answer(documents.simple(), kind="task", history=history))
    expect(page.get_by_role("tab", name="History 3")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("img", name="Rows of 3 runs")).to_be_visible()
    expect(page.locator("tr", has_text="run 24")).to_contain_text("columns changed")
    page.get_by_role("button", name="run 24").click()
    assert page.evaluate("asked") == [{"try": None}, "run 24"]
