"""Sends events of each execution when it begins and ends, while the task still runs."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.spark.guard import harmless
from airflow_provider_spark_lineage.spark.lineage.job_names import JobNames
from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.runs.event_executions import StreamRuns, event_execution, job_of

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark.facets.events import EventExecution, RunIdentity
    from airflow_provider_spark_lineage.spark.records.streams import StreamRun
    from airflow_provider_spark_lineage.spark.runs.executions import Execution

log = logging.getLogger(__name__)


def _key(execution: Execution) -> tuple[str, int | None]:
    return execution.record.application_id, execution.record.execution_id


class Sender:
    """Sends START and COMPLETE or FAIL of each execution, as a child run of the task.

    START of an execution that takes long is sent while it runs, START of others with their end.

    A run of a streaming query is one child run, from its first batch to its end. In between, RUNNING is sent
    when a batch ends, at most every `progress_interval_seconds`; never if that is 0.

    It has its own thread: a slow or unreachable backend delays only the end of the task, for a limited time.
    `which` is a value of `[spark_lineage] execution_events`. `emit` returns False if an event is lost;
    `wait_until_sent` is called at the end with a limit in seconds, and returns how many events are lost after
    `emit` took them.
    """

    MAX_WAITING = 1000
    """Limit of executions that wait for a slow backend; further ones are not sent."""

    def __init__(
        self,
        parent: RunIdentity,
        emit: Callable[[Any], object],
        *,
        per_field: bool = False,
        max_event_bytes: int | None = None,
        which: str = "all",
        start_outputs: bool = True,
        progress_interval_seconds: float = 0,
        wait_until_sent: Callable[[float], int] = lambda _: 0,
    ) -> None:
        self.silenced: Callable[[], bool] = lambda: False
        """Returns whether OpenLineage's Java agent sends the events of executions."""

        self._parent = parent
        self._emit = emit
        self._per_field = per_field
        self._max_event_bytes = max_event_bytes
        self._start_outputs = start_outputs
        self.which = which
        self._waiting: queue.Queue[tuple[str, EventExecution] | None] = queue.Queue(self.MAX_WAITING)
        self._given_up = threading.Event()
        self._wait_until_sent = wait_until_sent
        self._wanted = 0
        """Number of events to send."""

        self._sent = 0
        """Number of those that `emit` took."""

        self._thread: threading.Thread | None = None
        self._jobs = JobNames(parent.job)
        self._begun: dict[tuple[str, int | None], EventExecution] = {}
        """Executions whose START is sent, or waits, by application and Spark's id."""
        self._streams = StreamRuns(self._jobs, which, progress_interval_seconds)
        self._lock = threading.Lock()
        """Held while events are queued: several sessions report executions, each on a thread of its own."""

        self._is_stopped = False
        """Executions that are reported later have no events: the ends of all runs are queued."""

    @property
    def sends_all(self) -> bool:
        """Return whether every execution that read or wrote a dataset has events of ours."""
        return self.which == "all" and not self.silenced()

    @property
    def sends_beginnings(self) -> bool:
        """Return whether START is sent while an execution runs: not if only failed ones have events."""
        return self.which in ("all", "writes")

    def begin(self, execution: Execution) -> None:
        """Send START of a running execution, if it has events."""
        from airflow_provider_spark_lineage.spark.facets.events import START

        if self.silenced() or not execution.has_events or not self._is_wanted(execution):
            return
        with self._lock:
            if self._is_stopped:
                return
            started = replace(event_execution(execution, job_of(execution, self._jobs)), states=(START,))
            if self._put(execution.record.application_id, [started]):
                self._begun[_key(execution)] = started

    def put(self, execution: Execution) -> None:
        """Send the events of an execution that has ended, if it has any."""
        with self._lock:
            if not self._is_stopped:
                self._put_ended(execution)

    def _put_ended(self, execution: Execution) -> None:
        from airflow_provider_spark_lineage.spark.facets.events import END

        application_id = execution.record.application_id
        begun = self._begun.pop(_key(execution), None)
        if begun is not None:
            ended = replace(event_execution(execution, begun.job), states=(END,))
            self._put(application_id, [ended])
        elif self.silenced():
            return
        elif self._streams.has(execution):
            self._put(application_id, self._streams.add(execution))
        elif execution.has_events and self._is_wanted(execution):
            # Store the execution without its record, which may be large.
            self._put(application_id, [event_execution(execution, job_of(execution, self._jobs))])

    def end_streams(self, runs: Iterable[StreamRun]) -> None:
        """Send the ends of those runs of streaming queries that have ended."""
        with harmless("the ends of streaming queries could not be sent"), self._lock:
            for run in () if self._is_stopped else runs:
                for application_id, waiting in self._streams.end(run):
                    self._put(application_id, [waiting])

    def _put(self, application_id: str, executions: Iterable[EventExecution]) -> bool:
        """Queue events for the thread that sends; return False if too many wait."""
        for execution in executions:
            if self._thread is None:
                self._thread = threading.Thread(target=self._send, name="spark-lineage-events", daemon=True)
                self._thread.start()
            self._wanted += len(execution.states)
            try:
                self._waiting.put_nowait((application_id, execution))
            except queue.Full:
                return False
        return True

    def _is_wanted(self, execution: Execution) -> bool:
        if self.which == "writes":
            return bool(execution.lineage.outputs or execution.target)
        return self.which == "all" or execution.record.failed

    def stop(self, timeout_seconds: float) -> None:
        """Wait until all events are sent, for a limited time; drop the rest.

        Streaming queries that still run get COMPLETE with their counts so far: a run must have one end.
        """
        with harmless("the ends of running executions could not be sent"), self._lock:
            if self._is_stopped:
                return
            self._is_stopped = True
            self._abort()
            for application_id, waiting in self._streams.close():
                self._put(application_id, [waiting])
        if self._thread is None:
            return
        deadline = time.monotonic() + timeout_seconds
        with contextlib.suppress(queue.Full):
            self._waiting.put(None, timeout=timeout_seconds)
        self._thread.join(max(deadline - time.monotonic(), 0))
        if self._thread.is_alive():
            # Stop the thread: the provider forks next, and a child inherits locks that this thread holds.
            self._given_up.set()
        lost = self._wanted - self._sent
        with harmless("it is unknown whether all events of single executions were sent"):
            lost += self._wait_until_sent(max(deadline - time.monotonic(), 0))
        if lost:
            # Each of several transports may have lost the same event.
            lost = min(lost, self._wanted)
            log.warning(
                "Spark lineage: %d events of executions were not sent: the backend is slow or down, or"
                " refuses them. This has no impact on the task.",
                lost,
            )

    def _abort(self) -> None:
        """End the runs of executions that run on without capture; their outputs are unknown."""
        from airflow_provider_spark_lineage.spark.facets.events import END

        now = datetime.now(timezone.utc)
        for (application_id, _), started in self._begun.items():
            lineage = Lineage(inputs=started.lineage.inputs)
            ended = replace(started, ended_at=now, lineage=lineage, is_unfinished=True, states=(END,))
            self._put(application_id, [ended])
        self._begun.clear()

    def _send(self) -> None:
        from airflow_provider_spark_lineage.spark.facets.events import execution_events

        while (waiting := self._waiting.get()) is not None and not self._given_up.is_set():
            with harmless("events of single executions could not be sent"):
                application_id, execution = waiting
                events = execution_events(
                    [execution],
                    self._parent,
                    application_id=application_id,
                    dataset_edges_per_field=self._per_field,
                    max_bytes=self._max_event_bytes,
                    start_outputs=self._start_outputs,
                )
                for event in events:
                    if not self._given_up.is_set():
                        self._sent += self._emit(event) is not False
