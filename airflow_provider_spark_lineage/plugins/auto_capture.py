"""`[spark_lineage] auto_capture`: captures tasks of operators that we do not own, in the task's process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowPlugin, hookimpl

from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.extractors.operators import WAYS

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.task import TaskLineage


class _AutoCapture:
    """Listens for tasks that start and end in this process."""

    @hookimpl
    def on_task_instance_running(self, previous_state: Any, task_instance: Any) -> None:
        """Start capturing before the operator opens its session."""
        with harmless("auto-capture could not be started"):
            from airflow_provider_spark_lineage import conf

            task = getattr(task_instance, "task", None)
            if task is not None and task.task_type in WAYS and conf.auto_capture():
                from airflow_provider_spark_lineage.task import start_capture

                found = start_capture(task_instance)
                if found is not None:
                    _stop_on_kill(task, found, task_instance)

    # First, because OpenLineage's listener asks the extractor in the same call.

    @hookimpl(tryfirst=True)
    def on_task_instance_success(self, previous_state: Any, task_instance: Any) -> None:
        """Let go of Spark after the operator ended."""
        _finish(task_instance)

    @hookimpl(tryfirst=True)
    def on_task_instance_failed(self, previous_state: Any, task_instance: Any, error: Any) -> None:
        """Let go of Spark after the operator failed."""
        _finish(task_instance)

    @hookimpl(tryfirst=True)
    def on_task_instance_skipped(self, previous_state: Any, task_instance: Any) -> None:
        """Let go of Spark after the function skipped its task; Airflow 3.0 does not call this."""
        _finish(task_instance)


def _stop_on_kill(task: Any, found: TaskLineage, task_instance: Any) -> None:
    """Send what the task has done when Airflow tells it to stop, after what its operator does then."""
    on_kill = task.on_kill

    def stop() -> None:
        try:
            on_kill()
        finally:
            found.stop(task_instance)

    task.on_kill = stop


def _finish(task_instance: Any) -> None:
    with harmless("auto-capture could not be finished"):
        # Other processes call these hooks too, for tasks that never ran in them.
        module = sys.modules.get("airflow_provider_spark_lineage.task")
        task = getattr(task_instance, "task", None)
        if module is None or task is None or task.task_type not in WAYS:
            return
        found = module.lineage_of(task_instance)
        if found is not None:
            found.finish()


class SparkLineagePlugin(AirflowPlugin):
    """Registers the listener; what it does is decided by `[spark_lineage] auto_capture`."""

    name = "spark_lineage"
    listeners = [_AutoCapture()]  # noqa: RUF012  Airflow's protocol
