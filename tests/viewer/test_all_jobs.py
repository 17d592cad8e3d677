"""The picture of all jobs: its traces are the answers of the graph of many runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from viewer.conftest import Show
from viewer.view_events import airflow, columns, dataset, event

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.impact import Impact
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.selection import Selected
from airflow_provider_spark_lineage.openlineage.viewer.listing import NEWEST, listing

PIPELINE = Path(__file__).parent / "events" / "pipeline.jsonl.gz"


def odd() -> Events:
    """Jobs whose newest runs are not all that counts: one failed, one reads by another name."""
    mid = dataset(
        "/mid",
        schema={"fields": [{"name": name, "type": "long"} for name in ("x", "y")]},
        symlinks={"identifiers": [{"namespace": "hive", "name": "db.mid", "type": "TABLE"}]},
        **columns("x", "/in"),
    )
    read = {**dataset("db.mid"), "namespace": "hive"}
    lineage = columns("x", "db.mid")
    lineage["columnLineage"]["fields"]["x"]["inputFields"][0]["namespace"] = "hive"
    lineage["columnLineage"]["dataset"] = [
        {
            "namespace": "hive",
            "name": "db.mid",
            "field": "y",
            "transformations": [{"type": "INDIRECT", "subtype": "FILTER"}],
        }
    ]
    older = dataset("/last", schema={"fields": [{"name": "gone", "type": "long"}]}, **columns("gone", "/out"))
    last = dataset("/last", schema={"fields": [{"name": "x", "type": "long"}]}, **columns("x", "/out"))
    times = (f"2026-01-01T00:0{minute}:00Z" for minute in range(9))
    return Events.of(
        [
            event(run="1", job="a", time=next(times), inputs=[dataset("/in")], outputs=[mid]),
            event(run="2", job="b", time=next(times), inputs=[read], outputs=[dataset("/out", **lineage)]),
            event(run="3", job="c", time=next(times), inputs=[dataset("/out")], outputs=[older]),
            event(run="4", job="c", time=next(times), inputs=[dataset("/out")], outputs=[last]),
            event(
                "FAIL", run="5", job="a", time=next(times), inputs=[dataset("/in")], outputs=[dataset("/x")]
            ),
        ]
    )


def document_of(events: Events) -> dict[str, Any]:
    runs = {run["key"]: run for run in listing(events, title="t")["runs"]}
    document: dict[str, Any] = runs[NEWEST]["answer"]["document"]
    return document


TRACES = """async (document) => {
  const { clean } = await import("/document.js");
  const { trace } = await import("/trace.js");
  const shown = clean(document);
  const starts = document.datasets.flatMap(({ columns }, dataset) =>
    columns.flatMap(({ name }) => [false, true].map((byRows) => ({ dataset, name, byRows }))));
  return starts.map(({ dataset, name, byRows }) => {
    const traced = [...trace(shown, dataset, name, byRows).columns];
    const found = traced.flatMap(([at, names]) => [...names].map((column) => [at, column]));
    return { dataset, name, byRows, found: found.filter(([, column]) => column !== null) };
  });
}"""


@pytest.mark.parametrize("events", [read_events(PIPELINE), odd()], ids=["pipeline", "odd"])
def test_a_trace_by_rows_is_the_answer_of_impact(modules: Page, events: Events) -> None:
    """For every column, in both directions. The shorter trace has all that has the value."""
    document, current = document_of(events), Current.of(events)
    graph = LineageGraph.of(current)
    ids = [(each["namespace"], each["name"]) for each in document["datasets"]]
    columns_of = {own: graph.fields_of(own) for own in graph.datasets}
    seen = set()
    for each in modules.evaluate(TRACES, document):
        start = ids[each["dataset"]], each["name"]
        found = {(ids[place], name) for place, name in each["found"]}
        if graph.node_of(*start) is None:
            # The target of a write that failed.
            assert found == {start}
            continue
        seen.add(start)
        selection = [Selected(*start)]
        upstream = map(graph.node, graph.reach([graph.node_of(*start)], upstream=True).nodes)
        whole = {(node.dataset, node.field) for node in upstream if node.field is not None}
        whole |= {start, *Impact(current, graph, selection).columns}
        values = {start, *Impact(current, graph, selection, direct_only=True).columns}
        assert values <= found <= whole, start
        assert not each["byRows"] or found == whole, start
    assert seen == {(own, name) for own, names in columns_of.items() for name in names}


def test_all_jobs_are_offered_where_a_dag_run_is_not_all_there_is() -> None:
    """The page opens the newest DAG run; the list of runs has the picture of all jobs."""
    events = read_events(PIPELINE)
    assert listing(events, title="t")["start"] != NEWEST
    assert NEWEST in {run["key"] for run in listing(events, title="t")["runs"]}
    one = listing(events, title="t", is_shown=lambda name: name.startswith("nycflights_checks."))
    assert NEWEST not in {run["key"] for run in one["runs"]}


def test_a_person_follows_what_decides_the_rows(show: Show, page: Page) -> None:
    """The trace of a filter's column ends at all rows, until they are followed."""
    document = document_of(odd())
    answer = {"version": 1, "kind": "dag_run", "document": document}
    shown = show(answer)
    shown.get_by_role("tab", name="Columns").click()
    shown.get_by_role("button", name="mid.y", exact=True).first.click()
    names = shown.locator(".graph .row.traced .name")
    expect(names).to_have_text(["y", "all rows"])
    shown.get_by_role("button", name="Also by rows").click()
    expect(shown.get_by_role("button", name="Also by rows")).to_have_attribute("aria-pressed", "true")
    expect(names.get_by_text("x", exact=True)).to_have_count(2)
    shown.get_by_role("button", name="Also by rows").click()
    expect(names).to_have_text(["y", "all rows"])


def test_rows_are_followed_only_where_they_are_offered(show: Show, page: Page) -> None:
    """The address may be that of another document: a run has no pairs of rows, and no button that ends it."""
    answer = {"version": 1, "kind": "run", "document": document_of(odd()) | {"rows": []}}
    page.goto(f"{page.url}?sl_dataset=file+/mid&sl_column=y&sl_rows=1")
    shown = show(answer)
    expect(shown.locator(".graph .row.traced .name")).to_have_text(["y", "all rows"])


def test_tasks_of_several_dags_have_their_whole_names() -> None:
    """Two DAGs may have a task of one id."""
    events = []
    for dag in ("g1", "g2"):
        facets = {**airflow("load", 1), "parent": {"run": {"runId": dag}, "job": {"name": dag}}}
        facets["airflow"]["dag"] = {"dag_id": dag}
        events.append(event(run=f"{dag}-run", job=f"{dag}.load", facets=facets, outputs=[dataset(f"/{dag}")]))
    assert {task["title"] for task in document_of(Events.of(events))["tasks"]} == {"g1.load", "g2.load"}


def test_instances_of_an_older_run_of_a_mapped_task_are_left_out() -> None:
    """The newest run had fewer of them."""
    events = []
    for day, count in ((1, 3), (2, 2)):
        for index in range(count):
            facets = {**airflow("load", 1), "parent": {"run": {"runId": f"r{day}"}, "job": {"name": "d"}}}
            facets["airflow"]["dagRun"] = {"run_id": f"r{day}"}
            facets["airflow"]["taskInstance"] |= {"map_index": index}
            events.append(
                event(
                    run=f"{day}-{index}",
                    job="d.load",
                    time=f"2026-01-0{day}T00:00:00Z",
                    facets=facets,
                    outputs=[dataset(f"/{index}")],
                )
            )
    events.append(event(run="other", job="other", time="2026-01-03T00:00:00Z", outputs=[dataset("/x")]))
    tasks = document_of(Events.of(events))["tasks"]
    assert {task["title"] for task in tasks} == {"d.load[0]", "d.load[1]", "other"}
