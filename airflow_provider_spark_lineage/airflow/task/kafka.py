"""Reports the events that Kafka did not take: `emit` of OpenLineage's transport only logs them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

KINDS = ("kafka", "msk-iam")
"""OpenLineage's transports that have a producer of `confluent_kafka`."""


class Producer:
    """The producer of a transport, which also notes what became of each event.

    If the transport waits for the broker in each `emit`, as by default, then `emit` raises the error of its
    event. Otherwise `get_stats` has the numbers, under the same names as OpenLineage's `async_http`.
    """

    def __init__(self, producer: Any, *, emit_waits: bool) -> None:
        self._producer = producer
        self._emit_waits = emit_waits
        self._failed = 0
        self._of_thread = threading.local()
        """`errors`: those of the last event that this thread produced."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)

    def produce(self, *, on_delivery: Callable[[Any, Any], None], **options: Any) -> None:
        """Queue an event."""
        errors: list[Any] = []

        def report(error: Any, message: Any) -> None:
            if error is not None:
                errors.append(error)
                self._failed += 1
            on_delivery(error, message)

        self._of_thread.errors = errors
        self._producer.produce(**options, on_delivery=report)
        if not self._emit_waits:
            # An event stays in the queue, which is limited, until its report is asked for.
            self._producer.poll(0)

    def flush(self, timeout: float = -1) -> int:
        """Wait until no event is queued; return how many are after the time limit."""
        left: int = self._producer.flush(timeout)
        errors = vars(self._of_thread).pop("errors", ())
        if self._emit_waits and errors:
            raise RuntimeError(f"Kafka did not take the event: {errors[0].str()}")
        return left

    def get_stats(self) -> dict[str, int]:
        """Return the numbers of events that are lost, or may be, after `emit` returned."""
        if self._emit_waits:
            return {"pending": 0, "failed": 0}
        return {"pending": len(self._producer), "failed": self._failed}
