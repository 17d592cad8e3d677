"""Everything that a Spark task can be in Airflow besides one function with one session."""

from __future__ import annotations

from system_tests.conftest import AssertEvents, RunExample


def test_every_shape_of_task_runs_and_reports(run_example: RunExample, assert_events: AssertEvents) -> None:
    """Mapping, groups, retries, many sessions, none: each task does its work and reports it."""
    assert_events(run_example("task_shapes"))
