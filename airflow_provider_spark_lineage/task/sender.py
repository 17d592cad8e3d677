"""Sends events of each execution when it ends, while the task still runs."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.guard import harmless
from airflow_provider_spark_lineage.lineage.job_names import JobNames
from airflow_provider_spark_lineage.runs.event_executions import StreamRuns, event_execution

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.facets.events import EventExecution, RunIdentity
    from airflow_provider_spark_lineage.records.streams import StreamRun
    from airflow_provider_spark_lineage.runs.executions import Execution

log = logging.getLogger(__name__)


class Sender:
    """Sends START and COMPLETE or FAIL of each execution when it ends, as a child run of the task.

    A run of a streaming query is one child run, from its first batch to its end. In between, RUNNING is sent
    when a batch ends, at most every `progress_interval_seconds`; never if that is 0.

    It has its own thread: a slow or unreachable backend delays only the end of the task, for a limited time.
    `which` is a value of `[spark_lineage] execution_events`.
    """

    MAX_WAITING = 1000
    """Limit of executions that wait for a slow backend; further ones are not sent."""

    def __init__(
        self,
        parent: RunIdentity,
        emit: Callable[[Any], None],
        *,
        per_field: bool = False,
        max_event_bytes: int | None = None,
        which: str = "all",
        progress_interval_seconds: float = 0,
    ) -> None:
        self.silenced: Callable[[], bool] = lambda: False
        """Returns whether OpenLineage's Java agent sends the events of executions."""

        self._parent = parent
        self._emit = emit
        self._per_field = per_field
        self._max_event_bytes = max_event_bytes
        self.which = which
        self._waiting: queue.Queue[tuple[str, EventExecution] | None] = queue.Queue(self.MAX_WAITING)
        self._given_up = threading.Event()
        self._unsent = 0
        self._thread: threading.Thread | None = None
        self._jobs = JobNames(parent.job)
        self._streams = StreamRuns(self._jobs, which, progress_interval_seconds)

    @property
    def sends_all(self) -> bool:
        """Return whether every execution that read or wrote a dataset has events of ours."""
        return self.which == "all" and not self.silenced()

    def put(self, execution: Execution) -> None:
        """Send the events of an execution, if it touched a dataset."""
        if self.silenced():
            return
        if self._streams.has(execution):
            waiting = self._streams.add(execution)
        elif execution.lineage and self._is_wanted(execution):
            # Store the execution without its record, which may be large.
            waiting = [event_execution(execution, self._jobs)]
        else:
            return
        self._put(execution.record.application_id, waiting)

    def end_streams(self, runs: Iterable[StreamRun]) -> None:
        """Send the ends of those runs of streaming queries that have ended."""
        with harmless("the ends of streaming queries could not be sent"):
            for run in runs:
                for application_id, waiting in self._streams.end(run):
                    self._put(application_id, [waiting])

    def _put(self, application_id: str, executions: Iterable[EventExecution]) -> None:
        for execution in executions:
            if self._thread is None:
                self._thread = threading.Thread(target=self._send, name="spark-lineage-events", daemon=True)
                self._thread.start()
            try:
                self._waiting.put_nowait((application_id, execution))
            except queue.Full:
                self._unsent += 1

    def _is_wanted(self, execution: Execution) -> bool:
        if self.which == "writes":
            return bool(execution.lineage.outputs or execution.target)
        return self.which == "all" or execution.record.failed

    def stop(self, timeout_seconds: float) -> None:
        """Wait until all events are sent, for a limited time; drop the rest.

        Streaming queries that still run get COMPLETE with what they did so far: a run must have one end.
        """
        with harmless("the ends of streaming queries could not be sent"):
            for application_id, waiting in self._streams.close():
                self._put(application_id, [waiting])
        if self._thread is None:
            return
        began = time.monotonic()
        with contextlib.suppress(queue.Full):
            self._waiting.put(None, timeout=timeout_seconds)
        self._thread.join(max(timeout_seconds - (time.monotonic() - began), 0))
        if self._thread.is_alive():
            # Stop the thread: the provider forks next, and a child inherits locks that this thread holds.
            self._given_up.set()
            self._unsent += self._waiting.qsize()
        if self._unsent:
            log.warning(
                "Spark lineage: the events of %d executions were not sent: the backend is slow or down.",
                self._unsent,
            )

    def _send(self) -> None:
        from airflow_provider_spark_lineage.facets.events import execution_events

        while (waiting := self._waiting.get()) is not None and not self._given_up.is_set():
            with harmless("events of single executions could not be sent"):
                application_id, execution = waiting
                events = execution_events(
                    [execution],
                    self._parent,
                    application_id=application_id,
                    dataset_edges_per_field=self._per_field,
                    max_bytes=self._max_event_bytes,
                )
                for event in events:
                    if not self._given_up.is_set():
                        self._emit(event)
