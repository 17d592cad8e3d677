"""`[spark_lineage] auto_capture`: captures tasks of operators that we do not own, in the task's process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowPlugin, hookimpl

from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.extractors.operators import DRIVERS, IN_PROCESS

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
            if task is not None and DRIVERS.get(task.task_type) == IN_PROCESS and conf.auto_capture():
                from airflow_provider_spark_lineage.task import start_capture

                lineage = start_capture(task_instance)
                if lineage is not None:
                    _stop_on_kill(task, lineage, task_instance)

    # First, because OpenLineage's listener asks the extractor in the same call.

    @hookimpl(tryfirst=True)
    def on_task_instance_success(self, previous_state: Any, task_instance: Any) -> None:
        """Stop capturing after the operator ended."""
        _finish_task(task_instance)

    @hookimpl(tryfirst=True)
    def on_task_instance_failed(self, previous_state: Any, task_instance: Any, error: Any) -> None:
        """Stop capturing after the operator failed."""
        _finish_task(task_instance)

    @hookimpl(tryfirst=True)
    def on_task_instance_skipped(self, previous_state: Any, task_instance: Any) -> None:
        """Stop capturing after the function skipped its task; Airflow 3.0 does not call this."""
        _finish_task(task_instance)


def _stop_on_kill(task: Any, lineage: TaskLineage, task_instance: Any) -> None:
    """Replace a task's `on_kill` by one that also sends what the task has done."""
    on_kill = task.on_kill

    def stop() -> None:
        try:
            on_kill()
        finally:
            lineage.stop(task_instance)

    task.on_kill = stop


def _finish_task(task_instance: Any) -> None:
    with harmless("auto-capture could not be finished"):
        # Other processes call these hooks too, for tasks that never ran in them.
        module = sys.modules.get("airflow_provider_spark_lineage.task")
        task = getattr(task_instance, "task", None)
        if module is None or task is None or DRIVERS.get(task.task_type) != IN_PROCESS:
            return
        lineage = module.lineage_of(task_instance)
        if lineage is not None:
            lineage.finish()


class SparkLineagePlugin(AirflowPlugin):
    """Registers the listener; `[spark_lineage] auto_capture` turns it on."""

    name = "spark_lineage"
    listeners = [_AutoCapture()]  # noqa: RUF012  Airflow's protocol
