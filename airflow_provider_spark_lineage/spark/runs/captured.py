"""Capture in this process, from start to stop: for notebooks, plain functions, operators and the plugin.

Needs no Airflow, and never raises: a failure becomes a gap.
"""

from __future__ import annotations

import html
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.spark.capture.this_process import (
    DRAIN_TIMEOUT_SECONDS,
    MAX_PLAN_BYTES,
    Capture,
)
from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, Findings
from airflow_provider_spark_lineage.spark.checks.in_flight import ChecksInFlight
from airflow_provider_spark_lineage.spark.gaps.kinds import reason_of
from airflow_provider_spark_lineage.spark.guard import harmless, tell
from airflow_provider_spark_lineage.spark.lineage.model import Gap, Lineage
from airflow_provider_spark_lineage.spark.records.application import PROPERTIES
from airflow_provider_spark_lineage.spark.records.observed import without_texts
from airflow_provider_spark_lineage.spark.records.record import Record, RecordError, write_file, write_record
from airflow_provider_spark_lineage.spark.records.sql_text import FULL, NONE, SQL_TEXTS
from airflow_provider_spark_lineage.spark.records.status import DriverNote
from airflow_provider_spark_lineage.spark.records.streams import StreamRun
from airflow_provider_spark_lineage.spark.runs.collector import Collector, OnExecution
from airflow_provider_spark_lineage.spark.runs.executions import Executions, explained, plans_of, written_by
from airflow_provider_spark_lineage.spark.runs.memory import Memory
from airflow_provider_spark_lineage.spark.runs.observations import observed_metrics
from airflow_provider_spark_lineage.spark.runs.recorded import Recorded, RecordedFolder, RunBuilder
from airflow_provider_spark_lineage.spark.runs.run import Run

SQL_TEXT_VARIABLE = "AIRFLOW__SPARK_LINEAGE__SQL_TEXT"
"""The environment variable of Airflow's option, which also applies without Airflow."""

log = logging.getLogger(__name__)


class Captured(Recorded, Collector):
    """Lineage of Spark in this process between `start` and `stop`.

    It is computed while the program runs, for each execution; `on_execution` receives each, on capture's own
    thread. Before that, `on_begin` receives one that takes long, while it runs. Records are stored in memory,
    or in `directory` for other processes; with `keep` off they are not stored, and `executions` yields none.
    `sql_text` is one of `records.sql_text.SQL_TEXTS`, or None for the value of the environment variable.
    `properties` are names of Spark's properties to record, with `*`.
    """

    def __init__(
        self,
        *,
        directory: str | Path | None = None,
        on_execution: OnExecution | None = None,
        on_begin: OnExecution | None = None,
        keep: bool = True,
        drain_timeout_seconds: float = DRAIN_TIMEOUT_SECONDS,
        max_plan_bytes: int = MAX_PLAN_BYTES,
        sql_text: str | None = None,
        properties: Sequence[str] = PROPERTIES,
    ) -> None:
        self._folder = RecordedFolder(directory) if directory else None
        self._memory = Memory()
        self._keep = keep
        self._on_execution = on_execution
        self._on_begin = on_begin
        self._sql_text = _sql_text(sql_text)
        self._capture = Capture(
            self.write,
            drain_timeout_seconds=drain_timeout_seconds,
            max_plan_bytes=max_plan_bytes,
            sql_text=self._sql_text,
            properties=properties,
            on_begin=self.begin if on_begin is not None else None,
            stream_ended=self._stream_ended,
        )
        self._executions = Executions()
        self._builder = RunBuilder()
        self._checks = ChecksInFlight()
        self._lock = threading.Lock()
        self._lost: list[str] = []
        self._lost_beginnings: list[str] = []
        self.failed: bool | None = None
        """The captured code raised; None if that is unknown."""
        self._began = self._ended = ""
        self._final: Run | None = None
        """The result, set when everything is recorded, so that a forked child needs no lock."""

    def write(self, record: Record) -> None:
        """Add one more record to the lineage, and store it."""
        execution = None
        with harmless("the lineage of an execution could not be computed", self._lost), self._lock:
            # Parsed now, because the text of a plan has literals and is not stored.
            record = explained(record)
            execution = self._executions.of_explained(record)
            if execution is not None:
                self._builder.add(execution)
        if record.observed and execution is not None:
            with harmless("the results of checks could not be read", self._lost):
                written = written_by(execution)
                for metrics in observed_metrics(execution):
                    self._checks.report(metrics)
                plans = plans_of(record)
                self._lost += self._checks.wrote(record.observed, record.miscounted, plans, written)
        record.observed = without_texts(record.observed)
        if self._folder is not None:
            write_record(self._folder.directory, record)
        elif self._keep:
            self._memory.write(record)
        if execution is not None and self._on_execution is not None:
            self._on_execution(execution)

    def begin(self, record: Record) -> None:
        """Pass on the beginning of an execution; the run's lineage has it after its end."""
        execution = None
        lost = "the lineage of a running execution could not be computed"
        with harmless(lost, self._lost_beginnings), self._lock:
            execution = self._executions.begun(record)
        if execution is not None and self._on_begin is not None:
            self._on_begin(execution)

    def _stream_ended(self, run: StreamRun) -> None:
        if self.on_stream_end is not None:
            self.on_stream_end([run])

    def records(self, problems: list[str]) -> Iterator[Record]:
        """Yield the records that are stored so far."""
        try:
            yield from self._folder.records(problems) if self._folder is not None else self._memory.read()
        except RecordError as error:
            # Spark did nothing, or no record could be written, which `problems` says.
            log.debug("%s", error)

    def start(self) -> None:
        """Capture what Spark does from now on, in any session."""
        self._began = _now()
        self._capture.added_properties = self.added_properties
        self._checks.start()
        self._capture.arm()

    def attach(self, spark: Any) -> None:
        """Capture the application of a given session."""
        self._capture.attach(spark)

    def drain(self, timeout_seconds: float) -> list[str]:
        """Wait until Spark has reported its executions so far; return sentences about missing ones."""
        problems: list[str] = []
        self._capture.drain(timeout_seconds, problems)
        return problems

    def stop(self) -> None:
        """Wait until Spark has reported its executions, and stop capturing."""
        self._capture.disarm()
        self._lost += self._checks.stop()
        self._ended = _now() if self._began else ""
        self._final = self.run()
        if self._folder is not None:
            with harmless("the Spark application could not be described beside its records", self._lost):
                self._write_notes(self._folder.directory)

    def _write_notes(self, directory: Path) -> None:
        """Write the status file of each application; losses are not in it, because `problems` has them."""
        for application in tuple(self._capture.applications.values()):
            note = DriverNote.of(application, agent_configured=self.agent_configured)
            name, content = note.encode()
            write_file(directory / name, content)

    @property
    def findings(self) -> tuple[Findings, ...]:
        """Results of the checks of written frames so far, for each write."""
        return self._checks.findings

    @property
    def sql_text(self) -> str:
        """The option `sql_text` of this capture."""
        return self._sql_text

    @property
    def checks(self) -> list[Assertion]:
        """Results of the checks of written frames (`checks.check`) so far."""
        return [assertion for each in self.findings for assertion in each.assertions]

    @property
    def problems(self) -> list[str]:
        """Sentences about losses that no record has."""
        return [*self._capture.problems, *self._lost]

    @property
    def agent_configured(self) -> bool:
        """Return whether OpenLineage's Java agent listens to the same Spark application."""
        return self._capture.agent_configured

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Return what Spark has done so far; empty if it did nothing.

        Neither calls Spark nor reads a file, so a forked child may call it.
        """
        if self._final is not None:
            return self._final
        with harmless("the lineage of the run could not be built", self._lost), self._lock:
            self._builder.describe([*self._capture.applications.values()])
            return self._builder.run((*self.problems, *problems))
        # Nothing of the lineage's own code is used after it has failed.
        all_problems = (*self.problems, *problems)
        gaps = tuple(Gap("records", reason_of(problem)) for problem in all_problems)
        return Run(Lineage(gaps=gaps), problems=all_problems)

    def progress(self) -> Run | None:
        """Return the run so far; None if Spark did nothing. What it used is as of the call before."""
        run = self.run()
        self._capture.ask_usage()
        return run if run.executions or run.applications else None

    def __repr__(self) -> str:
        """Return the readable lineage."""
        return self.text().rstrip("\n") or "<Captured: Spark read and wrote nothing>"

    def _repr_html_(self) -> str:
        """Return the lineage as a picture for a notebook, or as text if it cannot be drawn."""
        text = f"<pre>{html.escape(repr(self))}</pre>"
        with harmless("the lineage cannot be drawn"):
            from airflow_provider_spark_lineage.openlineage.viewer.notebook import picture_of

            return picture_of(self.events(), repr(self)) if self.run().executions else text
        return text

    def events(self, **options: Any) -> list[dict[str, Any]]:
        """Return OpenLineage events as `Recorded.events`; an empty run has START and COMPLETE or FAIL."""
        options.setdefault("failed", self.failed)
        return super().events(**options)

    def span(self) -> tuple[str, str]:
        """Return the times when the capture began and ended, ISO 8601."""
        run = self.run()
        return self._began or run.started_at or _now(), self._ended or run.ended_at or _now()


@contextmanager
def capture_lineage(spark: Any = None, *, sql_text: str | None = None) -> Iterator[Captured]:
    """Capture what Spark does inside the block.

    `spark` is the session, needed only if it is not the active one. `sql_text` is `full`, `masked` or
    `none`, as the option `[spark_lineage] sql_text`; the default is that option's environment variable.
    Afterwards `captured.lineage` is the model, `captured.text()` the readable form and
    `captured.events(namespace=..., job=...)` the OpenLineage events. If the block raises, the exception
    passes through, what Spark did until then is captured, and the events end with FAIL. Capture itself
    raises nothing: a failure becomes a gap.

    >>> with capture_lineage(spark) as captured:  # doctest: +SKIP
    ...     spark.read.csv("orders.csv", header=True).write.parquet("orders")
    >>> print(captured.text())  # doctest: +SKIP
    """
    captured = Captured(sql_text=sql_text)
    captured.start()
    if spark is not None:
        captured.attach(spark)
    try:
        yield captured
    except BaseException:  # Ctrl-C and sys.exit are failures of the block, too.
        captured.failed = True
        raise
    else:
        captured.failed = False
    finally:
        captured.stop()


def _sql_text(option: str | None) -> str:
    """Return the valid value of `sql_text`; `none` if the option is not valid."""
    word = os.environ.get(SQL_TEXT_VARIABLE, FULL) if option is None else option
    if word in SQL_TEXTS:
        return word
    tell(f"sql_text = {word!r} is not full, masked or none; using {NONE}. Correct the option")
    return NONE


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()
