"""By which key an event is found."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_provider_spark_lineage.openlineage.events import Event, Events


def dag_id_of(event: Event) -> str:
    return Events((event,)).dag_id_of(event)


def run_event(name: str, event_type: str | None = "START", **facets: Any) -> Event:
    document: dict[str, Any] = {
        "run": {"runId": "r", "facets": facets},
        "job": {"namespace": "n", "name": name},
    }
    if event_type is not None:
        document["eventType"] = event_type
    return Event(document)


def airflow(dag_id: str, task_id: str, map_index: int | None = None) -> dict[str, Any]:
    return {"dag": {"dag_id": dag_id}, "task": {"task_id": task_id}, "taskInstance": {"map_index": map_index}}


@pytest.mark.parametrize("event_type", ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"])
def test_type_is_lower_case(event_type):
    """The last part of a key is the event type in lower case."""
    assert run_event("dag.task", event_type).key == f"dag.task.event.{event_type.lower()}"


def test_dag_level_event():
    """A DAG run's job is named as the DAG, so its key has no task."""
    event = run_event("my.dag", airflowDagRun={"dag": {"dag_id": "my.dag"}})
    assert (event.key, dag_id_of(event)) == ("my.dag.event.start", "my.dag")


def test_ids_with_dots_come_from_the_facet():
    """A dot in an id does not move the border between DAG and task."""
    event = run_event("my.dag.group.task", airflow=airflow("my.dag", "group.task"))
    assert (event.key, dag_id_of(event)) == ("my.dag.group.task.event.start", "my.dag")


def test_the_facet_wins_over_a_foreign_job_name():
    """If an integration renames the job, the airflow facet still names the task."""
    assert run_event("renamed", airflow=airflow("dag", "task")).key == "dag.task.event.start"


def test_task_id_in_the_task_instance():
    """`taskInstance.task_id` is used if `task` has no id."""
    facet = {"dag": {"dag_id": "dag"}, "taskInstance": {"task_id": "task"}}
    assert run_event("renamed", airflow=facet).key == "dag.task.event.start"


def test_mapped_instances_share_a_key():
    """Instances of a mapped task differ in map_index only."""
    events = [run_event("dag.task", airflow=airflow("dag", "task", index)) for index in (0, 1)]
    assert {event.key for event in events} == {"dag.task.event.start"}
    assert [event.map_index for event in events] == [0, 1]


@pytest.mark.parametrize("facets", [{}, {"airflow": airflow("dag", "task")}])
def test_child_runs_keep_their_name(facets):
    """A child run is found by its own job name, also when it carries a copy of its task's facets."""
    assert run_event("dag.task.orders", "COMPLETE", **facets).key == "dag.task.orders.event.complete"


def test_child_with_a_foreign_name():
    """A run whose parent is the task is a child, whatever it is called."""
    parent = {"job": {"name": "dag.task"}, "root": {"job": {"name": "dag"}}}
    event = run_event("my_spark_app", parent=parent, airflow=airflow("dag", "task"))
    assert event.key == "my_spark_app.event.start"


def test_child_belongs_to_the_dag_of_its_root():
    """The root of a child run is the DAG run."""
    parent = {"job": {"name": "my.dag.task"}, "root": {"job": {"name": "my.dag"}}}
    assert dag_id_of(run_event("app.step", parent=parent)) == "my.dag"


def test_events_without_a_run_type():
    """Static job and dataset events, and run events without a type, have keys too."""
    assert run_event("dag.task", None).key == "dag.task.event.untyped"
    assert Event({"job": {"name": "a.b"}}).key == "a.b.event.job"
    assert Event({"dataset": {"name": "/data"}}).key == "/data.event.dataset"
