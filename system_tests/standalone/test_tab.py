"""The demo's DAG on `airflow standalone`: each of its tasks shows its lineage in the tab, in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import browsers
import pytest
from playwright.sync_api import Browser, Page, expect

from system_tests.examples import DAGS, settings_of
from system_tests.standalone.deployment import FINISHED, Airflow, standalone, wait_for

DAG_ID, RUN_ID = "nycflights", "shown-in-the-tab"
RUN_TIMEOUT_S = 1800

OUTPUTS = {
    "bronze_weather": "bronze/weather",
    "bronze_flights": "bronze/flights",
    "bronze_airlines": "bronze/airlines",
    "bronze_planes": "bronze/planes",
    "bronze_airports": "bronze/airports",
    "silver_weather": "silver/weather",
    "silver_flights": "silver/flights",
    "gold_delays_by_carrier": "gold/delays_by_carrier",
    "gold_worst_routes": "gold/worst_routes",
    "gold_delays_by_weather": "gold.db/delays_by_weather",
}
"""Task -> the end of the name of what it writes."""

browser = browsers.browser
expect.set_options(timeout=browsers.TIMEOUT_MS)


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Airflow]:
    """An Airflow in which the DAG has run."""
    home = tmp_path_factory.mktemp("tab of the demo")
    settings = settings_of(home / "data", home)
    # Nothing listens there: the tab needs no backend.
    settings["AIRFLOW__OPENLINEAGE__TRANSPORT"] = '{"type": "console"}'
    with standalone(home / "airflow", DAGS / f"{DAG_ID}.py", DAG_ID, settings) as airflow:
        airflow.trigger(RUN_ID)

        def state() -> str:
            return airflow.state(RUN_ID)

        wait_for(lambda: state() in FINISHED, lambda: f"the run is {state()}", RUN_TIMEOUT_S, pause_s=2)
        assert state() == "success"
        yield airflow


@pytest.fixture(scope="module")
def page(browser: Browser, airflow: Airflow) -> Iterator[Page]:
    """A page of a user who is logged in."""
    first = browser.new_context()
    login = first.new_page()
    login.goto(airflow.url)
    expect(login.get_by_role("link", name="Home").first).to_be_visible()
    state = first.storage_state()
    first.close()
    # Not for the login: Airflow's own page reports its refused requests as errors.
    with browsers.guarded(browser, airflow.url, storage_state=state) as context:
        yield context.new_page()


def test_each_task_shows_what_it_wrote(page: Page, airflow: Airflow) -> None:
    """By clicks from the page of the DAG run."""
    for task, output in OUTPUTS.items():
        page.goto(f"{airflow.url}/dags/{DAG_ID}/runs/{RUN_ID}/tasks/{task}")
        page.get_by_role("link", name="Spark lineage").click()
        # The name of a box has the whole name of its dataset.
        page.get_by_role("button", name=output).first.click()
        panel = page.get_by_role("complementary", name="Selected dataset")
        expect(panel).to_contain_text(re.compile("overwritten|created"))


def test_three_clicks_say_which_columns_decide_the_rows(page: Page, airflow: Airflow) -> None:
    """The task, its tab, the box of the output."""
    page.goto(f"{airflow.url}/dags/{DAG_ID}/runs/{RUN_ID}")
    page.get_by_role("link", name="gold_delays_by_weather").first.click()
    page.get_by_role("link", name="Spark lineage").click()
    page.get_by_role("button", name=OUTPUTS["gold_delays_by_weather"]).first.click()
    panel = page.get_by_role("complementary", name="Selected dataset")
    rows = panel.get_by_text("All rows, decided by")
    expect(rows).to_be_visible()
    for column in ("conditions", "part_of_day"):
        expect(panel.get_by_role("button", name=f"flights.{column}").first).to_be_visible()


def test_the_run_shows_all_tasks_together(page: Page, airflow: Airflow) -> None:
    """From the CSV files to the last tables."""
    page.goto(f"{airflow.url}/dags/{DAG_ID}/runs/{RUN_ID}")
    page.get_by_role("link", name="Spark lineage").click()
    for name in ("flights.csv", "delays_by_weather", "worst_routes"):
        expect(page.get_by_role("button", name=name).first).to_be_visible()
    page.get_by_role("tab", name="Tasks").click()
    expect(page.get_by_role("row", name="deliver")).to_contain_text("no lineage recorded")
