"""Airflow's own events break no relation and excuse no other error: states set by hand, cleared runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from testing.breaking import PARENT, Change, add, broken, drop, drop_facet, put
from testing.whole_run import (
    DAG_RUN,
    LOAD,
    QUERY,
    SECOND_TRY,
    child,
    dag,
    parent,
    run_id,
    task,
    whole_run,
)


def another_dag_run() -> list[dict[str, Any]]:
    events = whole_run()
    for event in events:
        facets = event["run"]["facets"]
        event["run"]["runId"] = event["run"]["runId"].replace("018f3a5e", "018f3a5f")
        for name in ("airflow", "airflowDagRun"):
            if name in facets:
                facets[name]["dagRun"]["run_id"] = "manual__2"
        for place in (facets["parent"], facets["parent"]["root"]) if "parent" in facets else ():
            place["run"]["runId"] = place["run"]["runId"].replace("018f3a5e", "018f3a5f")
    return events


def triggered(events: list[dict[str, Any]]) -> None:
    outside = parent("elsewhere", 50)
    outside["root"] = {"job": {"namespace": "tests", "name": "whole"}, "run": {"runId": run_id(51)}}
    for event in events:
        facets = event["run"]["facets"]
        if "airflowDagRun" in facets:
            facets["parent"] = outside
        else:
            facets["parent"]["root"] = outside["root"]


def resumed(events: list[dict[str, Any]], name: str, value: Any) -> None:
    again = task("START", "load", LOAD, 2)
    again["run"]["facets"]["airflow"]["task"][name] = value
    events.append(again)


AGAIN, CONF = 20, 30
"""Numbers of the run that a cleared DAG run has next, and of a root from the conf of a DAG run."""


def cleared(events: list[dict[str, Any]], *, has_facets: bool = True) -> None:
    """The last task runs again after its DAG run was cleared, the others do not."""
    events.append({**copy.deepcopy(events[13]), "eventTime": "2024-05-01T10:00:40Z"})
    for number, event in enumerate(events, 1):
        facets = event["run"]["facets"]
        again = number in (12, 13, 15)
        if again and "parent" in facets:
            for place in (facets["parent"], facets["parent"]["root"]):
                place["run"]["runId"] = run_id(AGAIN)
        elif again:
            event["run"]["runId"] = run_id(AGAIN)
        for name in ("airflow", "airflowDagRun"):
            if has_facets and name in facets:
                facets[name]["dagRun"]["clear_number"] = int(again)


def cleared_without(*numbers: int, has_facets: bool = True) -> Change:
    def change(events: list[dict[str, Any]]) -> None:
        cleared(events, has_facets=has_facets)
        for number in sorted(numbers, reverse=True):
            drop(number)(events)

    return change


def rooted(events: list[dict[str, Any]]) -> None:
    """As with a conf of `{"openlineage": {"rootParentRunId": ...}}` and without a parent in it."""
    for event in events[:-1]:
        event["run"]["facets"]["parent"]["root"] = {
            "job": {"namespace": "tests", "name": "whole"},
            "run": {"runId": run_id(CONF)},
        }


def triggered_by_parent_alone(events: list[dict[str, Any]]) -> None:
    """As with a conf that names a parent and no root: the provider takes the parent as root."""
    query = {"job": {"namespace": "tests", "name": "shop.load.orders"}, "run": {"runId": run_id(QUERY)}}
    below, step = dag("COMPLETE", 29), task("START", "step", 41, 10)
    step_end = task("COMPLETE", "step", 41, 11)
    below["run"]["facets"]["parent"] = {**parent("x", QUERY), **query, "root": query}
    for event in (step, step_end):
        event["run"]["facets"]["parent"] = {**parent("other", 40), "root": query}
    below["run"]["runId"] = run_id(40)
    for event in (below, step, step_end):
        event["job"]["name"] = event["job"]["name"].replace("shop", "other")
        for name in ("airflow", "airflowDagRun"):
            if name in event["run"]["facets"]:
                event["run"]["facets"][name]["dag"]["dag_id"] = "other"
    events += [below, step, step_end]


BY_HAND = [5, 13]
"""The ends of a task and of a second try."""


def set_by_hand(events: list[dict[str, Any]]) -> None:
    for number in BY_HAND:
        drop_facet(number, "airflow")(events)


GOOD: list[tuple[str, Change]] = [
    ("a START of the DAG", add(dag("START", 0))),
    ("RUNNING again", add(task("RUNNING", "load", LOAD, 4))),
    ("a DAG still running", drop(14)),
    (
        "another child run of the same job",
        lambda events: events.extend([child("START", 77, 3), child("COMPLETE", 77, 4)]),
    ),
    ("another DAG run of the same DAG", lambda events: events.extend(another_dag_run())),
    ("a DAG run that was triggered from elsewhere", triggered),
    ("a deferrable task that comes back", lambda events: resumed(events, "deferrable", True)),
    ("a task that waits for a person", lambda events: resumed(events, "hitl_summary", {"subject": "?"})),
    ("states set by hand, which come without Airflow's facet", set_by_hand),
    ("a DAG run that was cleared", cleared),
    ("a cleared DAG run without its former events", cleared_without(14)),
    ("a cleared DAG run without its later events", cleared_without(15)),
    ("a cleared DAG run without events of its own", cleared_without(14, 15)),
    ("a cleared DAG run, and no facet counts", cleared_without(has_facets=False)),
    ("a root from the conf of the DAG run", rooted),
    ("a parent without a root from the conf of the DAG run", triggered_by_parent_alone),
    ("times written in other ways", put(3, "eventTime", value="2024-05-01T12:00:03.123456789+02:00")),
]


@pytest.mark.parametrize("change", [case[1] for case in GOOD], ids=[case[0] for case in GOOD])
def test_airflows_own_events_break_no_relation(change):
    """Rules raise no false alarm at the events of a good deployment."""
    events = whole_run()
    change(events)
    assert broken(events) == []


PARENT_ID = "run.facets.parent.run.runId"


@pytest.mark.parametrize("without", [(), (14,), (15,), (14, 15)])
@pytest.mark.parametrize(("number", "other"), [(1, AGAIN), (5, 99), (12, DAG_RUN), (13, 99)])
def test_of_one_attempt_all_tasks_have_one_parent(number, other, without):
    """That a DAG run was cleared excuses no task that names the run of another attempt, or none at all."""
    events = whole_run()
    cleared_without(*without)(events)
    put(number, *PARENT, "run", "runId", value=run_id(other))(events)
    places = {where for rule, where, path in broken(events) if (rule, path) == ("parents", PARENT_ID)}
    assert places
    if not without:
        assert places == {str(number)}


@pytest.mark.parametrize("number", [1, 8, 12, 13])
def test_tries_excuse_no_event_alone(number):
    """If only tries show that tasks ran again, the events of a try still have one parent."""
    events = whole_run()
    cleared_without(14, 15, has_facets=False)(events)
    put(number, *PARENT, "run", "runId", value=run_id(99))(events)
    assert ("parents", PARENT_ID) in {(rule, path) for rule, _, path in broken(events)}


def test_tasks_of_a_dag_run_have_one_root():
    """All tasks, and the jobs below them, have the root that the conf gives."""
    events = whole_run()
    rooted(events)
    for number in (2, 8):
        put(number, *PARENT, "root", "run", "runId", value=run_id(99))(events)
    assert broken(events) == [
        ("parents", number, "run.facets.parent.root.run.runId") for number in ("2", "8")
    ]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (drop(12), [("start_first", "12", "")]),
        (add(task("FAIL", "shaky", SECOND_TRY, 24, try_number=2)), [("one_terminal", "15", "")]),
        (
            put(13, "run", "runId", value=run_id(LOAD)),
            [("start_first", "13", ""), ("one_terminal", "12", ""), ("one_run_id", "13", "run.runId")],
        ),
        (
            put(13, *PARENT, "run", "runId", value=run_id(99)),
            [("parents", "13", "run.facets.parent.run.runId")],
        ),
        (drop_facet(13, "parent"), [("parents", "13", "run.facets.parent")]),
        (put(13, "eventTime", value="2024-05-01T10:00:00Z"), [("start_first", "13", "eventTime")]),
    ],
)
def test_a_state_set_by_hand_is_of_its_try(change, wanted):
    """Without Airflow's facet an event is of the try that the other events of its run and job are of."""
    events = whole_run()
    set_by_hand(events)
    change(events)
    assert broken(events) == wanted
