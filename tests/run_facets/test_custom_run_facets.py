"""`custom_run_facets` functions: Spark's work in a task, or nothing; never an exception."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.events.validation import problems_of
from airflow_provider_spark_lineage.facets.applications import application_facets
from airflow_provider_spark_lineage.facets.executions import executions_facets
from airflow_provider_spark_lineage.facets.producer import PRODUCER
from airflow_provider_spark_lineage.lineage.model import ExecutionSummary, Lineage
from airflow_provider_spark_lineage.records.application import Application
from airflow_provider_spark_lineage.run_facets import spark_application, spark_executions
from airflow_provider_spark_lineage.runs.pipeline import Run
from airflow_provider_spark_lineage.task import task_lineage
from airflow_provider_spark_lineage.task.process import TASK

BOTH = pytest.mark.parametrize("function", [spark_application, spark_executions])


def _task_instance(**changes: object) -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**{**fields, **changes})


@BOTH
def test_a_task_without_spark_has_no_facet(function):
    """A task that captured nothing gets None, which the provider leaves out."""
    assert function(_task_instance(), None) is None


@pytest.fixture
def ran(monkeypatch):
    """A task that executed once on Spark has ended in this process."""
    summary = ExecutionSummary(1, "count", "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:01+00:00", False)
    run = Run(Lineage(), applications=(Application("a", "n", "4"),), executions=(summary,))
    captured = SimpleNamespace(run=lambda: run)
    monkeypatch.setattr(TASK, "lineage", None)
    TASK.set_lineage(_task_instance(), task_lineage.TaskLineage(captured))


@BOTH
@pytest.mark.usefixtures("ran")
def test_a_facet_is_valid_by_its_schema(function):
    """The schema that a facet names lies in the package, and the facet follows it."""
    facets = {key: Serde.to_dict(facet) for key, facet in function(_task_instance(), None).items()}
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "run": {"runId": "018cc778-5000-7a46-aca6-85a986a44f75", "facets": facets},
        "job": {"namespace": "n", "name": "j"},
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    assert problems_of(event) == []


@BOTH
@pytest.mark.usefixtures("ran")
@pytest.mark.parametrize("wrong", [None, object()])
def test_never_raises(function, wrong):
    """A faulty argument costs the facet, not the event."""
    assert function(wrong, None) is None


@BOTH
@pytest.mark.usefixtures("ran")
def test_another_try_is_another_task(function):
    """The lineage of one try is not reported for the next, nor for another mapped instance."""
    assert function(_task_instance(), None) is not None
    assert function(_task_instance(try_number=2), None) is None
    assert function(_task_instance(map_index=1), None) is None


def test_an_event_lists_a_hundred_executions_and_counts_all():
    """An event must not grow with the loop inside a task."""
    executions = [ExecutionSummary(n, "count", "2026-01-01", "2026-01-01", n % 2 == 0) for n in range(1, 251)]
    facet = executions_facets(executions)["sparkLineage_executions"]
    assert (facet.count, facet.failedCount, len(facet.executions)) == (250, 125, 100)


def test_nothing_captured_gives_no_facet():
    """No application and no execution: no facet at all."""
    assert application_facets(()) == executions_facets(()) == {}
