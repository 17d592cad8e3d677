"""A task that fails inside Spark, between two writes."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.testing import Mode
from system_tests.conftest import AssertEvents, RunExample


@pytest.mark.parametrize("mode", ["test", "standalone"], ids=["dag.test", "LocalExecutor"])
def test_failure_claims_no_unfinished_output(
    run_example: RunExample, assert_events: AssertEvents, *, mode: Mode
) -> None:
    """A FAIL event says what was read, the write that was finished, and why the other was not."""
    assert_events(run_example("nycflights_fails", state="failed", mode=mode))
