"""Brings records of calls, which end in the user's threads, and those of the listener bus into one order.

Spark reports a query some time after it ended. The record of a call made meanwhile waits until the bus
has handled what was posted before the call ended; nobody waits for it.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Callable, Deque, Tuple

from airflow_provider_spark_lineage.record import Record

_QUEUE = "queue.shared"
"""The bus's queue of query listeners, and of every listener that a program adds."""


class Journal:
    """Keeps records of calls until it is their turn; `keep` numbers and stores them."""

    def __init__(self, context: Any, keep: Callable[[Record], None]) -> None:
        self._keep = keep
        self._waiting: Deque[Tuple[int, Record]] = deque()
        self._lock = threading.Lock()
        self._metrics = context._jsc.sc().listenerBus().metrics().metricRegistry()
        self._handled = self._metrics.timer(_QUEUE + ".listenerProcessingTime")
        self._queued: Any = None
        """The queue's length, once it has a listener of ours: before, Spark reports nothing to us."""

    def listen(self) -> None:
        """Keep to the order of the bus from now on: a listener was registered with it."""
        self._queued = self._metrics.getGauges().get(_QUEUE + ".size")

    def add(self, record: Record) -> None:
        """Store a record when everything that Spark has posted by now is handled."""
        with self._lock:
            if self._queued is None:
                self._keep(record)
                return
            # First what waits, then what is done: an event that passes from one to the other counts
            # twice, never not at all. One more may be under way; Spark posts several for each query, so
            # that waiting for one too many still comes before the end of the next.
            due = int(self._queued.getValue()) + int(self._handled.getCount()) + 1
            self._waiting.append((due, record))
            self._store_due()

    def catch_up(self) -> None:
        """Store what is due before the event that the bus is handling now."""
        if self._waiting:
            with self._lock:
                self._store_due()

    def flush(self) -> None:
        """Store everything: the bus has handled all there was."""
        with self._lock:
            while self._waiting:
                self._keep(self._waiting.popleft()[1])

    def _store_due(self) -> None:
        handled = int(self._handled.getCount())
        while self._waiting and self._waiting[0][0] <= handled:
            self._keep(self._waiting.popleft()[1])
