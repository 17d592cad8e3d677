"""Finds the batches of streaming queries that no query listener is told of.

Spark tells of a batch where it collects the sink's rows. It does not where the sink is of its first API:
files, tables of files, `foreachBatch`. A query that is known here is asked for the batches it has ended,
before anything that may depend on them is recorded.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterator, List, Optional

from airflow_provider_spark_lineage.capture.guard import harmless, tell

SILENT = "WriteToMicroBatchDataSourceV1"
"""The root of the plan of such a batch."""

_REMEMBERED = 100
"""How many batches Spark keeps, unless `spark.sql.streaming.numRecentProgressUpdates` says otherwise."""

_TO_A_FUNCTION = "ForeachBatchSink"


@dataclass
class Batch:
    """One batch that has ended, or failed."""

    query: Any
    """The batch's `QueryExecution`; that of a later batch of the same query where it is gone."""

    is_own: bool
    """Whether it is the batch's own: its counters speak of this batch."""

    began: datetime
    ended: datetime
    error: Any = None
    """Spark's exception, if it failed."""


class Streams:
    """The streaming queries of one application."""

    def __init__(self) -> None:
        self._running: Dict[str, _Stream] = {}
        self._lock = threading.Lock()

    def watch(self, query: Any, *, from_now: bool = False) -> None:
        """Ask a streaming query for its batches; with `from_now` for those that have not ended yet."""
        stream = _Stream(query.streamingQuery())
        if from_now:
            list(stream.ended([]))
        with self._lock:
            self._running.setdefault(str(query.runId().toString()), stream)

    def ended(self, problems: List[str]) -> List[Batch]:
        """Return the batches that ended since this was asked last, and forget queries that are over."""
        if not self._running:
            return []
        found: List[Batch] = []
        with self._lock:
            for key, stream in list(self._running.items()):
                # A query that cannot be asked is asked no more.
                over = True
                with harmless("the batches of a streaming query could not be read", problems):
                    # In this order: a batch that ends in between is found.
                    active = stream.is_active
                    found.extend(stream.ended(problems))
                    if not active:
                        found.extend(stream.failed())
                    over = not active
                if over:
                    del self._running[key]
        return found

    def behind(self, rdd_id: int) -> Optional[Any]:
        """Return the batch whose rows an RDD holds, as a `QueryExecution`."""
        with self._lock:
            streams = list(self._running.values())
        for stream in streams:
            execution = stream.last_execution
            # Of no other: to ask for its RDD is to plan a query, which Spark may be doing just now.
            if execution is None or not _is_to_a_function(execution):
                continue
            if int(execution.toRdd().id()) == rdd_id:
                return execution
        return None


class _Stream:
    def __init__(self, query: Any) -> None:
        self._query = query
        self._last = -1

    @property
    def is_active(self) -> bool:
        return bool(self._query.isActive())

    @property
    def last_execution(self) -> Any:
        return self._query.lastExecution()

    def ended(self, problems: List[str]) -> Iterator[Batch]:
        last = self._query.lastProgress()
        if last is None or int(last.batchId()) <= self._last:
            return
        execution = self.last_execution
        before, self._last = self._last, int(last.batchId())
        if execution is None or not _is_silent(execution) or _is_to_a_function(execution):
            return
        # An idle trigger repeats the number of the batch before it.
        progress = self._query.recentProgress()
        # A query that goes on from a checkpoint does not begin with batch 0.
        begun = before >= 0 or len(progress) >= _REMEMBERED
        if begun and int(progress[0].batchId()) > before + 1:
            tell("Spark forgot batches of a streaming query before they were recorded", problems)
        numbers = set()
        for one in progress:
            number = int(one.batchId())
            if number > before and number not in numbers and int(one.numInputRows()):
                numbers.add(number)
                began = datetime.fromisoformat(str(one.timestamp()).replace("Z", "+00:00"))
                ended = began + timedelta(milliseconds=int(one.batchDuration()))
                yield Batch(execution, number == int(execution.currentBatchId()), began, ended)

    def failed(self) -> Iterator[Batch]:
        error = self._query.exception()
        execution = self.last_execution
        if error.isDefined() and execution is not None and _is_silent(execution):
            now = datetime.now(timezone.utc)
            yield Batch(execution, False, now, now, error.get())


def _is_silent(execution: Any) -> bool:
    return str(execution.analyzed().nodeName()) == SILENT


def _is_to_a_function(execution: Any) -> bool:
    """Say whether the rows of a batch go to a function of the program."""
    plan = execution.analyzed()
    if str(plan.nodeName()) != SILENT:
        return False
    return _TO_A_FUNCTION in str(plan.sink().getClass().getName())
