"""Captures tasks of other packages' operators, in the task's process.

With auto-capture, Airflow loads this module in all of its processes. Modules that look at each task are
imported here, so that no task waits for them; modules that read and write lineage, when a task runs Spark.
"""

from __future__ import annotations

from typing import Any

from airflow.providers.common.compat.sdk import hookimpl

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.checks.described_tables import describe_after_execute
from airflow_provider_spark_lineage.airflow.known_operators import (
    COMMAND,
    IN_PROCESS,
    PYTHON,
    driver_kind,
    is_named,
)
from airflow_provider_spark_lineage.airflow.plugins.launched import (
    awaits_command,
    may_launch,
    report_launches,
)
from airflow_provider_spark_lineage.airflow.plugins.tasks import CapturedTask
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark import harmless


class AutoCapture:
    """Listens for tasks that start and end in this process.

    Its methods are called before OpenLineage's listener, which asks the operator or the extractor.
    """

    @hookimpl(tryfirst=True)
    def on_task_instance_running(self, previous_state: Any, task_instance: Any) -> None:
        """Start capturing before the operator opens its session or starts its job."""
        TASK.instance = task_instance
        _start(task_instance)

    @hookimpl(tryfirst=True)
    def on_task_instance_success(self, previous_state: Any, task_instance: Any) -> None:
        """Stop capturing after the operator ended."""
        _stop(task_instance)

    @hookimpl(tryfirst=True)
    def on_task_instance_failed(self, previous_state: Any, task_instance: Any, error: Any) -> None:
        """Stop capturing after the operator failed.

        A task whose template could not be rendered never started: its planned job is reported.
        """
        if TASK.auto_capture is None and task_instance is not TASK.instance:
            _start(task_instance, has_failed=True)
        _stop(task_instance)

    @hookimpl(tryfirst=True)
    def on_task_instance_skipped(self, previous_state: Any, task_instance: Any) -> None:
        """Stop capturing after the function skipped its task; Airflow 3.0 does not call this."""
        _stop(task_instance)

    @hookimpl(tryfirst=True)
    def before_stopping(self, component: Any) -> None:
        """Pause the capture of a task that deferred or rescheduled itself, before this process ends."""
        _stop(is_paused=True)


def _start(task_instance: Any, *, has_failed: bool = False) -> None:
    """Start the capture of a task instance; if it failed before it ran, only for operators with a job."""
    with harmless("auto-capture could not be started"):
        # End an earlier capture: Airflow 3.0 has no hook for a task that skipped itself.
        _stop()
        task = getattr(task_instance, "task", None)
        if task is None or not conf.auto_capture() or conf.disabled():
            return
        TASK.described = {}
        if not has_failed:
            describe_after_execute(task_instance)
        launches = may_launch(task)
        extra = conf.extra_operators()
        driver = driver_kind(type(task), extra)
        is_awaited = launches and driver == COMMAND and awaits_command(task) and not has_failed
        if launches and not is_awaited:
            report_launches(task_instance)
        if driver == COMMAND and not (is_awaited or (launches and conf.auto_capture_commands())):
            return
        if driver is not None and not (has_failed and driver in (COMMAND, IN_PROCESS, PYTHON)):
            TASK.auto_capture = CapturedTask(task_instance, driver, is_named=is_named(type(task), extra))
            TASK.auto_capture.start()


def _stop(task_instance: Any = None, *, is_paused: bool = False) -> None:
    """End the capture of a task instance; with None, the current one. A paused task continues elsewhere.

    Airflow calls the listener also for tasks that never ran in this process: they are ignored.
    """
    with harmless("auto-capture could not be stopped"):
        ended = TASK.auto_capture
        if ended is not None and (task_instance is None or task_instance is ended.task_instance):
            TASK.auto_capture = None
            if is_paused:
                ended.pause()
            else:
                ended.stop()
