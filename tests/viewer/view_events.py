"""Events of the tests of view documents, and what they look at in a document."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.runs import RunEvents
from airflow_provider_spark_lineage.openlineage.viewer.document import document_of


def dataset(name: str, **facets: Any) -> dict[str, Any]:
    return {"namespace": "file", "name": name, "facets": facets}


def event(kind: str = "COMPLETE", *, run: str = "1", job: str = "etl", **more: Any) -> dict[str, Any]:
    facets = more.pop("facets", {})
    time = more.pop("time", "2026-01-01T00:00:00Z")
    return {
        "eventType": kind,
        "eventTime": time,
        "job": {"namespace": "ns", "name": job, "facets": more.pop("job_facets", {})},
        "run": {"runId": run, "facets": facets},
        **more,
    }


def view(*events: dict[str, Any], children: tuple[RunEvents, ...] = ()) -> dict[str, Any]:
    return document_of(Events.of(events), children)


OURS = {"sparkLineage_gaps": {"gaps": []}}
"""Run facets by which an event is one of this package."""


def roles(document: dict[str, Any]) -> dict[str, str]:
    """Return what happened to each dataset, by its label."""
    words = ("read", "written", "unfinished")
    return {each["label"]: " ".join(word for word in words if each[word]) for each in document["datasets"]}


def named(document: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the flows of a document by the labels of their ends."""
    labels = [each["label"] for each in document["datasets"]]
    return {(labels[flow["from"]], labels[flow["to"]]) for flow in document["flows"]}


def columns(target: str, *sources: str) -> dict[str, Any]:
    """Return the columnLineage facet of a column `x` that comes from columns `x` of other datasets."""
    reads = [{"namespace": "file", "name": source, "field": "x"} for source in sources]
    return {"columnLineage": {"fields": {target: {"inputFields": reads}}}}


def airflow(task: str, attempt: int) -> dict[str, Any]:
    """Return the run facets of a task's try."""
    return {
        "airflow": {
            "dag": {"dag_id": "d"},
            "dagRun": {"run_id": "r"},
            "task": {"task_id": task},
            "taskInstance": {"try_number": attempt},
        },
        "parent": {"run": {"runId": "parent"}, "job": {"name": "d"}},
    }


def written(name: str, rows: int | None, change: str = "", **facets: Any) -> dict[str, Any]:
    """An output with the number of its rows, if somebody counted them."""
    if change:
        facets["lifecycleStateChange"] = {"lifecycleStateChange": change}
    return {
        **dataset(name, **facets),
        "outputFacets": {"outputStatistics": {} if rows is None else {"rowCount": rows}},
    }


def part(
    kind: str, source: str, rows: int, gap: str, change: str = "", *, kind_of_gap: str = "code_over_rows"
) -> dict[str, Any]:
    """An event of one process of a task: an execution, a gap, and rows appended to `/x`."""
    facets = {
        "sparkLineage_gaps": {"gaps": [{"where": "task", "kind": kind_of_gap, "reason": gap}]},
        "sparkLineage_executions": {
            "executions": [{"number": 1, "name": source, "outputs": [dataset("/x")]}]
        },
    }
    return event(
        kind,
        facets=facets,
        inputs=[dataset(source)],
        outputs=[written("/x", rows, change, **columns("x", source))],
    )
