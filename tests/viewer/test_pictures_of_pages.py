"""The pictures below docs/ are of the real page, of events that `make demo` emitted.

ACCEPT_PICTURES=1 pytest tests/viewer/test_pictures_of_pages.py    writes them anew
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect
from viewer import documents

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.viewer.listing import listing
from airflow_provider_spark_lineage.openlineage.viewer.page import page_of

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
EVENTS = HERE / "events" / "pipeline.jsonl.gz"
GOLD = "/data/warehouse/gold.db/delays_by_weather"

DIFFERING = """async ([first, second]) => {
  const pixels = async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const drawing = canvas.getContext("2d");
    drawing.drawImage(image, 0, 0);
    return drawing.getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = [await pixels(first), await pixels(second)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let differing = 0;
  for (let at = 0; at < a.data.length; at += 4) {
    if ([0, 1, 2].some((part) => Math.abs(a.data[at + part] - b.data[at + part]) > 64)) differing += 1;
  }
  return differing / (a.width * a.height);
}"""

MOST_DIFFERING = 0.03
"""Part of the pixels that another release of the browser may draw in another way: about a line of text."""


@contextmanager
def opened(browser: Browser, file: Path, **settings: Any) -> Iterator[Page]:
    """Open a page from its file in a browser without a network; an error in the page fails the test."""
    settings = {
        "viewport": {"width": 1200, "height": 760},
        "reduced_motion": "reduce",
        "timezone_id": "UTC",
        **settings,
    }
    context = browser.new_context(offline=True, **settings)
    wrong: list[str] = []
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("console", lambda message: wrong.append(message.text))
    context.on(
        "request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None
    )
    context.set_default_timeout(20_000)
    page = context.new_page()
    page.goto(file.as_uri())
    yield page
    context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that `make demo` writes."""
    file = tmp_path_factory.mktemp("demo") / "lineage.html"
    file.write_text(page_of(listing(read_events(EVENTS), title="Lineage of the demo")), encoding="utf-8")
    return file


def go_to(page: Page, label: str) -> None:
    page.get_by_role("navigation").get_by_role("button", name=label).first.click()


def graph(page: Page) -> None:
    go_to(page, "gold_delays_by_weather")
    page.get_by_role("button", name="Open all").click()


def trace(page: Page) -> None:
    page.get_by_role("navigation").get_by_role("button", name="all together").last.click()
    page.get_by_role("combobox").fill("mean_departure_delay")
    page.keyboard.press("Enter")


def table(page: Page) -> None:
    go_to(page, "rows_are_right")
    page.get_by_role("tab", name="Checks").click()


SCREENS: dict[str, tuple[Callable[[Page], None], dict[str, Any]]] = {
    "graph": (graph, {}),
    "trace": (trace, {}),
    "table": (table, {}),
    "failed": (lambda page: go_to(page, "delay_per_mile"), {}),
    "narrow": (graph, {"viewport": {"width": 420, "height": 760}}),
    "dark": (graph, {"color_scheme": "dark"}),
}


@pytest.mark.parametrize("name", SCREENS)
def test_picture_of_the_page(browser: Browser, demo: Path, name: str) -> None:
    """docs/viewer.md shows the viewer as it is."""
    act, settings = SCREENS[name]
    with opened(browser, demo, **settings) as page:
        act(page)
        drawn = page.screenshot()
        file = DOCS / "viewer" / f"{name}.png"
        if os.environ.get("ACCEPT_PICTURES"):
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(drawn)
        images = [base64.b64encode(image).decode() for image in (drawn, file.read_bytes())]
        assert page.context.new_page().evaluate(DIFFERING, images) < MOST_DIFFERING


def test_picture_of_readme(browser: Browser, tmp_path: Path) -> None:
    """It is the viewer's own picture of README's event, saved by its button."""
    event = {**json.loads((DOCS / "lineage.json").read_text(encoding="utf-8")), "run": {"runId": "1"}}
    file = tmp_path / "lineage.html"
    file.write_text(page_of(listing(Events.of([event]), title="README")), encoding="utf-8")
    with opened(browser, file) as page:
        page.get_by_role("button", name="Open all").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="SVG", exact=True).click()
        drawn = Path(download.value.path()).read_text(encoding="utf-8")
    picture = DOCS / "lineage.svg"
    if os.environ.get("ACCEPT_PICTURES"):
        picture.write_text(drawn, encoding="utf-8")
    assert drawn == picture.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["java_agent", "large"])
def test_a_page_of_other_events_opens_offline(browser: Browser, tmp_path: Path, name: str) -> None:
    """Of OpenLineage's Java agent, and of 500 datasets; without a request or an error."""
    events, page_file = tmp_path / "events.jsonl", tmp_path / "lineage.html"
    if name == "large":
        events.write_text(json.dumps(documents.event_of(documents.large())), encoding="utf-8")
    else:
        events = HERE / "events" / "java_agent.jsonl"
    done = CliRunner().invoke(main, ["show", str(events), "--out", str(page_file)])
    assert done.exit_code == 0, done.output
    with opened(browser, page_file) as page:
        expect(page.locator(".graph .box").first).to_be_attached()
        expect(page.locator(".pane .ref").first).to_be_visible()
        if name == "large":
            expect(page.locator("header")).to_contain_text("read 500 datasets")
        page.locator(".pane .ref").first.click()
        expect(page.locator(".row.traced").first).to_be_attached()


def test_three_clicks_say_which_columns_decide_the_rows(browser: Browser, demo: Path) -> None:
    """The run, the output's box, and its rows: what nobody has to learn."""
    with opened(browser, demo) as page:
        go_to(page, "gold_delays_by_weather")
        page.get_by_role("button", name="delays_by_weather").last.click()
        expect(page.get_by_role("complementary")).to_contain_text("part_of_day")


def test_the_list_of_runs_is_filtered_and_in_the_zone_of_the_reader(browser: Browser, demo: Path) -> None:
    """The zone is said once; the newest DAG run is open; the filter finds jobs, groups and states."""
    with opened(browser, demo, timezone_id="Asia/Tokyo") as page:
        listed = page.get_by_role("navigation")
        expect(listed.get_by_text("Asia/Tokyo")).to_have_count(1)
        expect(listed.locator("[aria-current]")).to_contain_text("all together")
        expect(listed.locator("[aria-current]")).to_contain_text("2026-11-28 21:16:18 success")
        page.get_by_label("Filter jobs and runs").fill("failed")
        # Two tasks, a DAG run, and all jobs together.
        expect(listed.get_by_role("button")).to_have_count(4)
        page.get_by_label("Filter jobs and runs").fill("gold_worst")
        listed.get_by_role("button", name="gold_worst_routes").click()
        expect(page.locator("h2")).to_have_text("nycflights.gold_worst_routes")
        expect(page.get_by_label("Filter jobs and runs")).to_have_value("gold_worst")


def test_a_page_begins_with_the_dataset_that_was_asked_for(browser: Browser, tmp_path: Path) -> None:
    """Its panel is open, its box is marked, and jobs with long names can be told apart."""
    file = tmp_path / "around.html"
    arguments = ["show", str(EVENTS), "--dataset", "silver/flights", "--depth", "1", "--out", str(file)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    with opened(browser, file) as page:
        expect(page.get_by_role("heading", name="Around silver/flights")).to_be_visible()
        expect(page.locator(".graph .selected .title")).to_have_text("silver/flights")
        expect(page.get_by_label("Name of the dataset")).to_be_visible()
        expect(page.locator(".graph .box", has_text="bronze/flights")).to_contain_text("1 more job")
        assert sorted(page.locator(".graph .task .title").all_text_contents()) == [
            *("delays_by_carrier", "gold_delays_by_carr…", "gold_delays_by_weat…"),
            *("gold_worst_routes", "silver_flights"),
        ]
        page.get_by_role("tab", name="Tasks").click()
        page.get_by_role("button", name="Show its datasets: nycflights.gold_worst_routes").click()
        lit = page.locator(".graph .dataset:not(.dim) .title")
        expect(lit).to_have_count(2)
        assert sorted(lit.all_text_contents()) == ["silver/flights", "worst_routes"]


def test_a_page_begins_with_the_trace_of_a_column(browser: Browser, tmp_path: Path) -> None:
    """Through all jobs; "Also by rows" is there, as in the picture of all jobs."""
    file = tmp_path / "around.html"
    arguments = ["show", str(EVENTS), "--dataset", "silver/weather.temperature_f", "--out", str(file)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    with opened(browser, file) as page:
        names = page.locator(".graph .row.traced .name")
        expect(names).to_have_count(4)
        assert sorted(names.all_text_contents()) == ["temp", "temp", "temperature_f", "temperature_f"]
        page.get_by_role("button", name="Also by rows").click()
        expect(names.get_by_text("all rows").first).to_be_visible()
