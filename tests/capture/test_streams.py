"""Which batches of a streaming query are recorded, by what Spark still remembers of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from airflow_provider_spark_lineage.capture.streams import SILENT, Streams

REMEMBERED = 100
"""`spark.sql.streaming.numRecentProgressUpdates`"""


def told(value: Any) -> Any:
    """A method of the JVM that gives a value."""
    return lambda: value


def batch(number: int) -> Any:
    return SimpleNamespace(
        batchId=told(number),
        numInputRows=told(1),
        timestamp=told("2026-01-01T00:00:00.000Z"),
        batchDuration=told(5),
    )


class Query:
    """A streaming query that writes files, unless its sink has another name."""

    def __init__(self, name: str = "FileStreamSink", rdd_id: int = 0) -> None:
        self.batches: list[Any] = []
        sink = SimpleNamespace(getClass=told(SimpleNamespace(getName=told(name))))
        plan = SimpleNamespace(nodeName=told(SILENT), sink=told(sink))
        self._execution = SimpleNamespace(
            analyzed=told(plan), currentBatchId=lambda: len(self.batches) - 1, toRdd=self._planned
        )
        self._rdd_id = rdd_id
        self.is_planned = False
        self.streamingQuery = told(self)
        self.runId = told(SimpleNamespace(toString=told(name)))
        self.isActive = told(True)
        self.lastExecution = told(self._execution)

    def run(self, count: int) -> None:
        first = len(self.batches)
        self.batches.extend(batch(first + number) for number in range(count))

    def _planned(self) -> Any:
        self.is_planned = True
        return SimpleNamespace(id=told(self._rdd_id))

    def lastProgress(self) -> Any:  # noqa: N802  Spark's name
        return self.batches[-1] if self.batches else None

    def recentProgress(self) -> list[Any]:  # noqa: N802  Spark's name
        return self.batches[-REMEMBERED:]


def test_each_batch_is_told_once() -> None:
    query, streams, problems = Query(), Streams(), []  # type: ignore[var-annotated]
    streams.watch(query)
    query.run(3)
    assert [one.is_own for one in streams.ended(problems)] == [False, False, True]
    assert streams.ended(problems) == []
    query.run(1)
    assert len(streams.ended(problems)) == 1
    assert problems == []


@pytest.mark.parametrize("before", [0, 2])
def test_batches_that_spark_forgot_are_told(before: int) -> None:
    """Nobody asks while a program only waits for its query; what is lost then is said."""
    query, streams, problems = Query(), Streams(), []  # type: ignore[var-annotated]
    streams.watch(query)
    query.run(before)
    streams.ended(problems)
    query.run(REMEMBERED + 5)
    assert len(streams.ended(problems)) == REMEMBERED
    assert ["forgot" in one for one in problems] == [True]


def test_no_query_is_planned_that_gives_its_rows_to_no_function() -> None:
    """Asking a query for its RDD plans it: only one that `foreachBatch` reads is asked."""
    files, function, streams = Query(), Query("ForeachBatchSink", rdd_id=7), Streams()
    streams.watch(files)
    streams.watch(function)
    assert streams.behind(7) is function.lastExecution()
    assert streams.behind(8) is None
    assert (files.is_planned, function.is_planned) == (False, True)
