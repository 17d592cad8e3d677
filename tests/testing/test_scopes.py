"""Scopes of a comparison: all emitted events, events of named DAGs, or events of the expected keys."""

from __future__ import annotations

from typing import Any

from testing.whole_run import whole_run

from airflow_provider_spark_lineage.testing import RELATIONS, Events, Expected, compare


def of_keys(*keys: str) -> Expected:
    """Expectations that are about their keys alone."""
    return Expected.of({key: {} for key in keys}, scope="keys")


def start(task: str) -> dict[str, Any]:
    return {"eventType": "START", "run": {}, "job": {"name": f"dag.{task}"}}


def test_other_keys_are_not_compared() -> None:
    """Events of keys that are not expected are counted, and named."""
    events = Events.of([start("task"), start("other"), start("another")])
    report = compare(of_keys("dag.task.event.start"), events, without=RELATIONS)
    assert report.ok
    names = "  dag.another.event.start\n  dag.other.event.start"
    assert f"2 events of keys with no expectation, not compared:\n{names}\n" in report.text()


def test_relations_hold_for_whole_runs() -> None:
    """If START alone is expected, a missing end is accepted, but a broken run of its DAG is not."""
    events = whole_run()
    assert compare(of_keys("shop.load.event.start"), Events.of(events)).ok
    del events[4]
    assert compare(of_keys("shop.load.event.start"), Events.of(events)).broken == ("one_terminal",)


def test_a_run_that_is_not_in_scope_may_go_on() -> None:
    """Another run may be unfinished if one run is expected; the events of the expected one are judged."""
    events = whole_run()
    del events[4]
    assert compare(of_keys("shop.event.complete"), Events.of(events)).ok
    assert compare(Expected.of({event.key: {} for event in Events.of(events)}), Events.of(events)).broken
    events[0]["eventTime"] = "yesterday"
    assert compare(of_keys("shop.event.complete"), Events.of(events)).broken == ("schemas",)
