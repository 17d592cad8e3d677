"""`custom_run_facets` functions: what Spark did in a task, or nothing; never an exception."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage import task
from airflow_provider_spark_lineage.facets.spark import application_facets, executions_facets
from airflow_provider_spark_lineage.lineage.model import Application, ExecutionSummary
from airflow_provider_spark_lineage.run_facets import spark_application, spark_executions

BOTH = pytest.mark.parametrize("function", [spark_application, spark_executions])


def _task_instance(**changes: object) -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**{**fields, **changes})


@BOTH
def test_a_task_without_spark_has_no_facet(function):
    """A task that captured nothing gets None, which the provider leaves out."""
    assert function(_task_instance(), None) is None


@BOTH
@pytest.mark.parametrize("wrong", [None, object()])
def test_never_raises(function, wrong):
    """A faulty argument costs the facet, not the event."""
    assert function(wrong, None) is None


@BOTH
def test_another_try_is_another_task(function, monkeypatch):
    """What one try captured is not said of the next."""
    captured = SimpleNamespace(run=lambda: SimpleNamespace(applications=(Application("a", "n", "4"),)))
    monkeypatch.setattr(task, "_latest", (task._key(_task_instance()), task.TaskLineage(captured)))
    assert function(_task_instance(try_number=2), None) is None


def test_an_event_lists_a_hundred_executions_and_counts_all():
    """An event must not grow with the loop inside a task."""
    executions = [
        ExecutionSummary(n, "count", "2026-01-01", "2026-01-01", n % 2 == 0, "") for n in range(1, 251)
    ]
    facet = executions_facets(executions)["sparkLineage_executions"]
    assert (facet.count, facet.failedCount, len(facet.executions)) == (250, 125, 100)


def test_nothing_done_says_nothing():
    """No application and no execution: no facet at all."""
    assert application_facets(()) == executions_facets(()) == {}
