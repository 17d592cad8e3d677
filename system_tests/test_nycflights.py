"""The example pipeline, as a user would run it."""

from __future__ import annotations

from system_tests.conftest import AssertEvents, RunExample


def test_pipeline_reports_its_lineage(run_example: RunExample, assert_events: AssertEvents) -> None:
    """Every task says what it read, what it wrote and which column came from where."""
    assert_events(run_example("nycflights"))
