"""Lineage of one try of a task, from the start of its capture until its events are sent."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.task.hook_reports import Reported, reported_so_far
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark import Gap, Lineage, Run, alarm_paused, harmless, of_tasks, within

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_provider_spark_lineage.airflow.task.progress import ProgressEvents
    from airflow_provider_spark_lineage.airflow.task.report import TaskReport
    from airflow_provider_spark_lineage.spark import Collector, Findings, Sender

KILL_DRAIN_SECONDS = 2.0
KILL_TIMEOUT_SECONDS = 4.0
"""Limits for the work in `on_kill`: Airflow kills the task five seconds later."""


class TaskLineage:
    """Capture of one try of one task instance, which ends with the `report` of the task."""

    def __init__(
        self,
        collector: Collector,
        sender: Sender | None = None,
        emit_timeout_seconds: float = 5.0,
        hooks_before: Reported | None = None,
    ) -> None:
        self._collector = collector
        self._sender = sender
        self._emit_timeout_seconds = emit_timeout_seconds
        self._hooks_before = hooks_before
        self._is_stopped = False
        self._progress: ProgressEvents | None = None
        self._checked: list[Findings] = []
        """Results of the checks of an operator."""

        self._report: TaskReport | None = None
        """Set when the work of the task has ended."""

    @property
    def report(self) -> TaskReport:
        """Report of the task: complete after `stop`; before, of its work so far."""
        if self._report is not None:
            return self._report
        run = Run(Lineage())
        with harmless("the lineage of this task could not be computed"):
            run = self._collector.run()
        return self._report_of(run)

    @property
    def in_flight(self) -> tuple[Findings, ...]:
        """Results of the checks of written frames; everything after `stop`."""
        return self._collector.findings

    def add_findings(self, findings: Iterable[Findings]) -> None:
        """Add results of checks to the report; call it before `stop`."""
        self._checked += findings

    def _report_of(self, run: Run) -> TaskReport:
        from airflow_provider_spark_lineage.airflow.task.report import TaskReport

        return TaskReport(
            run,
            findings=(*self._collector.findings, *self._checked),
            launch=getattr(self._collector, "launch", None),
            planned=self._collector.planned,
            leaves_datasets=self._leaves_datasets,
            hooks_before=self._hooks_before,
        )

    @property
    def _leaves_datasets(self) -> bool:
        return self._sender is not None and self._sender.sends_all and not conf.task_datasets()

    def start_progress(self, task_instance: Any) -> None:
        """Send RUNNING events until `stop`, if an option asks for them."""
        if conf.progress_interval_seconds():
            from airflow_provider_spark_lineage.airflow.task.progress import start_progress

            self._progress = start_progress(self._report_so_far, task_instance)

    def _report_so_far(self) -> TaskReport | None:
        """Return the report so far, as its own events name it; None if nothing is known yet."""
        run = self._collector.progress()
        return self._of_run(run) if run is not None else None

    def _of_run(self, run: Run) -> TaskReport:
        """Return the report of a run so far, for an event before the end: without results of checks."""
        from airflow_provider_spark_lineage.airflow.task.report import TaskReport

        return TaskReport(run, leaves_datasets=self._leaves_datasets)

    def stop(self) -> None:
        """Stop capturing, wait until the events of executions are sent, and make the report."""
        with alarm_paused(), harmless("the lineage of this task could not be computed"):
            waits_until = time.monotonic() + self._emit_timeout_seconds
            if self._progress is not None:
                self._progress.end(self._emit_timeout_seconds)
            emit_timeout_seconds = max(waits_until - time.monotonic(), 0)
            self._collector.stop()
            self._is_stopped = True
            if self._sender is not None:
                self._sender.end_streams(self._collector.run().stream_runs)
                self._sender.stop(emit_timeout_seconds)
            if self._report is None:
                self._report = report = self._report_of(self._collector.run())
                self._report = report.measure()

    def succeed(self, context: Context) -> None:
        """Have Airflow record events of the written assets, if `[spark_lineage] asset_events` is set.

        Call it after `stop`, if the task has not failed, with the context of its `execute`.
        """
        with harmless("Airflow does not get the assets that this task wrote"):
            if conf.asset_events():
                from airflow_provider_spark_lineage.airflow.task.assets import add_asset_events

                add_asset_events(context, self.report.run.lineage)

    def on_kill(self, task_instance: Any) -> None:
        """Send the lineage so far, because the process may be killed next.

        Runs in a signal handler, which may have interrupted a call to the JVM: then the connection of this
        thread is busy, so another thread with its own connection does the work. After `stop`, nothing is
        sent: the final event has everything. The same holds after `execution_timeout`, for which Airflow
        calls this, too: with auto-capture that is before `stop`, with an operator of this package after it.
        """
        if not (self._is_stopped or _has_timed_out()):
            within(KILL_TIMEOUT_SECONDS, self._send_before_kill, task_instance)

    def pause(self, task_instance: Any) -> None:
        """Send the lineage so far of a task that continues later in another process; call `stop` before."""
        within(self._emit_timeout_seconds, self._pause, task_instance)

    def _pause(self, task_instance: Any) -> None:
        with harmless("the lineage of this task before it deferred itself could not be sent"):
            if lineage := self._collector.run().lineage:
                self._send_other(Run(lineage), task_instance)

    def _send_before_kill(self, task_instance: Any) -> None:
        with harmless("the lineage of this task before it was stopped could not be sent"):
            if self._progress is not None:
                self._progress.end()

            # Problems of this event only: if the task continues, its final event may be complete.
            problems = self._collector.drain(KILL_DRAIN_SECONDS)
            lineage = self._collector.run(problems).lineage
            gap = Gap("task", of_tasks.STOPPED())
            self._send_other(Run(replace(lineage, gaps=(*lineage.gaps, gap))), task_instance)

    def _send_other(self, run: Run, task_instance: Any) -> None:
        from airflow_provider_spark_lineage.airflow.task.interim import send_other

        # The process may end next. Not longer than a signal handler may take.
        send_other(self._of_run(run), task_instance, KILL_TIMEOUT_SECONDS)


def _has_timed_out() -> bool:
    """Return whether the caller is handling Airflow's exception for `execution_timeout`."""
    return type(sys.exc_info()[1]).__name__ == "AirflowTaskTimeout"


def start_capture(task_instance: Any, hooks_before: Reported | None = None) -> TaskLineage | None:
    """Start capturing for a task instance; return None if no event would have the lineage.

    `hooks_before` has the numbers of hooks' reports from when the task began, if that was earlier.
    """
    # It ended without `stop`: Airflow 3.0 has no hook for a task that skipped itself.
    TASK.end_capture()
    with harmless("capture could not be started"):
        from airflow_provider_spark_lineage.airflow.task.provider import is_active, warn_of_unknown_run_facets

        if not is_active(task_instance):
            return None
        with harmless("the names of `custom_run_facets` could not be checked"):
            warn_of_unknown_run_facets()
        from airflow_provider_spark_lineage.airflow.task.collectors import collector_of, sender_of
        from airflow_provider_spark_lineage.airflow.task.java_agent import (
            left_to_java_agent,
            properties_for_java_agent,
        )
        from airflow_provider_spark_lineage.airflow.task.store import prepare

        sender = None
        with harmless("events of single executions cannot be sent"):
            sender = sender_of(task_instance)
        collector = collector_of(task_instance, sender)
        if sender is not None:
            collector.on_stream_end = sender.end_streams
            sender.silenced = left_to_java_agent(collector)
        with harmless("OpenLineage's Java agent cannot be told the task of its application"):
            collector.added_properties = properties_for_java_agent(task_instance)
        before = reported_so_far() if hooks_before is None else hooks_before
        collector.start()
        lineage = TaskLineage(collector, sender, conf.emit_timeout_seconds(), before)
        TASK.set_capture(task_instance, lineage)
        prepare()
        lineage.start_progress(task_instance)
        return lineage
    return None
