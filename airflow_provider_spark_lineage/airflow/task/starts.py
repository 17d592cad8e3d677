"""START of a task: an answer to OpenLineage's provider before anything has run.

The provider asks in a forked child, for which the task waits: without a text of a job, nothing is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from airflow.providers.openlineage.extractors import OperatorLineage

from airflow_provider_spark_lineage.airflow.task.planning import planned_by, planned_by_query
from airflow_provider_spark_lineage.airflow.task.provider import send_valid_json
from airflow_provider_spark_lineage.spark import harmless

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.airflow.task.report import TaskReport
    from airflow_provider_spark_lineage.spark import Lineage


def answer_at_start(task: Any) -> OperatorLineage:
    """Return the datasets in the text of a task's job, and those that its author states.

    No datasets if the text leaves a name open, but a gap for each such name.
    """
    return _answer(task, lambda: planned_by(task), tells_reason=True)


def answer_at_start_of_query(task: Any, sql: str, settings: Mapping[str, str]) -> OperatorLineage:
    """Return the datasets in SQL that a session of the task will run, and those that its author states.

    `settings` are the settings of the session. Names that the text leaves open are known to the session, so
    they are not gaps.
    """
    return _answer(task, lambda: planned_by_query(task, sql, settings), tells_reason=False)


def start_of(report: TaskReport, task: Any, own: OperatorLineage | None = None) -> OperatorLineage:
    """Return START of a report's task, with the datasets that its author states.

    `own` is the result of the operator or of another extractor.
    """
    from airflow_provider_spark_lineage.airflow.task.annotation import annotated
    from airflow_provider_spark_lineage.airflow.task.answers import started

    send_valid_json()
    return annotated(started(report, own), task)


def _answer(task: Any, plan: Callable[[], Lineage | None], *, tells_reason: bool) -> OperatorLineage:
    """Return START of a task; `tells_reason` is true if names that the text leaves open become gaps."""
    send_valid_json()
    with harmless("the planned lineage of this task could not be computed"):
        planned = plan()
        if planned is not None:
            from airflow_provider_spark_lineage.airflow.submitted.planned import certain
            from airflow_provider_spark_lineage.airflow.task.report import TaskReport

            is_told = tells_reason or certain(planned)
            return start_of(TaskReport(planned=planned if is_told else None), task)
    return OperatorLineage()
