"""Minimal events, with only the fields that a test is about, and their comparison."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Events,
    Expected,
    Report,
)
from airflow_provider_spark_lineage.testing import compare as compare_with_relations

KEY = "dag.task.event.start"


def start(task: str = "task", dag: str = "dag", **parts: Any) -> dict[str, Any]:
    return {"eventType": "START", "run": {}, "job": {"name": f"{dag}.{task}"}, **parts}


def compare(expected: Expected, events: Events, **options: Any) -> Report:
    """These events are sketches: relations between whole ones are tested elsewhere."""
    return compare_with_relations(expected, events, without=RELATIONS, **options)


def check(expected: Any, *events: dict[str, Any], **options: Any) -> Report:
    return compare(Expected.of({KEY: expected}), Events.of(events), **options)


def paths(report: Report) -> list[tuple[str, str]]:
    return [(entry.path, entry.reason) for entry in report.differences]
