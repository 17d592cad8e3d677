"""Sends events of each execution when it ends, while the task still runs."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.guard import harmless
from airflow_provider_spark_lineage.lineage.job_names import JobNames

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.facets.events import EventExecution, RunIdentity
    from airflow_provider_spark_lineage.runs.executions import Execution

log = logging.getLogger(__name__)


class Sender:
    """Sends START and COMPLETE or FAIL of each execution when it ends, as a child run of the task.

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
        wait_until_sent: Callable[[float], int] = lambda _: 0,
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
        self._wait_until_sent = wait_until_sent
        self._wanted = 0
        """Number of events to send."""

        self._sent = 0
        """Number of those that `emit` took."""

        self._thread: threading.Thread | None = None
        self._jobs = JobNames(parent.job)

    @property
    def sends_all(self) -> bool:
        """Return whether every execution that read or wrote a dataset has events of ours."""
        return self.which == "all" and not self.silenced()

    def put(self, execution: Execution) -> None:
        """Send the events of an execution, if it touched a dataset."""
        if not execution.lineage or self.silenced() or not self._is_wanted(execution):
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._send, name="spark-lineage-events", daemon=True)
            self._thread.start()
        from airflow_provider_spark_lineage.runs.pipeline import execution_events_of

        # Store the execution without its record, which may be large.
        (waiting,) = execution_events_of([execution], self._jobs)
        self._wanted += 2
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait((execution.record.application_id, waiting))

    def _is_wanted(self, execution: Execution) -> bool:
        if self.which == "writes":
            return bool(execution.lineage.outputs or execution.target)
        return self.which == "all" or execution.record.failed

    def stop(self, timeout_seconds: float) -> None:
        """Wait until all events are sent, for a limited time; drop the rest."""
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
            log.warning(
                "Spark lineage: %d events of executions were not sent: the backend is slow or down, or"
                " refuses them. This has no impact on the task.",
                lost,
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
                        self._sent += self._emit(event) is not False
