"""Events that a check in a DAG looks at, and Variables that it deletes: those of its own DAG run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airflow_provider_spark_lineage.openlineage.events import Event, Events
from airflow_provider_spark_lineage.openlineage.events.variables import variable_key
from airflow_provider_spark_lineage.openlineage.testing import event_places
from airflow_provider_spark_lineage.openlineage.testing.event_places import CheckingTask, VariableStore
from airflow_provider_spark_lineage.testing.in_dag import OpenLineageTestOperator

TASK = CheckingTask("shop", "r1", "check")


def task(
    task_id: str, kind: str = "START", *, dag: str = "shop", run: str = "r1", **more: Any
) -> dict[str, Any]:
    """An event of a task; `attempt` is how often its DAG run was cleared."""
    try_number, attempt, second = more.get("try_number", 1), more.get("attempt", 0), more.get("second", 0)
    parent = {"run": {"runId": f"{dag} {run} {attempt}"}, "job": {"name": dag}}
    airflow = {
        "dag": {"dag_id": dag},
        "dagRun": {"run_id": run},
        "task": {"task_id": task_id},
        "taskInstance": {"try_number": try_number},
    }
    return {
        "eventType": kind,
        "eventTime": f"2024-05-01T10:00:{second:02d}Z",
        "run": {
            "runId": f"{dag} {run} {task_id} {try_number}",
            "facets": {"airflow": airflow, "parent": {**parent, "root": parent}},
        },
        "job": {"name": f"{dag}.{task_id}"},
    }


def dag(kind: str, attempt: int = 0, second: int = 0) -> dict[str, Any]:
    facet = {"dag": {"dag_id": "shop"}, "dagRun": {"run_id": "r1"}}
    return {
        "eventType": kind,
        "eventTime": f"2024-05-01T10:00:{second:02d}Z",
        "run": {"runId": f"shop r1 {attempt}", "facets": {"airflowDagRun": facet}},
        "job": {"name": "shop"},
    }


def child(name: str, of: dict[str, Any], second: int = 0) -> dict[str, Any]:
    """An event of a job below another, without facets of Airflow."""
    above = of["run"]["facets"]["parent"]
    parent = {"run": {"runId": of["run"]["runId"]}, "job": of["job"], "root": above["root"]}
    return {
        "eventType": "START",
        "eventTime": f"2024-05-01T10:00:{second:02d}Z",
        "run": {
            "runId": f"{name} below {of['run']['runId']}",
            "facets": {"parent": parent},
        },
        "job": {"name": name},
    }


def seen(*documents: dict[str, Any]) -> list[str]:
    """Run ids of the events that the check compares."""
    return [event.run_id for event in TASK.select(Events.of(documents))]


def test_other_runs_of_the_dag_and_runs_below_them_are_skipped() -> None:
    """A file holds the events of all runs, also of simultaneous ones."""
    mine, other = task("load"), task("load", run="r2")
    own_child = child("spark.q", mine)
    assert seen(other, child("spark.q", other), mine, own_child, child("deep", own_child)) == [
        "shop r1 load 1",
        "spark.q below shop r1 load 1",
        "deep below spark.q below shop r1 load 1",
    ]


def test_a_check_does_not_look_at_itself() -> None:
    """Its START is not expected, nor are events of its earlier tries and of other checks."""
    check = task("check"), task("check", "FAIL"), task("check", try_number=2)
    other = task("check_too")
    other["run"]["facets"]["airflow"]["task"]["operator_class"] = f"some.{OpenLineageTestOperator.__name__}"
    assert seen(dag("START"), task("load"), *check, other) == ["shop r1 0", "shop r1 load 1"]


def test_of_a_cleared_dag_run_each_task_counts_as_it_ran_last() -> None:
    """Its first attempt is history, also where only some were cleared; tries of one attempt all count."""
    first = dag("START"), task("load"), task("load", "COMPLETE"), dag("FAIL")
    left_alone = task("extract")
    second = (
        dag("START", 1, second=9),
        task("load", "FAIL", try_number=2, attempt=1),
        task("load", "COMPLETE", try_number=3, attempt=1),
    )
    assert seen(*first, left_alone, child("spark.q", first[1]), *second) == [
        "shop r1 extract 1",
        "shop r1 1",
        "shop r1 load 2",
        "shop r1 load 3",
    ]


class Variables(dict[str, str]):
    """Airflow's Variables as a task sees them."""

    def keys(self, prefix: str = "") -> list[str]:  # type: ignore[override]
        return [key for key in self if key.startswith(prefix)]

    def get(self, key: str, default: Any = None) -> Any:
        return super().get(key, default)

    def delete(self, key: str) -> None:
        del self[key]

    def emit(self, *documents: dict[str, Any]) -> None:
        for document in documents:
            self[variable_key(Event(document))] = json.dumps(document)


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> Variables:
    listed = Variables()
    monkeypatch.setattr(event_places, "_variables", lambda: listed)
    return listed


def left(variables: Variables) -> list[str]:
    return sorted(json.loads(value)["run"]["runId"] for value in variables.values())


def test_variables_of_others_are_neither_compared_nor_deleted(variables: Variables) -> None:
    """Not of DAGs whose names begin alike, not of other runs, not a Variable without an event."""
    mine = task("load")
    others = task("load", dag="shop.eu"), task("load", run="r2"), task("load", dag="sh_p")
    variables.emit(*others, mine, child("shop.load.q", mine), task("check"))
    variables["shop.settings"] = "{}"
    store = VariableStore(TASK)
    events = TASK.select(store.read())
    assert [event.run_id for event in events] == ["shop r1 load 1", "shop.load.q below shop r1 load 1"]
    store.clear(TASK.own(events))
    del variables["shop.settings"]
    assert left(variables) == sorted(event["run"]["runId"] for event in others)


def test_variables_after_the_last_look_stay(variables: Variables) -> None:
    """An event that was not compared is evidence."""
    variables.emit(task("load"))
    store = VariableStore(TASK)
    events = store.read()
    variables.emit(task("load", "FAIL"))
    store.clear(TASK.own(events))
    assert len(variables) == 1


def test_a_triggered_dag_run_belongs_to_the_run_that_started_it() -> None:
    """Two runs may trigger the same DAG at the same time; a run without a starter belongs to no run."""
    mine, other = task("load"), task("load", run="r2")
    runs = {}
    for name, starter in (("r8", mine), ("r9", other)):
        triggered = task("x", dag="b", run=name)
        run_of_dag = dag("START")
        run_of_dag["run"] = {
            "runId": f"b {name} 0",
            "facets": {
                "airflowDagRun": {"dag": {"dag_id": "b"}, "dagRun": {"run_id": name}},
                "parent": {"run": {"runId": starter["run"]["runId"]}, "job": starter["job"]},
            },
        }
        run_of_dag["job"] = {"name": "b"}
        runs[name] = run_of_dag, triggered, child("b.x.q", triggered)
    events = seen(mine, other, *runs["r8"], *runs["r9"], task("x", dag="b", run="r10"))
    assert events == ["shop r1 load 1", "b r8 0", "b r8 x 1", "b.x.q below b r8 x 1"]


def test_a_variable_deleted_before_its_read_counts_as_absent(
    variables: Variables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another check may delete its Variables meanwhile; text that is not JSON is reported."""
    variables.emit(task("load"))
    (key,) = variables.keys()
    monkeypatch.setattr(Variables, "get", lambda self, key, default=None: None)
    store = VariableStore(TASK)
    assert store.read() == Events((), ())
    monkeypatch.undo()
    variables[key] = "{"
    monkeypatch.setattr(event_places, "_variables", lambda: variables)
    assert store.read().problems == (f"Variable {key}: not JSON.",)
