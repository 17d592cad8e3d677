"""RUNNING events of a task at an interval: its lineage and its usage so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.airflow.task.interim import event_so_far
from airflow_provider_spark_lineage.airflow.task.report import TaskReport
from airflow_provider_spark_lineage.spark import EventParts, RunIdentity, harmless

MOST_OF_TIME = 0.05
"""Limit of the share of time for computing the progress: a long run has thousands of executions."""

ReportSoFar = Callable[[], TaskReport | None]
"""Returns the report of a task so far; None if nothing is known yet."""


class ProgressEvents:
    """Sends RUNNING events of a task on its own thread, until `end`; none if nothing is known so far.

    `facets` are Airflow's facets of the task's START. They are read before, on the task's own thread, because
    Airflow's supervisor answers one thread at a time.
    """

    def __init__(
        self, report_so_far: ReportSoFar, identity: RunIdentity, facets: EventParts, interval_seconds: float
    ) -> None:
        self._report_so_far = report_so_far
        self._identity = identity
        self._facets = facets
        self._interval_seconds = interval_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spark-lineage-progress", daemon=True)
        self._thread.start()

    def end(self, timeout_seconds: float = 0.0) -> None:
        """Send no more events; wait for one that is being sent, because the task's end must come last."""
        deadline = time.monotonic() + timeout_seconds
        self._ended.set()
        self._thread.join(timeout_seconds)
        if timeout_seconds:
            with harmless("the events of this task's progress may be sent after its end"):
                provider.wait_until_sent(max(deadline - time.monotonic(), 0))

    def _run(self) -> None:
        pause = self._interval_seconds
        while not self._ended.wait(pause):
            began = time.monotonic()
            with harmless("the progress of this task could not be sent"):
                self._send()
            pause = max(self._interval_seconds, (time.monotonic() - began) / MOST_OF_TIME)

    def _send(self) -> None:
        report = self._report_so_far()
        if report is None:
            return
        event = event_so_far(report, self._identity, self._facets, state="RUNNING")
        if not self._ended.is_set():
            provider.emit(event)


def start_progress(report_so_far: ReportSoFar, task_instance: Any) -> ProgressEvents | None:
    """Start the events of a task's progress; None if `[spark_lineage] progress_interval_seconds` is 0."""
    interval = conf.progress_interval_seconds()
    if not interval:
        return None
    with harmless("the progress of this task cannot be sent"):
        return ProgressEvents(
            report_so_far,
            provider.identity_of(task_instance),
            provider.facets_of_start(task_instance),
            interval,
        )
    return None
