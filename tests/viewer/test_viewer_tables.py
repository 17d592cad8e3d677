"""The tables below the graph."""

from __future__ import annotations

import json
import re
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
    expect(viewer.locator(".pane tbody tr").first.locator("td")).to_have_text(
        ["! warning", "revenue", "revenue.min", "warn", ">100", "12", "revenue"]
    )
    expect(viewer.locator(".pane tbody tr").last).to_contain_text("✓ passed")
    viewer.get_by_role("tab", name="Run", exact=True).click()
    expect(viewer.get_by_role("tabpanel")).to_contain_text("one partition has 80 % of the rows")
    expect(viewer.get_by_role("link", name="Spark")).to_have_attribute(
        "href", "http://localhost:18080/history/local-1"
    )


def test_a_failed_task_of_a_run_is_not_a_failed_run(show: Show) -> None:
    """A run goes on where a task has the trigger rule `all_done`, for example."""
    shown = documents.composed()
    shown["run"]["task_id"] = None
    failure = {"message": "no", "error_class": "", "sql_state": "", "fragment": ""}
    shown["failures"] = [{**failure, "execution": "delays"}]
    page = show(documents.answer(shown, kind="dag_run"))
    expect(page.get_by_role("region", name="Failure").locator("strong")).to_have_text("✕ delays: failed")


def test_a_task_that_only_checks_opens_with_its_checks(show: Show) -> None:
    """It has no columns to show. A check that was skipped has been evaluated."""
    page = show(documents.answer(documents.checked()))
    expect(page.locator("header")).to_contain_text("read 1 dataset · wrote nothing")
    expect(page.get_by_role("tab", name="Checks 2")).to_have_attribute("aria-selected", "true")
    rows = page.locator(".pane tbody tr")
    expect(rows.first).to_contain_text("! warning")
    expect(rows.last.locator("td")).to_have_text(
        ["○ skipped", "discount", "discount.min", "error", "", "no column discount", "no single dataset"]
    )
    page.get_by_role("tab", name="Columns 0").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("Nothing was written.")
    page.get_by_role("tab", name="Executions 1").click()
    expect(page.locator(".pane tbody td").nth(1)).to_have_text("collect")


def test_a_failed_check_task_opens_with_what_failed(show: Show) -> None:
    """Before its message, of which the first line is enough; all checks are the table in front."""
    page = show(documents.answer(documents.failed_checks()))
    panel = page.get_by_role("region", name="Failed checks")
    expect(panel).to_contain_text("✕ 3 of 5 checks failed")
    expect(panel.locator("li")).to_have_text(
        [
            "amount.max expected < 200, found 938",
            "all.sum.max expected 10, found 9",
            "whole not evaluated: the table is empty",
        ]
    )
    expect(page.locator("section.failure").first).to_have_attribute("aria-label", "Failed checks")
    message = page.get_by_role("region", name="Failure")
    expect(message.locator("pre")).to_have_text("Test failed.")
    message.get_by_role("button", name="Show all 21 lines").click()
    expect(message.locator("pre")).to_contain_text("line 19")
    expect(page.get_by_role("tab").first).to_have_text("Checks 5")
    expect(page.get_by_role("tab", name="Checks 5")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".pane th")).to_have_text(
        ["State", "Column", "Check", "Severity", "Expected", "Found", "Of"]
    )
    expect(page.locator(".pane tbody tr td:first-child")).to_have_text(
        ["✕ failed", "✕ failed", "! warning", "○ not evaluated", "✓ passed"]
    )
    colors = page.locator(".pane td:first-child span").evaluate_all(
        "(spans) => spans.map((span) => getComputedStyle(span).color)"
    )
    assert len(set(colors)) == 3
    expect(page.locator(".graph .check.bad")).to_have_text("✕")
    expect(page.locator(".graph .header")).to_have_attribute("aria-label", re.compile("1 check failed"))


def test_both_times_have_names(viewer: Page) -> None:
    """The executions took three seconds, one beside the other; the task with all else took 41."""
    expect(viewer.locator("header")).to_contain_text("2 executions: 3 s · task: 41 s")


def test_executions_say_what_ran(show: Show) -> None:
    """Their statement or line of the program; else a write and a read are told apart."""
    shown = documents.simple()
    shown["executions"] = [
        documents.execution(1, "command", [], [], statement="create table revenue"),
        documents.execution(2, "command", [0], [2]),
        documents.execution(3, "shop.revenue.orders", [0], []),
        documents.execution(4, "count", [0], []),
    ]
    page = show(documents.answer(shown))
    page.get_by_role("tab", name="Executions 4").click()
    expect(page.locator(".pane tbody td:nth-child(2)")).to_have_text(
        ["create table revenue", "write", "read: shop.revenue.orders", "count"]
    )
    expect(page.locator(".pane tbody td:nth-child(5)")).to_have_text(
        ["", "read orders wrote revenue", "read orders", "read orders"]
    )


def test_masked_is_explained_where_it_is_said(show: Show) -> None:
    """And only there."""
    page = show(documents.answer(documents.simple()))
    expect(page.get_by_role("tabpanel")).to_contain_text("Masked: the values of the source cannot be read")
    page.evaluate("unmount()")
    show(documents.answer(documents.wide(2)))
    expect(page.get_by_role("tabpanel")).to_contain_text("column_0001")
    expect(page.get_by_role("tabpanel")).not_to_contain_text("Masked: ")


def test_gaps_of_a_run_name_their_tasks(show: Show) -> None:
    """Where no dataset is known, a gap is of the task."""
    shown = documents.composed()
    gap = {"where": "", "kind": "task_stopped", "reason": "it was killed", "dataset": None, "column": None}
    shown["gaps"] = [{**gap, "task": 1}, {**gap, "task": None}]
    page = show(documents.answer(shown, kind="dag_run"))
    page.get_by_role("tab", name="Gaps 2").click()
    expect(page.locator(".pane tbody td:first-child")).to_have_text(["delays", "the run"])


def test_which_run_is_shown_is_no_warning(show: Show) -> None:
    """A note has the color of a warning; this sentence does not."""
    page = show(
        documents.answer(documents.simple(), about="This is the newest run: r.", notes=["A problem."])
    )
    expect(page.get_by_role("note")).to_have_text("A problem.")
    expect(page.locator(".about")).to_have_text("This is the newest run: r.")


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
