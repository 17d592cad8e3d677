"""A task that fails inside Spark, between two writes."""

from __future__ import annotations

import pytest

from system_tests.conftest import AssertEvents, RunExample


@pytest.mark.parametrize("in_workers", [False, True], ids=["dag.test", "LocalExecutor"])
def test_failure_claims_no_unfinished_output(
    run_example: RunExample, assert_events: AssertEvents, *, in_workers: bool
) -> None:
    """A FAIL event has the inputs, the finished write, and the reason why the other was not finished."""
    assert_events(run_example("nycflights_fails", state="failed", in_workers=in_workers))
