"""An example run of one DAG: eight events as Airflow and our operators emit them, and the expected files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from testing.blocked import Pipe

TIME = "2024-05-01T10:00:00.000000Z"


def edge(namespace: str, name: str, field: str, *kinds: tuple[str, str]) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "name": name,
        "field": field,
        "transformations": [{"type": kind, "subtype": subtype, "masking": False} for kind, subtype in kinds],
    }


def outputs() -> list[dict[str, Any]]:
    direct, aggregated, grouped = ("DIRECT", "IDENTITY"), ("DIRECT", "AGGREGATION"), ("INDIRECT", "GROUP_BY")
    fields = {
        "customer": {"inputFields": [edge("file", "/in/orders", "customer", direct, grouped)]},
        "total": {
            "inputFields": [
                edge("file", "/in/orders", "amount", aggregated),
                edge("file", "/in/rates", "rate", aggregated),
            ]
        },
    }
    facets = {
        "schema": {"fields": [{"name": "customer", "type": "string"}, {"name": "total", "type": "double"}]},
        "columnLineage": {"fields": fields, "dataset": [edge("file", "/in/orders", "customer", grouped)]},
    }
    return [
        {
            "namespace": "file",
            "name": "/out/totals",
            "facets": facets,
            "outputFacets": {"outputStatistics": {"rowCount": 3, "size": 912}},
        }
    ]


def event(kind: str, task: str, run_id: int, map_index: int | None = None, **parts: Any) -> dict[str, Any]:
    instance = {"try_number": 1, "map_index": map_index}
    facet = {"dag": {"dag_id": "shop"}, "task": {"task_id": task}, "taskInstance": instance}
    return {
        "eventType": kind,
        "eventTime": TIME,
        "run": {"runId": f"018f3a5e-7d2b-7c43-8f6a-{run_id:012d}", "facets": {"airflow": facet}},
        "job": {"namespace": "tests", "name": f"shop.{task}", "facets": {"tags": {"tags": ["a", "b"]}}},
        "inputs": [],
        "outputs": [],
        **parts,
    }


def events() -> list[dict[str, Any]]:
    inputs = [{"namespace": "file", "name": name, "facets": {}} for name in ("/in/orders", "/in/rates")]
    return [
        event("START", "totals", 1),
        event("COMPLETE", "totals", 1, inputs=inputs, outputs=outputs()),
        event("START", "by.part", 2, 0, inputs=[{"namespace": "file", "name": "/part/0"}]),
        event("START", "by.part", 3, 1, inputs=[{"namespace": "file", "name": "/part/1"}]),
        event("START", "by.part", 4, 2, inputs=[{"namespace": "file", "name": "/part/2"}]),
        event("FAIL", "by.part", 2, 0),
        event("COMPLETE", "by.part", 3, 1),
        event("COMPLETE", "by.part", 4, 2),
    ]


@pytest.fixture
def shop() -> list[dict[str, Any]]:
    """The events of one good run; every test gets its own copy."""
    return events()


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    """Return a pipe that other processes report to."""
    pipe = Pipe(tmp_path / "told")
    yield pipe
    os.close(pipe.descriptor)
