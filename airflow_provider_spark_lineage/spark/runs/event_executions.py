"""The child runs of a run, in the form of `facets.events`: executions, and runs of streaming queries.

A run of a streaming query is one child run, whatever its number of batches. Executions that the function of
`foreachBatch` runs are a part of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from airflow_provider_spark_lineage.spark.lineage.compose import Composer
from airflow_provider_spark_lineage.spark.lineage.job_names import JobNames
from airflow_provider_spark_lineage.spark.lineage.model import Failure
from airflow_provider_spark_lineage.spark.records.streams import FAILURE, RUNNING, StreamRun
from airflow_provider_spark_lineage.spark.runs.executions import Execution, is_batch_of_stream
from airflow_provider_spark_lineage.spark.sources.dataset import Identity

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark.facets.events import EventExecution


def execution_events_of(
    executions: Iterable[Execution], jobs: JobNames, runs: Sequence[StreamRun] = ()
) -> Iterator[EventExecution]:
    """Yield the executions that touched a dataset, then the runs of streaming queries.

    `runs` are the runs whose outcome is known.
    """
    streams = StreamRuns(jobs, "all", is_live=False)
    for execution in executions:
        if streams.has(execution):
            streams.add(execution)
        elif execution.has_events:
            yield event_execution(execution, job_of(execution, jobs))
    for run in runs:
        yield from (ended for _, ended in streams.end(run))
    yield from (ended for _, ended in streams.close())


def job_of(execution: Execution, jobs: JobNames) -> str:
    """Return the next name of a job, for an execution that has events."""
    return jobs.next(_subject(execution))


def event_execution(execution: Execution, job: str) -> EventExecution:
    """Return an execution in the form of `facets.events`, with the name of its job."""
    from airflow_provider_spark_lineage.spark.facets.events import EventExecution

    record = execution.record
    return EventExecution(
        job=job,
        started_at=datetime.fromisoformat(record.started_at),
        ended_at=datetime.fromisoformat(record.ended_at),
        lineage=execution.lineage,
        sql=record.sql,
        engine_version=record.spark_version,
        streaming=is_batch_of_stream(record),
        job_type="RDD_JOB" if record.plan_kind == "rdd" else "SQL_JOB",
    )


def _subject(execution: Execution) -> Identity:
    """Return the dataset after which the job is named."""
    lineage = execution.lineage
    datasets = [*(output.dataset for output in lineage.outputs), *(read.dataset for read in lineage.inputs)]
    return execution.target or datasets[0].identity


class _Stream:
    """The batches so far of one run of a streaming query."""

    def __init__(self, first: Execution) -> None:
        self.application_id = first.record.application_id
        self._version = first.record.spark_version
        self._composer = Composer()
        self._started_at = self.ended_at = datetime.fromisoformat(first.record.started_at)
        self._read: Identity | None = None
        self._written: Identity | None = None
        self._last_failed = False
        self.job = ""
        """Set when its START is sent."""

        self.writes = False
        self.failed = False
        self.is_named = False
        """True as soon as its output is known, or that its batches write no dataset."""

        self.reported = time.monotonic()

    def add(self, execution: Execution) -> None:
        record = execution.record
        self._composer.add(execution.lineage)
        if not self.job:
            # The id of the run is derived from this time: it stays as START has it.
            self._started_at = min(self._started_at, datetime.fromisoformat(record.started_at))
        self.ended_at = max(self.ended_at, datetime.fromisoformat(record.ended_at))
        if is_batch_of_stream(record):
            # A function of `foreachBatch` may go on after an error.
            self._last_failed = record.failed
        self.failed = self.failed or record.failed
        if execution.has_events:
            subject = _subject(execution)
            if execution.lineage.outputs or execution.target:
                self._written = self._written or subject
            self._read = self._read or subject
        self.writes = self._written is not None
        is_batch = is_batch_of_stream(record) and self._read is not None
        self.is_named = self.is_named or self.writes or is_batch

    @property
    def subject(self) -> Identity | None:
        """The dataset after which the job is named; None if it touched none."""
        return self._written or self._read

    def event(self, *states: str, run: StreamRun | None = None) -> EventExecution:
        """Return its events of these states, with its lineage so far; `run` has its outcome."""
        from airflow_provider_spark_lineage.spark.facets.events import EventExecution

        lineage = self._composer.lineage()
        failed, ended_at = self._last_failed, self.ended_at
        if run is not None:
            failed = run.outcome == FAILURE
            if run.ended_at:
                # Python 3.10 does not read Z.
                ended_at = max(ended_at, datetime.fromisoformat(run.ended_at.replace("Z", "+00:00")))
            if failed and not self._last_failed:
                error = {name: run.error.get(name, "") for name in ("class", "message")}
                failure = Failure(error["class"], error["message"], execution=f"streaming query {run.id}")
                lineage = replace(lineage, failures=(*lineage.failures, failure))
        return EventExecution(
            job=self.job,
            started_at=self._started_at,
            ended_at=ended_at,
            lineage=lineage,
            engine_version=self._version,
            streaming=True,
            states=states,
            failed=failed,
        )


class StreamRuns:
    """Collects the batches of each run of a streaming query into one child run.

    `which` is a value of `[spark_lineage] execution_events`. If it is not `is_live`, all events of a run are
    returned at its end. Several threads must not use it at once.
    """

    def __init__(
        self, jobs: JobNames, which: str, progress_interval_seconds: float = 0, *, is_live: bool = True
    ) -> None:
        self._which = which
        self._is_live = is_live
        self._jobs = jobs
        self._interval = progress_interval_seconds
        self._open: dict[str, _Stream] = {}
        """Run id -> its batches so far."""

        self._ended: dict[str, None] = {}
        """Ids of runs whose end was sent."""

    def has(self, execution: Execution) -> bool:
        """Return whether an execution belongs to a streaming query.

        False after the end of the query: a pool of threads may keep the description of an earlier query.
        """
        run_id = execution.record.stream_run
        return bool(run_id) and run_id not in self._ended

    def add(self, execution: Execution) -> list[EventExecution]:
        """Add an execution; return the query's START, once its output is known, or its RUNNING."""
        run_id = execution.record.stream_run
        stream = self._open.get(run_id)
        if stream is None:
            stream = self._open[run_id] = _Stream(execution)
        stream.add(execution)
        if not stream.job:
            if not (self._is_live and stream.is_named and self._is_wanted(stream)):
                return []
            self._name(stream)
            return [stream.event("START")]
        now = time.monotonic()
        if not self._interval or now - stream.reported < self._interval:
            return []
        stream.reported = now
        return [stream.event("RUNNING")]

    def end(self, run: StreamRun) -> Iterator[tuple[str, EventExecution]]:
        """Yield the end of a run that has ended, with the id of its application; nothing if it still runs."""
        if run.outcome != RUNNING:
            yield from self._end(run.run_id, run)

    def close(self) -> Iterator[tuple[str, EventExecution]]:
        """Yield the ends of all other runs: they are not known to have ended."""
        for run_id in list(self._open):
            yield from self._end(run_id, None)

    def _end(self, run_id: str, run: StreamRun | None) -> Iterator[tuple[str, EventExecution]]:
        stream = self._open.pop(run_id, None)
        self._ended[run_id] = None
        if stream is None:
            return
        stream.failed = stream.failed or (run is not None and run.outcome == FAILURE)
        states = ["END"]
        if not stream.job:
            if stream.subject is None or not self._is_wanted(stream):
                return
            self._name(stream)
            states = ["START", "END"]
        yield stream.application_id, stream.event(*states, run=run)

    def _name(self, stream: _Stream) -> None:
        if stream.subject is not None:
            stream.job = self._jobs.next(stream.subject)

    def _is_wanted(self, stream: _Stream) -> bool:
        if self._which == "writes":
            return stream.writes
        return self._which == "all" or stream.failed
