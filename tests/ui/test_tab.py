"""The tab "Spark lineage" in Airflow's own pages, as a user sees it after logging in."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from browsers import TIMEOUT_MS, guarded
from packaging.version import Version
from playwright.sync_api import Browser, Page, expect
from providers import AIRFLOW

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.browser,
    pytest.mark.spark,
    pytest.mark.skipif(Version("3.1") > AIRFLOW, reason="Airflow 3.0 has no tabs"),
]

expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="module")
def session(browser: Browser, server: Any) -> dict[str, Any]:
    """What the browser keeps after a user has logged in by the form."""
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    page.goto(f"{server.address}/")
    page.get_by_label("Username").fill("viewer")
    page.get_by_label("Password").fill("viewer")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Home").first).to_be_visible()
    state: dict[str, Any] = context.storage_state()
    context.close()
    return state


@pytest.fixture
def page(browser: Browser, server: Any, session: dict[str, Any]) -> Iterator[Page]:
    origin = server.address.removesuffix("/company")
    with guarded(browser, origin, storage_state=session) as context:
        yield context.new_page()


@pytest.fixture
def tab(page: Page, server: Any, run_id: str) -> Any:
    """Return a function that opens the tab of a place, whose run is `RUN`."""

    def opened(place: str, kind: str, query: str = "") -> Page:
        path = place.replace("RUN", quote(run_id))
        page.goto(f"{server.address}/dags/stored{path}/plugin/spark_lineage_{kind}{query}")
        return page

    return opened


def test_a_task_shows_what_it_read_and_wrote(tab):
    """A click on the output shows which columns decide its rows; the address keeps the selection."""
    page = tab("/runs/RUN/tasks/own", "task_instance")
    page.get_by_role("button", name="own").last.click()
    panel = page.get_by_role("complementary", name="Selected dataset")
    expect(panel).to_contain_text("customer")
    expect(panel).to_contain_text("filter")
    assert "sl_dataset=" in page.url
    page.reload()
    expect(panel).to_contain_text("customer")


def test_an_instance_of_a_mapped_task_shows_its_own(tab):
    page = tab("/runs/RUN/tasks/mapped/mapped/1", "task_instance")
    expect(page.get_by_text("mapped_2").first).to_be_visible()
    expect(page.get_by_text("mapped_1")).to_have_count(0)
    expect(page.locator("h2", has_text="stored.mapped [customer 2]")).to_be_visible()


def test_a_failed_task_shows_why(tab):
    """Names and messages of others stay text."""
    page = tab("/runs/RUN/tasks/fails", "task_instance")
    expect(page.get_by_role("region", name="Failure")).to_contain_text("no <b>luck</b>")


def test_the_try_of_the_address_is_asked_for(tab):
    """An XCom has the last try: the first one says so."""
    page = tab("/runs/RUN/tasks/retried", "task_instance", "?try_number=1")
    expect(page.get_by_text("There is lineage of try 2 only")).to_be_visible()
    page = tab("/runs/RUN/tasks/retried", "task_instance", "?try_number=2")
    expect(page.get_by_role("cell", name="amount").first).to_be_visible()


def test_a_task_without_spark_says_why_it_is_empty(tab):
    page = tab("/runs/RUN/tasks/plain", "task_instance")
    expect(page.get_by_role("textbox", name="Command")).to_have_value("spark-lineage doctor")


def test_a_run_shows_its_tasks_together(tab):
    """Tasks without lineage are named."""
    page = tab("/runs/RUN", "dag_run")
    page.get_by_role("tab", name="Tasks").click()
    expect(page.get_by_role("row", name="plain")).to_contain_text("no lineage recorded")


def test_a_task_shows_its_runs(tab):
    page = tab("/tasks/own", "task")
    page.get_by_role("tab", name="History").click()
    expect(page.get_by_role("cell", name="success")).to_be_visible()


def test_a_dag_shows_its_newest_run(tab):
    page = tab("", "dag")
    expect(page.get_by_text("This is the newest run")).to_be_visible()
    expect(page.get_by_text("captured").first).to_be_visible()


def test_the_tab_follows_the_theme_of_airflow(tab):
    """Also when it changes while the tab is open."""
    page = tab("/runs/RUN/tasks/own", "task_instance")
    expect(page.locator(".viewer")).not_to_have_class("viewer dark")
    page.evaluate("document.documentElement.classList.replace('light', 'dark')")
    expect(page.locator(".viewer")).to_have_class("viewer dark")


def test_a_narrow_window_shows_the_whole_width_of_the_tab(tab):
    """Airflow's page is wider than the window there; what is right of it could not be reached."""
    page = tab("/runs/RUN/tasks/own", "task_instance")
    page.set_viewport_size({"width": 700, "height": 860})
    expect(page.get_by_label("Find a dataset or column")).to_be_in_viewport(ratio=1)
    expect(page.locator(".below").get_by_role("button", name="SVG")).to_be_in_viewport(ratio=1)


def test_the_tab_can_be_left_and_opened_again(tab):
    """By a click, and by the browser's button."""
    page = tab("/runs/RUN/tasks/own", "task_instance")
    output = page.get_by_role("button", name="own").last
    expect(output).to_be_visible()
    page.get_by_role("link", name="Code").click()
    expect(output).to_have_count(0)
    page.get_by_role("link", name="Spark lineage").click()
    expect(output).to_be_visible()
    page.go_back()
    expect(output).to_have_count(0)
    page.go_forward()
    expect(output).to_be_visible()


PLACES = [
    ("/runs/RUN/tasks/own", "task_instance"),
    ("/runs/RUN", "dag_run"),
    ("/tasks/own", "task"),
    ("", "dag"),
]
KEYS = [*"/", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "Enter", "Escape", *"t+- "]
"""Keys that docs/viewer.md lists, and the others of the graph."""


@pytest.mark.parametrize(("place", "kind"), PLACES, ids=[kind for _, kind in PLACES])
def test_no_key_reaches_airflow(tab, place, kind):
    """While a field or the graph has the focus: there `g` and other letters are shortcuts of Airflow."""
    page = tab(place, kind)
    graph = page.locator("svg.graph")
    expect(graph).to_be_visible()
    graph.evaluate("""(svg) => {
      svg.isFirst = true;
      globalThis.left = [];
      for (const name of ["keydown", "keypress", "keyup"])
        document.addEventListener(name, (event) => left.push(`${name} ${event.key}`));
    }""")
    path = page.url.partition("?")[0]
    fields = [page.get_by_label("Find a dataset or column"), page.get_by_label("Filter the table")]
    page.get_by_role("tab", name="Columns").click()
    text = string.ascii_letters + string.digits
    for field in fields:
        field.focus()
        page.keyboard.type(text)
        expect(field).to_have_value(text)
        for key in KEYS:
            field.focus()
            page.keyboard.press(key)
        field.fill("")
    for key in [*text, *KEYS]:
        graph.focus()
        page.keyboard.press(key)
    assert page.evaluate("left") == []
    assert page.url.partition("?")[0] == path
    assert graph.evaluate("(svg) => svg.isFirst"), "the tab was mounted anew"


def test_a_slash_finds_as_soon_as_the_tab_is_open(tab):
    """Nothing of the tab has the focus yet."""
    page = tab("/runs/RUN/tasks/own", "task_instance")
    expect(page.locator("svg.graph")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    expect(page.get_by_label("Find a dataset or column")).to_be_focused()
