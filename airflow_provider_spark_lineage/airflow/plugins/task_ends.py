"""Has the lineage of each task stored for the viewer, after the task has ended.

Imports nothing until then, except for tasks that may launch Spark.

One listener for own operators, extractors and auto-capture: only a listener is told whether the task failed.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import hookimpl

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.airflow.task.report import TaskReport

_PACKAGE = "airflow_provider_spark_lineage.airflow"
_CAPTURE, _LAUNCHERS = f"{_PACKAGE}.task.task_lineage", f"{_PACKAGE}.extractors.launchers"
"""Modules: a process that has lineage of a task has loaded one of them."""


class StoredLineage:
    """Listens for the ends of tasks.

    Its methods are called after OpenLineage's listener, so that the event is sent first, and so that no
    forked child inherits a lock of a thread that is still storing.
    """

    @hookimpl(tryfirst=True)
    def on_task_instance_running(self, previous_state: Any, task_instance: Any) -> None:
        """Prepare the end of a task that may launch Spark, if our extractor is configured."""
        if _LAUNCHERS in sys.modules:
            from airflow_provider_spark_lineage.spark import harmless

            with harmless("the viewer may not show the lineage of this task"):
                _prepare(task_instance.task)

    @hookimpl(trylast=True)
    def on_task_instance_success(self, previous_state: Any, task_instance: Any) -> None:
        """Store the lineage of a task that succeeded."""
        _store(task_instance)

    @hookimpl(trylast=True)
    def on_task_instance_failed(self, previous_state: Any, task_instance: Any, error: Any) -> None:
        """Store the lineage of a task that failed, also if it will be retried."""
        _store(task_instance, error, failed=True)

    @hookimpl(trylast=True)
    def on_task_instance_skipped(self, previous_state: Any, task_instance: Any) -> None:
        """Store the lineage of a task that skipped itself; Airflow 3.0 does not call this."""
        _store(task_instance)


def _prepare(task: Any) -> None:
    from airflow_provider_spark_lineage.airflow.plugins.launched import awaits_command, may_launch

    # The command of `@task.bash` comes later, and most have nothing to do with Spark.
    has_command = hasattr(task, "bash_command") or hasattr(task, "command")
    if may_launch(task) and not (has_command and awaits_command(task)):
        from airflow_provider_spark_lineage.airflow.extractors.launchers import prepare_end

        prepare_end()


def _store(task_instance: Any, error: Any = None, *, failed: bool = False) -> None:
    if _CAPTURE in sys.modules or _LAUNCHERS in sys.modules:
        from airflow_provider_spark_lineage.spark import harmless

        with harmless("the viewer will not show the lineage of this task"):
            from airflow_provider_spark_lineage.airflow.task.store import store_at_end

            store_at_end(task_instance, partial(_report_of, task_instance), error, failed=failed)


def _report_of(task_instance: Any) -> TaskReport | None:
    """Return the report of a task that ran in this process; None if it has none."""
    from airflow_provider_spark_lineage.airflow.task.process import TASK

    report = TASK.report_of(task_instance)
    if report is not None or _LAUNCHERS not in sys.modules:
        return report
    from airflow_provider_spark_lineage.airflow.extractors.launchers import launched_report

    return launched_report(task_instance)
