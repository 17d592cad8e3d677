"""Sends RUNNING events of a task at an interval, with what it has read, written and used so far."""

from __future__ import annotations

import threading
from collections.abc import Callable

from airflow_provider_spark_lineage.guard import harmless


class Progress:
    """Calls `send` every `interval_seconds` on its own thread, until `stop`."""

    def __init__(self, interval_seconds: float, send: Callable[[], None]) -> None:
        self._interval_seconds = interval_seconds
        self._send = send
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spark-lineage-progress", daemon=True)
        self._thread.start()

    def stop(self, timeout_seconds: float) -> None:
        """Send no more; wait for an event that is being sent, because the task's end must come after it."""
        self._ends.set()
        self._thread.join(timeout_seconds)

    def _run(self) -> None:
        while not self._ends.wait(self._interval_seconds):
            with harmless("the progress of this task could not be sent"):
                self._send()
