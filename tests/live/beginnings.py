"""Statements that wait for the START of their run: START must come while they run."""

from __future__ import annotations

import threading

from airflow_provider_spark_lineage.spark.facets.events import RunIdentity
from airflow_provider_spark_lineage.spark.runs.captured import Captured
from airflow_provider_spark_lineage.spark.runs.sender import Sender

DEADLINE_SECONDS = 120


class Backend:
    """Keeps events, and lets a query that runs end when its START has come."""

    def __init__(self, gate):
        self.events = []
        self.gate = gate
        self._changed = threading.Condition()

    def emit(self, event):
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()
        if event.eventType.value == "START":
            self.gate.touch()

    def states(self):
        return [event.eventType.value for event in self.events]

    def waits_for(self, state):
        with self._changed:
            return self._changed.wait_for(lambda: state in self.states(), DEADLINE_SECONDS)


def register_slowly(spark, gate):
    """Register `slowly(x)`, which returns a long when the file `gate` is there."""
    deadline, gate = DEADLINE_SECONDS, str(gate)

    def slowly(value):
        import os
        import time

        until = time.monotonic() + deadline
        while not os.path.exists(gate):
            assert time.monotonic() < until, "START was not sent while the query ran"
            time.sleep(0.02)
        return value

    spark.udf.register("slowly", slowly, "long")


def capture(backend):
    """Return a started capture that sends its events to the backend, and the sender."""
    identity = RunIdentity("0190a0a0-0000-7000-8000-000000000000", "tests", "dag.task")
    sender = Sender(identity, backend.emit)
    captured = Captured(on_execution=sender.put, on_begin=sender.begin, keep=False)
    captured.start()
    return captured, sender


def events_of(spark, backend, action):
    """Return the events of what `action` does, which may call `slowly`."""
    register_slowly(spark, backend.gate)
    captured, sender = capture(backend)
    captured.attach(spark)
    try:
        action()
    finally:
        captured.stop()
        sender.stop(DEADLINE_SECONDS)
    assert captured.problems == []
    return backend.events


def check_named(started, ended):
    """Check that the START of a write names what its COMPLETE names."""
    assert [started.eventType.value, ended.eventType.value] == ["START", "COMPLETE"]
    assert (started.run.runId, started.job.name) == (ended.run.runId, ended.job.name)
    assert [read.name for read in started.inputs] == [read.name for read in ended.inputs]
    (planned,), (written,) = started.outputs, ended.outputs
    assert (planned.namespace, planned.name) == (written.namespace, written.name)
    assert planned.facets["schema"].fields == written.facets["schema"].fields
    for facet in ("symlinks", "catalog", "storage"):
        assert planned.facets.get(facet) == written.facets.get(facet), facet
    assert planned.facets["columnLineage"].fields == written.facets["columnLineage"].fields
    assert not planned.outputFacets
