"""Auto-capture of check operators: the server is asked after a result, and only for our extractor."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = pytest.mark.airflow


def answer(_: Any) -> dict[tuple[str, ...], dict[str, str]]:
    return {("t",): {"paths": "/in"}}


def ran(
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException | None = None,
    *,
    is_ours: bool = True,
    describe: Callable[[Any], Any] = answer,
) -> Any:
    """Run a check whose `execute` raises an error or returns 5; return what was stored, and the outcome."""
    from airflow.providers.common.sql.operators.sql import SQLCheckOperator
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.airflow.checks import checked_tables
    from airflow_provider_spark_lineage.airflow.checks.described_tables import describe_after_execute
    from airflow_provider_spark_lineage.airflow.task.process import TASK
    from airflow_provider_spark_lineage.extractors.checks import SqlCheckExtractor

    class Check(SQLCheckOperator):
        def execute(self, context):
            if error is not None:
                raise error
            return 5

    manager = get_openlineage_listener().extractor_manager
    monkeypatch.setattr(manager, "extractors", {"Check": SqlCheckExtractor} if is_ours else {})
    monkeypatch.setattr(checked_tables, "described_tables", describe)
    monkeypatch.setattr(TASK, "described", {})
    task = Check(task_id="t", sql="SELECT 1")
    describe_after_execute(SimpleNamespace(task=task, dag_id="d", task_id="t"))
    try:
        outcome = task.execute({})
    except BaseException as raised:
        outcome = raised
    return TASK.described, outcome


@pytest.mark.parametrize("error", [None, "failed", TypeError(), ValueError()])
def test_the_server_is_asked_after_a_result(monkeypatch, error):
    """A failed check has a result, and one that could not be compared."""
    from airflow.providers.common.compat.sdk import AirflowException

    error = AirflowException("Test failed.") if error == "failed" else error
    described, outcome = ran(monkeypatch, error)
    assert set(described) == {("t",)}
    assert outcome is (error or outcome)
    assert error is not None or outcome == 5


@pytest.mark.parametrize("error", [OSError("no server"), KeyboardInterrupt()])
def test_the_server_is_not_asked_after_another_error(monkeypatch, error):
    """It may be down, or the task is being killed: asking would wait."""
    assert ran(monkeypatch, error) == ({}, error)


def test_the_server_is_not_asked_for_another_extractor(monkeypatch):
    """Nobody would read the answer."""
    assert ran(monkeypatch, is_ours=False) == ({}, 5)


def test_an_answer_that_fails_does_not_fail_the_task(monkeypatch):
    """It is a line in the log."""

    def describe(_: Any) -> None:
        raise RuntimeError("on purpose")

    assert ran(monkeypatch, describe=describe) == ({}, 5)
