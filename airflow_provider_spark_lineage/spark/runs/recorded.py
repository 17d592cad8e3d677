"""Whole runs: lineage, text and events from records or from an event log."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.spark.checks.assertion import Findings
from airflow_provider_spark_lineage.spark.event_log import LoggedApplication, is_event_log, read_event_log
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, reason_of
from airflow_provider_spark_lineage.spark.lineage.compose import Composer
from airflow_provider_spark_lineage.spark.lineage.job_names import JobNames
from airflow_provider_spark_lineage.spark.lineage.model import ExecutionSummary, Gap, Join, Lineage
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.records.application import PROPERTIES, Application
from airflow_provider_spark_lineage.spark.records.call_sites import UNKNOWN
from airflow_provider_spark_lineage.spark.records.record import (
    SUFFIX,
    Record,
    RecordError,
    read_records,
    record_paths,
)
from airflow_provider_spark_lineage.spark.records.sql_text import FULL, NONE
from airflow_provider_spark_lineage.spark.records.status import losses, read_notes
from airflow_provider_spark_lineage.spark.runs.collected import Collected
from airflow_provider_spark_lineage.spark.runs.executions import Execution, executions
from airflow_provider_spark_lineage.spark.runs.run import Run

MAX_STATEMENT_LENGTH = 300
"""Limit of a statement in the list of executions; the event of an execution has the whole."""


class RunBuilder:
    """Takes the executions of a run in order; `run` returns the result so far."""

    def __init__(self) -> None:
        self._composer = Composer()
        self._collected = Collected()
        self._applications: dict[str, Application] = {}
        self._summaries: list[ExecutionSummary] = []
        self._analysis: Execution | None = None
        """The last execution, if it is an analysis that failed: forgotten when the program goes on."""

    def add(self, execution: Execution) -> None:
        """Add the next execution."""
        record = execution.record
        application = Application(record.application_id, record.application_name, record.spark_version)
        self._applications.setdefault(application.id, application)
        if execution.is_failed_analysis:
            self._analysis = execution
            return
        self._analysis = None
        self._composer.add(execution.lineage)
        self._collected.add(execution)
        self._summaries.append(_summary_of(execution))

    def describe(self, applications: Iterable[Application]) -> None:
        """Add applications with their details, also those without executions."""
        self._applications.update((application.id, application) for application in applications)

    def read(
        self,
        executions: Iterable[Execution],
        applications: Iterable[Application],
        on_execution: Callable[[Execution], None] | None = None,
    ) -> None:
        """Add all executions of some records, and then the applications that wrote them.

        `on_execution` receives each execution. `applications` may be a generator that needs the executions
        to be read.
        """
        for execution in executions:
            self.add(execution)
            if on_execution is not None:
                on_execution(execution)
        self.describe(applications)

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Return the run so far; `problems` are sentences about losses."""
        lineage = self._composer.lineage()
        summaries = self._summaries
        if self._analysis is not None:
            lineage = replace(lineage, failures=(*lineage.failures, *self._analysis.lineage.failures))
            summaries = [*summaries, _summary_of(self._analysis)]
        gaps = (
            *lineage.gaps,
            *self._collected.gaps(),
            *(Gap("records", reason_of(problem)) for problem in problems),
        )
        return Run(
            lineage=replace(lineage, gaps=gaps),
            applications=tuple(self._applications.values()),
            executions=tuple(summaries),
            started_at=min((summary.started_at for summary in summaries), default=""),
            ended_at=max((summary.ended_at for summary in summaries), default=""),
            problems=tuple(problems),
        )


class Recorded(ABC):
    """Records of a run, as lineage, readable text and OpenLineage events.

    Reading is streamed: one record is in memory at a time. Repeated calls return equal results.
    """

    @abstractmethod
    def records(self, problems: list[str]) -> Iterator[Record]:
        """Yield the records in the order of their executions' ends; add unreadable ones to `problems`."""

    def executions(self, problems: list[str] | None = None) -> Iterator[Execution]:
        """Yield the executions in the order of their ends; add unreadable records to `problems`."""
        return executions(self.records([] if problems is None else problems))

    def applications(self) -> Iterable[Application]:
        """Return the applications that describe themselves; iterate over it after the records were read."""
        return ()

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Read all records once; `problems` are the ones known before."""
        all_problems = list(problems)
        builder = RunBuilder()
        builder.read(self.executions(all_problems), self.applications())
        return builder.run(all_problems)

    @property
    def lineage(self) -> Lineage:
        """Lineage of the whole run."""
        return self.run().lineage

    def text(self, column: str = "") -> str:
        """Return the readable lineage of the whole run; with `column`, of output columns of that name."""
        return render(self.lineage, column)

    def events(
        self,
        *,
        namespace: str = "default",
        job: str = "",
        failed: bool | None = None,
        dataset_edges_per_field: bool = False,
    ) -> list[dict[str, Any]]:
        """Return OpenLineage events of the run, and of each execution that touched a dataset, as plain dicts.

        The default of `job` is the Spark application's name; `failed` says whether the program failed, None
        if it is unknown.
        """
        from airflow_provider_spark_lineage.spark.facets.events import EventRun, events_of
        from airflow_provider_spark_lineage.spark.runs.event_executions import execution_events_of
        from airflow_provider_spark_lineage.spark.runs.facets import facets_of

        run = self.run() if failed is not False else self.run().succeeded()
        first = run.applications[0] if run.applications else Application("", "spark", "")
        job = job or first.name
        began, ended = self.span()
        whole = EventRun(
            application_id=first.id,
            started_at=datetime.fromisoformat(began),
            ended_at=datetime.fromisoformat(ended),
            lineage=run.lineage,
            run_facets=facets_of(run),
            engine_version=first.spark_version,
            failed=failed,
            findings=self.findings,
            sql_text=self.sql_text,
        )
        return events_of(
            execution_events_of(self.executions(), JobNames(job), run.stream_runs),
            whole,
            namespace=namespace,
            job=job,
            dataset_edges_per_field=dataset_edges_per_field,
        )

    @property
    def findings(self) -> tuple[Findings, ...]:
        """Results of checks of written frames; only a capture has them."""
        return ()

    @property
    def sql_text(self) -> str:
        """The option `sql_text`, for the statements of checks."""
        return NONE

    def span(self) -> tuple[str, str]:
        """Return the start of the first execution and the end of the last one, ISO 8601."""
        run = self.run()
        return run.started_at, run.ended_at


class RecordedFolder(Recorded):
    """Records in a folder, one file for each execution, or in an event log of Spark: a file or a folder.

    `properties` are names of Spark's properties to read from a log, with `*` for any text.

    >>> RecordedFolder("records").text()  # doctest: +SKIP
    """

    def __init__(
        self, directory: str | Path, sql_text: str = FULL, properties: Sequence[str] = PROPERTIES
    ) -> None:
        self.directory = Path(directory)
        self._sql_text = sql_text
        self._properties = properties
        self._logged: list[LoggedApplication] = []

    def records(self, problems: list[str]) -> Iterator[Record]:
        """Yield the readable records; raise `RecordError` if there is neither a record nor a log."""
        if self._is_log:
            self._logged = []
            return read_event_log(self.directory, problems, self._sql_text, self._logged)
        return read_records(record_paths(self.directory), problems)

    def applications(self) -> Iterable[Application]:
        """Return the applications of status files and logs."""
        yield from (note.application for note in read_notes(self.directory, []))
        yield from (logged.described(self._properties) for logged in self._logged if logged.names)

    @property
    def agent_configured(self) -> bool:
        """Return whether OpenLineage's Java agent listened to an application whose log was read so far."""
        return any(logged.agent_configured for logged in self._logged)

    @property
    def _is_log(self) -> bool:
        is_record = self.directory.is_dir() or self.directory.name.endswith(SUFFIX)
        return is_event_log(self.directory) or (self.directory.is_file() and not is_record)

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Read all records and status notes once; `problems` are the ones known before."""
        all_problems = list(problems)
        all_problems += losses(read_notes(self.directory, all_problems))
        try:
            run = super().run(all_problems)
        except RecordError as error:
            raise RecordError("; ".join([str(error), *all_problems])) from error
        if run.executions or not (self._logged and run.applications):
            return run
        # The application ended before its first statement.
        [logged, *_] = self._logged
        return replace(run, started_at=logged.started_at, ended_at=logged.ended_at or logged.started_at)


def _summary_of(execution: Execution) -> ExecutionSummary:
    record = execution.record
    rows = [output.statistics.rows for output in execution.lineage.outputs]
    return ExecutionSummary(
        execution.number,
        record.name,
        record.started_at,
        record.ended_at,
        record.failed,
        tuple(read.dataset.id for read in execution.lineage.inputs),
        tuple(write.dataset.id for write in execution.lineage.outputs),
        sum(filter(None, rows)) if rows and None not in rows else None,
        unfinished=execution.target.id if record.failed and execution.target else None,
        joins=tuple(_joins(record)),
        unread=_unread(execution.lineage),
        statement=_beginning(record.sql),
        line=record.collected if record.collected != UNKNOWN else "",
    )


def _unread(lineage: Lineage) -> str:
    """Return why the whole plan of an execution was not read; empty if it was."""
    return next((str(gap.reason) for gap in lineage.gaps if gap.kind is GapKind.UNREAD_PLAN), "")


def _beginning(statement: str) -> str:
    """Return the beginning of a statement, with whole words and literals: half a secret is not recognized."""
    if len(statement) <= MAX_STATEMENT_LENGTH:
        return statement
    words = re.split(r"(?<=\s)(?=\S)", statement[:MAX_STATEMENT_LENGTH])
    beginning = "".join(words[:-1])
    for quote in "\"'":
        if beginning.count(quote) % 2:
            beginning = beginning[: beginning.rindex(quote)]
    return beginning.rstrip()


def _joins(record: Record) -> Iterator[Join]:
    """Yield the largest join of each operator; of equal ones the last, of the innermost execution."""
    largest: dict[str, dict[str, Any]] = {}
    for entry in record.joins:
        name = str(entry.get("node"))
        if entry.get("rows", 0) >= largest.get(name, {}).get("rows", 0):
            largest[name] = entry
    elapsed = datetime.fromisoformat(record.ended_at) - datetime.fromisoformat(record.started_at)
    for name, entry in largest.items():
        yield Join(
            record.application_id,
            name,
            entry.get("execution", 0),
            round(elapsed.total_seconds() * 1000),
            *(entry.get(count) for count in ("rows", "left_rows", "right_rows")),
        )
