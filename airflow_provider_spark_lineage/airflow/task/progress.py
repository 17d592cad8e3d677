"""RUNNING events of a task at an interval: its lineage and its usage so far."""

from __future__ import annotations

import copy
import threading
import time
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.spark.guard import harmless

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage
    from airflow_provider_spark_lineage.spark.facets.events import EventFacets, RunIdentity

MOST_OF_TIME = 0.05
"""Limit of the share of time for computing the progress: a long run has thousands of executions."""


class Progress:
    """Sends RUNNING events of a task on its own thread, until `end`; none if nothing is known so far.

    `facets` are Airflow's facets of the task's START. They are read before, on the task's own thread, because
    Airflow's supervisor answers one thread at a time.
    """

    def __init__(
        self, lineage: TaskLineage, identity: RunIdentity, facets: EventFacets, interval_seconds: float
    ) -> None:
        self._lineage = lineage
        self._identity = identity
        self._facets = facets
        self._interval_seconds = interval_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spark-lineage-progress", daemon=True)
        self._thread.start()

    def end(self, timeout_seconds: float = 0.0) -> None:
        """Send no more events; wait for one that is being sent, because the task's end must come last."""
        from airflow_provider_spark_lineage.airflow.task.provider import wait_until_sent

        deadline = time.monotonic() + timeout_seconds
        self._ended.set()
        self._thread.join(timeout_seconds)
        if timeout_seconds:
            with harmless("the events of this task's progress may be sent after its end"):
                wait_until_sent(max(deadline - time.monotonic(), 0))

    def _run(self) -> None:
        pause = self._interval_seconds
        while not self._ended.wait(pause):
            began = time.monotonic()
            with harmless("the progress of this task could not be sent"):
                self._send()
            pause = max(self._interval_seconds, (time.monotonic() - began) / MOST_OF_TIME)

    def _send(self) -> None:
        from airflow_provider_spark_lineage.airflow.task.answers import content_of
        from airflow_provider_spark_lineage.airflow.task.provider import emit
        from airflow_provider_spark_lineage.airflow.task.run_facets import fitting_run_facets
        from airflow_provider_spark_lineage.spark.facets.events import EventFacets, interim_event
        from airflow_provider_spark_lineage.spark.facets.size import size_of

        run = self._lineage.progress()
        if run is None:
            return
        run_facets, lineage = fitting_run_facets(run)
        content = content_of(lineage, size_of(run_facets))
        facets = copy.deepcopy(self._facets)
        event = interim_event(
            content.lineage,
            self._identity,
            EventFacets({**facets.run, **run_facets}, facets.job),
            is_running=True,
            dataset_edges_per_field=content.repeats_dataset_edges,
        )
        if not self._ended.is_set():
            emit(event)


def start_progress(lineage: TaskLineage, task_instance: Any) -> Progress | None:
    """Start the events of a task's progress; None if `[spark_lineage] progress_interval_seconds` is 0."""
    from airflow_provider_spark_lineage.airflow import conf

    interval = conf.progress_interval_seconds()
    if not interval:
        return None
    with harmless("the progress of this task cannot be sent"):
        from airflow_provider_spark_lineage.airflow.task.provider import facets_of_start, identity_of

        return Progress(lineage, identity_of(task_instance), facets_of_start(task_instance), interval)
    return None
