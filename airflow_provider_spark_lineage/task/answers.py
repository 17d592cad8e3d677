"""Answers to OpenLineage's provider about a task: the same from operators, extractors and auto-capture.

The provider asks in a forked child without access to the JVM, kills it after `[openlineage]
execution_timeout`, and may ask again: answers only read what the task's process stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage


def answer_at_start(task: Any) -> OperatorLineage:
    """Return the datasets in the text of a task's job, and those that its author states."""
    from airflow_provider_spark_lineage.task.annotation import annotated
    from airflow_provider_spark_lineage.task.planned import planned_operator_lineage

    return annotated(planned_operator_lineage(task), task)


def answer_at_end(
    task: Any, task_instance: Any, ours: Callable[..., OperatorLineage], *, has_failed: bool
) -> OperatorLineage:
    """Return the datasets that a task read and wrote, and those that its author and hooks state.

    `ours` is called with `failed`, which is true also for a task that was skipped.
    """
    from airflow_provider_spark_lineage.task.annotation import annotated
    from airflow_provider_spark_lineage.task.provider import is_skipped

    failed = has_failed or is_skipped(task_instance)
    return annotated(ours(failed=failed), task, task_instance, failed=failed)
