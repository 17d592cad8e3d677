"""Auto-capture of Airflow's own check operators: asks a Spark Thrift server where the checked tables are.

Imports nothing heavy. It only helps `extractors.checks.SqlCheckExtractor`, which must not talk to a server.
"""

from __future__ import annotations

import threading
from typing import Any

from airflow_provider_spark_lineage.airflow.known_operators import CHECKS
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.airflow.task.selection import is_selected
from airflow_provider_spark_lineage.spark import alarm_paused, harmless

TIMEOUT_SECONDS = 10.0
"""Limit of the wait for the server."""

_AFTER_A_RESULT = (TypeError, ValueError)
"""Exceptions of the operators about a result, besides Airflow's own. For others, the server may be down."""


def describe_after_execute(task_instance: Any) -> None:
    """Have the server asked after a task's `execute`, if our extractor will report the task."""
    task = task_instance.task
    if not any(kind.__name__ in CHECKS for kind in type(task).__mro__):
        return
    if not (is_selected(task_instance.dag_id, task_instance.task_id) and _is_ours(task)):
        return
    from airflow.providers.common.compat.sdk import AirflowException

    execute = task.execute

    def ask() -> None:
        with harmless("the tables that this task checks are not located"):
            from airflow_provider_spark_lineage.airflow.checks.checked_tables import described_tables

            TASK.described = described_tables(task)

    def describe() -> None:
        # A server that hangs must not keep the task, whose work is done.
        asking = threading.Thread(target=ask, daemon=True)
        with alarm_paused():
            asking.start()
            asking.join(TIMEOUT_SECONDS)

    def replaced(context: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = execute(context, *args, **kwargs)
        except (AirflowException, *_AFTER_A_RESULT):
            describe()
            raise
        describe()
        return result

    task.execute = replaced


def _is_ours(task: Any) -> bool:
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.airflow.checks.extractor import SqlCheckExtractor

    extractor = get_openlineage_listener().extractor_manager.get_extractor_class(task)
    return extractor is not None and issubclass(extractor, SqlCheckExtractor)
