"""The example pipeline, as a user would run it."""

from __future__ import annotations

from system_tests.conftest import AssertEvents, RunExample


def test_pipeline_reports_its_lineage(run_example: RunExample, assert_events: AssertEvents) -> None:
    """Every task says what it read, what it wrote and which column came from where, also a submitted one."""
    assert_events(run_example("nycflights"))
    # It reads what the pipeline has written.
    assert_events(run_example("nycflights_report"))
