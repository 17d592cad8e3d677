"""Whole, valid events of one DAG run, as Airflow's provider and our operators emit them."""

from __future__ import annotations

from typing import Any

SPEC = "https://openlineage.io/spec"
PRODUCER = "https://example.org/producer"

DAG_RUN, LOAD, PART_0, PART_1, FIRST_TRY, SECOND_TRY, QUERY = range(1, 8)
"""Numbers of the runs."""


def run_id(number: int) -> str:
    return f"018f3a5e-7d2b-7c43-8f6a-{number:012d}"


def facet(name: str, version: str, **values: Any) -> dict[str, Any]:
    return {
        "_producer": PRODUCER,
        "_schemaURL": f"{SPEC}/facets/{version}/{name}.json#/$defs/{name}",
        **values,
    }


def event(kind: str, job: str, run: int, second: int, **facets: Any) -> dict[str, Any]:
    return {
        "eventType": kind,
        "eventTime": f"2024-05-01T10:00:{second:02d}.5+00:00",
        "producer": PRODUCER,
        "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run_id(run), "facets": facets},
        "job": {"namespace": "tests", "name": job, "facets": {}},
        "inputs": [],
        "outputs": [],
    }


def parent(job: str, run: int) -> dict[str, Any]:
    root = {"job": {"namespace": "tests", "name": "shop"}, "run": {"runId": run_id(DAG_RUN)}}
    return facet(
        "ParentRunFacet",
        "1-2-0",
        job={"namespace": "tests", "name": job},
        run={"runId": run_id(run)},
        root=root,
    )


def task(
    kind: str, task_id: str, run: int, second: int, *, try_number: int = 1, map_index: int | None = None
) -> dict[str, Any]:
    instance = {"try_number": try_number, **({} if map_index is None else {"map_index": map_index})}
    airflow = {
        "dag": {"dag_id": "shop"},
        "dagRun": {"dag_id": "shop", "run_id": "manual__1"},
        "task": {"task_id": task_id},
        "taskInstance": instance,
    }
    return event(
        kind, f"shop.{task_id}", run, second, parent=parent("shop", DAG_RUN), airflow=sketch(airflow)
    )


def sketch(values: dict[str, Any]) -> dict[str, Any]:
    """A part of a facet, which therefore names only the schema that all facets have in common."""
    return {"_producer": PRODUCER, "_schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/BaseFacet", **values}


def child(kind: str, run: int, second: int) -> dict[str, Any]:
    return event(kind, "shop.load.orders", run, second, parent=parent("shop.load", LOAD))


def dag(kind: str, second: int) -> dict[str, Any]:
    airflow = {"dag": {"dag_id": "shop"}, "dagRun": {"dag_id": "shop", "run_id": "manual__1"}}
    return event(kind, "shop", DAG_RUN, second, airflowDagRun=sketch(airflow))


def whole_run() -> list[dict[str, Any]]:
    """A task with a child job, two mapped instances at once, a task with two tries, and the DAG's end."""
    return [
        task("START", "load", LOAD, 1),
        child("START", QUERY, 2),
        task("RUNNING", "load", LOAD, 3),
        child("COMPLETE", QUERY, 4),
        task("COMPLETE", "load", LOAD, 5),
        task("START", "by.part", PART_0, 10, map_index=0),
        task("START", "by.part", PART_1, 11, map_index=1),
        task("COMPLETE", "by.part", PART_1, 12, map_index=1),
        task("COMPLETE", "by.part", PART_0, 13, map_index=0),
        task("START", "shaky", FIRST_TRY, 20),
        task("FAIL", "shaky", FIRST_TRY, 21),
        task("START", "shaky", SECOND_TRY, 22, try_number=2),
        task("COMPLETE", "shaky", SECOND_TRY, 23, try_number=2),
        dag("COMPLETE", 30),
    ]
