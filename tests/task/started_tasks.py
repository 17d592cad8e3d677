"""A task that has read twice, and a backend that keeps its events."""

from __future__ import annotations

import threading
from typing import Any

from task_instances import instance, operator, record

from airflow_provider_spark_lineage.airflow.task import task_lineage

TWO = (record(1), record(2))


class Backend:
    """A stand-in for the provider's adapter, which keeps the events."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.events: list[Any] = []
        self.hangs = False
        self.woken = threading.Event()
        self.arrived = threading.Condition()

    def waits_for(self, state: str, job: str) -> bool:
        """Return whether an event arrives."""
        with self.arrived:
            return self.arrived.wait_for(lambda: (state, job) in self.sent, timeout=60)

    def emit(self, event: Any) -> None:
        with self.arrived:
            self.events.append(event)
            self.sent.append((event.eventType.value, event.job.name))
            self.arrived.notify_all()
        if self.hangs:
            self.woken.wait(30)


def started(**changes: object) -> task_lineage.TaskLineage:
    """A task whose capture has begun, and which has read twice."""
    lineage = task_lineage.start_capture(instance(task=operator(), **changes))
    assert lineage is not None
    for item in TWO:
        lineage._collector.write(item)
    return lineage
