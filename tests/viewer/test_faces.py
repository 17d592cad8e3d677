"""The two faces of the viewer: the standalone page, and Airflow's tab."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect
from viewer import documents

PAGE = """<!doctype html><html lang="en"><head><title>Lineage</title>
<style>html,body{height:100%%;margin:0}</style></head><body>
<script type="application/json" id="spark-lineage">%s</script></body></html>"""


def run(key: str, label: str, shown: dict[str, Any], **others: Any) -> dict[str, Any]:
    answer = documents.answer(
        shown, kind="run", previous=[{"id": other, "label": other} for other in others.pop("previous", [])]
    )
    return {
        "key": key,
        "group": "2026-11-25",
        "label": label,
        "time": "",
        "state": "complete",
        "answer": answer,
        **others,
    }


RUNS = [
    run("a", "shop.revenue", documents.simple(), previous=["b"]),
    run("b", "shop.revenue", documents.before_simple(), group="2026-11-24"),
    run("c", "flights", documents.composed(), group="2026-11-24", state="fail"),
]


def opened(page: Page, data: object) -> Page:
    text = json.dumps(data).replace("<", "\\u003c")
    page.set_content(PAGE % text)
    page.evaluate("import('/page.js').then(() => {})")
    return page


def test_the_page_lists_runs_and_goes_back(page: Page) -> None:
    """The chosen run is in the address; the back button shows the one before."""
    opened(page, {"version": 1, "title": "", "notes": ["One run is left out."], "runs": RUNS})
    runs = page.get_by_role("navigation").get_by_role("button")
    expect(runs).to_have_count(3)
    expect(page.locator(".note")).to_have_text("One run is left out.")
    expect(page.get_by_role("heading", level=2)).to_have_text("shop.revenue")
    runs.nth(2).click()
    expect(page.get_by_role("heading", level=2)).to_have_text("flights · scheduled__2026-11-25")
    assert page.evaluate("location.hash") == "#run=c"
    page.go_back()
    expect(page.get_by_role("heading", level=2)).to_have_text("shop.revenue")
    expect(runs.first).to_have_attribute("aria-current", "true")


def test_the_address_of_a_page_is_always_that_of_what_it_shows(page: Page) -> None:
    """A click on the run that is shown changes nothing; another address for the same run does."""
    opened(page, {"version": 1, "title": "", "notes": [], "runs": RUNS})
    expect(page.locator(".graph .title")).to_have_count(3)
    assert page.evaluate("location.hash") == "#run=a"
    page.locator(".graph .header").first.click()
    expect(page.get_by_role("complementary")).to_be_visible()
    [address, length] = page.evaluate("[location.hash, history.length]")
    page.get_by_role("navigation").get_by_role("button").first.click()
    assert page.evaluate("[location.hash, history.length]") == [address, length]
    page.evaluate("location.hash = '#run=a'")
    expect(page.get_by_role("complementary")).to_be_hidden()
    page.evaluate("(address) => { location.hash = address }", address)
    expect(page.get_by_role("complementary")).to_be_visible()


def test_an_address_of_a_run_that_is_gone_becomes_that_of_the_newest(page: Page) -> None:
    """Also if it is loaded again and again."""
    page.evaluate("history.replaceState(null, '', '#run=gone&sl_tab=gaps')")
    opened(page, {"version": 1, "title": "", "notes": [], "runs": RUNS})
    expect(page.locator(".graph .title")).to_have_count(3)
    assert page.evaluate("location.hash") == "#run=a&sl_tab=gaps"


def test_keys_work_anywhere_on_a_page_of_its_own(page: Page) -> None:
    """A slash finds before anything was clicked; Escape leaves what was selected."""
    opened(page, {"version": 1, "title": "", "notes": [], "runs": RUNS})
    expect(page.locator(".graph .title")).to_have_count(3)
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Find a dataset or column")).to_be_focused()
    page.keyboard.type("amou")
    page.keyboard.press("Enter")
    page.get_by_role("complementary").focus()
    page.keyboard.press("Escape")
    expect(page.locator(".row.traced")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_be_hidden()


def test_the_page_compares_its_own_runs(page: Page) -> None:
    """Without asking anybody."""
    opened(page, {"version": 1, "title": "", "notes": [], "runs": RUNS})
    page.get_by_role("tab", name="Since the previous run").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("float → double")
    assert page.evaluate("location.hash") == "#run=a&sl_tab=previous"


def test_a_page_of_one_run_has_no_list(page: Page) -> None:
    """The viewer alone."""
    opened(page, {"version": 1, "title": "", "notes": [], "runs": RUNS[:1]})
    expect(page.locator(".graph .title")).to_have_count(3)
    expect(page.get_by_role("navigation")).to_be_hidden()


@pytest.mark.parametrize("data", ["torn", None, {"runs": 3}, {"runs": [None, {"key": 3}]}])
def test_a_page_with_broken_data_is_no_error(page: Page, data: object) -> None:
    """It says so, or lists nothing."""
    opened(page, data)
    expect(page.get_by_role("main")).to_have_count(1)


def test_a_sandboxed_frame_shows_the_same(page: Page, server: str) -> None:
    """In a notebook the frame has no address and no storage."""
    text = json.dumps({"version": 1, "title": "", "notes": [], "runs": RUNS}).replace("<", "\\u003c")
    modules = "<script type='module' src='/page.js'></script>"
    page.evaluate(
        """(html) => {
          const frame = document.createElement("iframe");
          frame.setAttribute("sandbox", "allow-scripts");
          frame.srcdoc = html;
          frame.style = "width: 100%; height: 600px";
          document.body.replaceChildren(frame);
        }""",
        (PAGE % text).replace("</body>", f"{modules}</body>"),
    )
    frame = page.frame_locator("iframe")
    frame.locator(".graph .header").first.click()
    frame.get_by_role("navigation").get_by_role("button").nth(2).click()
    expect(frame.get_by_role("heading", level=2)).to_have_text("flights · scheduled__2026-11-25")


TAB = """async (props) => {
  globalThis.React = {
    createElement: (tag, { ref, style }) => {
      ref.current = document.createElement(tag);
      Object.assign(ref.current.style, style);
      return ref.current;
    },
    useRef: (current) => ({ current }),
    useEffect: (effect) => queueMicrotask(() => { globalThis.leave = effect(); }),
  };
  await import("/static/1.0/plugin.js");
  const component = globalThis["Spark lineage"];
  if (component !== globalThis.AirflowPlugin) throw new Error("two components");
  document.getElementById("here").replaceChildren(component(props));
}"""

TABS: list[tuple[dict[str, str], str, dict[str, list[str]]]] = [
    (
        {"dagId": "a b", "runId": "scheduled__2026-11-24T00:00:00+00:00", "taskId": "t"},
        "/v1/dags/a%20b/task",
        {
            "run_id": ["scheduled__2026-11-24T00:00:00+00:00"],
            "task_id": ["t"],
            "map_index": ["-1"],
            "try_number": ["2"],
        },
    ),
    (
        {"dagId": "d", "runId": "r", "taskId": "t", "mapIndex": "3"},
        "/v1/dags/d/task",
        {"run_id": ["r"], "task_id": ["t"], "map_index": ["3"], "try_number": ["2"]},
    ),
    ({"dagId": "d", "runId": "r"}, "/v1/dags/d/run", {"run_id": ["r"]}),
    ({"dagId": "d", "taskId": "t"}, "/v1/dags/d/history", {"task_id": ["t"], "map_index": ["-1"]}),
    ({"dagId": "d"}, "/v1/dags/d/latest", {}),
]


@pytest.mark.parametrize(("props", "path", "query"), TABS)
def test_the_tab_asks_its_route(
    page: Page, server: str, props: dict[str, str], path: str, query: dict[str, Any]
) -> None:
    """The try comes from Airflow's address; ids are encoded; what else is in the address stays."""
    asked: list[str] = []

    def reply(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(json=documents.answer(documents.simple()))

    page.route("**/v1/**", reply)
    page.goto(f"{server}/dags/d?try_number=2")
    page.evaluate(TAB, props)
    expect(page.locator(".graph .title")).to_have_count(3)
    [url] = [urlsplit(url) for url in asked]
    assert (url.path, parse_qs(url.query)) == (path, query)
    page.get_by_role("tab", name="Gaps 1").click()
    assert page.url == f"{server}/dags/d?try_number=2&sl_tab=gaps"
    page.evaluate("leave()")
    expect(page.locator(".viewer")).to_have_count(0)


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (200, "not JSON", "The server answered with 200, and nothing that can be read."),
        (404, {"detail": "No such run."}, "No such run."),
        (500, "<b>oops</b>", "The server answered with 500, and nothing that can be read."),
    ],
)
def test_the_tab_says_what_went_wrong(page: Page, status: int, body: object, sentence: str) -> None:
    """In a sentence, and it can be asked again."""
    page.route("**/v1/**", lambda route: route.fulfill(status=200, json={"status": status, "body": body}))
    page.add_init_script("""
      const real = globalThis.fetch;
      globalThis.fetch = async (...of) => {
        const { status, body } = await (await real(...of)).json();
        return new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
      };
    """)
    page.reload()
    page.evaluate(TAB, {"dagId": "d"})
    expect(page.get_by_role("alert")).to_contain_text(sentence)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def test_the_page_is_as_high_as_its_window(page: Page) -> None:
    """The graph takes what the tables leave."""
    opened(page, {"version": 1, "title": "", "notes": ["A note."], "runs": RUNS})
    pane = page.get_by_role("tabpanel").bounding_box()
    assert pane
    assert round(pane["y"] + pane["height"]) == 860
