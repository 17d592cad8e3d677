"""From records to lineage, text and events: the one place that knows the order of the stages."""

from __future__ import annotations

import contextlib
import tokenize
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from airflow_provider_spark_lineage.event_log import is_event_log, read_event_log
from airflow_provider_spark_lineage.lineage.compose import Composer
from airflow_provider_spark_lineage.lineage.execution import ExecutionFacts, ExecutionLineage, lineage_of
from airflow_provider_spark_lineage.lineage.job_names import JobNames
from airflow_provider_spark_lineage.lineage.leaves import ResultKey, StoredResult
from airflow_provider_spark_lineage.lineage.model import (
    Application,
    ExecutionSummary,
    Failure,
    Gap,
    Lineage,
    Mode,
)
from airflow_provider_spark_lineage.lineage.planned import planned
from airflow_provider_spark_lineage.lineage.text import render
from airflow_provider_spark_lineage.lineage.wrapping import wrapped
from airflow_provider_spark_lineage.plan.algebra import Plan
from airflow_provider_spark_lineage.plan.connect.reader import read_connect
from airflow_provider_spark_lineage.plan.connect.streams import as_batch
from airflow_provider_spark_lineage.plan.planned import Program
from airflow_provider_spark_lineage.plan.python.reader import read_script
from airflow_provider_spark_lineage.plan.session import Session
from airflow_provider_spark_lineage.plan.spark.explain import Explained, read_explain
from airflow_provider_spark_lineage.plan.spark.reader import read_plan
from airflow_provider_spark_lineage.plan.sql.statements import read_sql
from airflow_provider_spark_lineage.plan_json import simple_name
from airflow_provider_spark_lineage.record import FULL, REFRESH, SUFFIX, Record, read_records, record_paths
from airflow_provider_spark_lineage.sources import PARTS, is_internal
from airflow_provider_spark_lineage.sources.dataset import Identity

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.facets import events as facet_events


@dataclass(frozen=True)
class Execution:
    """One user action on Spark, with its lineage."""

    number: int
    """Position in the run, from 1."""

    record: Record
    lineage: Lineage
    target: Identity | None = None
    """What its query writes, or was to write before it failed; the first of several."""


def execution_lineage(
    record: Record, results: Mapping[ResultKey, StoredResult] | None = None
) -> ExecutionLineage:
    """Return the lineage of one record; a plan that cannot be read becomes a gap, never an exception.

    `results` are those of earlier executions of the same application.
    """
    record = explained(record)
    about = _about(record)
    try:
        nested = [*_with_parts(record, about)]
        lineage = reduce(wrapped, (lineage_of(plan, facts, results) for plan, facts in nested))
        return _refreshed(lineage) if record.name == REFRESH else lineage
    # A plan of a future Spark version, or a damaged one, may break any assumption of the readers.
    except Exception as error:
        problem = f"the plan could not be read: {type(error).__name__}: {error}"
        return lineage_of(None, replace(about, facts=(), problems=(*record.problems, problem)), results)


def _refreshed(execution: ExecutionLineage) -> ExecutionLineage:
    """Return an execution whose appends fill empty tables: all of their rows are its own."""
    outputs = tuple(
        replace(output, mode=Mode.OVERWRITE) if output.mode is Mode.APPEND else output
        for output in execution.lineage.outputs
    )
    return replace(execution, lineage=replace(execution.lineage, outputs=outputs))


def explained(record: Record) -> Record:
    """Return a record whose plans were read from Spark's explain text, where it has that alone."""
    if record.plan_kind != "explain" and not record.connect:
        return record
    problems = [*record.problems]

    def fields_of(
        text: str, metrics: Iterable[Mapping[str, Any]], inside: Sequence[str] = ()
    ) -> dict[str, Any]:
        try:
            plain = as_batch(text) if record.connect else text
            locations = [str(metric.get("location", "")) for metric in metrics]
            read = read_explain(plain, record.settings, inside, locations) if text else Explained()
            if record.connect:
                read = read_connect(read, plain, record.connect, record.settings)
        # A text of a future Spark version may break any assumption of the reader.
        except Exception as error:
            problems.append(f"the plan's text could not be read: {type(error).__name__}")
            return {"plan": [], "facts": []}
        if not record.failed:
            problems.extend(problem for problem in read.problems if problem not in problems)
        return {"plan": read.plan, "facts": read.facts}

    # What ran inside of a part stands before it.
    texts = [str(part.get("explain", "")) for part in record.parts]
    of_record = fields_of(record.explain, record.metrics, texts)
    parts = [
        {**part, **fields_of(texts[i], part.get("metrics", ()), texts[:i])}
        for i, part in enumerate(record.parts)
    ]
    read: dict[str, Any] = {"plan_kind": "analyzed", "explain": "", "connect": {}}
    return replace(record, parts=parts, problems=problems, **read, **of_record)


def _about(record: Record) -> ExecutionFacts:
    """Return the parts of a record besides its plans."""
    return ExecutionFacts(
        facts=record.facts,
        metrics=[*record.metrics, *(metric for part in record.parts for metric in part.get("metrics", ()))],
        written=record.written or {},
        jobs=record.jobs,
        stream=str(record.plan[0].get("queryId", "")) if _is_batch_of_stream(record) else "",
        problems=record.problems,
        failure=failure_of(record),
        name=record.name,
        rdd_id=record.rdd_id,
    )


def _with_parts(record: Record, about: ExecutionFacts) -> Iterator[tuple[Plan | None, ExecutionFacts]]:
    """Yield the plans that ran inside each other, the innermost first, each with its facts.

    A part that a source knows (`PARTS`), such as the write inside Delta's MERGE, is no execution: its plan
    only completes the others. Where the command around has no plan, the outermost part stands for it.
    """
    parts = [(part, read_plan(part["plan"])) for part in record.parts if part.get("plan")]
    about = replace(about, parts=[plan for part, plan in parts if part["name"] in PARTS])
    inside = [(part, plan) for part, plan in parts if part["name"] not in PARTS]
    for number, (part, plan) in enumerate(inside, 1):
        is_outermost = not record.plan and number == len(inside)
        problems = about.problems if is_outermost else ()
        yield plan, replace(about, facts=part.get("facts", ()), problems=problems)
    if record.plan or not inside:
        yield (read_plan(record.plan) if record.plan else None), about


def failure_of(record: Record) -> Failure | None:
    """Return why an execution failed, None if it did not."""
    if not record.failed:
        return None
    error: dict[str, Any] = record.error or {}
    return Failure(
        error_class=str(error.get("class", "")),
        message=str(error.get("message", "")),
        sql_state=str(error.get("sql_state", "")),
        execution=record.name,
    )


class Executions:
    """Turns records into executions, in order: one for each user action.

    Three stages: what Spark did for itself is dropped; the parts of a command are attached to it; a write
    and the command that wraps it become one.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._results: dict[str, dict[ResultKey, StoredResult]] = {}

    def of(self, record: Record) -> Execution | None:
        """Return the execution of the next record.

        None for what Spark ran for itself, and for a query that only became an RDD.
        """
        record = explained(record)
        if _is_internal(record):
            return None
        of_application = self._results.setdefault(record.application_id, {})
        lineage = execution_lineage(record, of_application)
        of_application.update(lineage.results)
        return None if record.rdd_id is not None else _execution(next(self._numbers), record, lineage)


def executions(records: Iterable[Record]) -> Iterator[Execution]:
    """Yield one execution for each user action."""
    numbered = Executions()
    for record in records:
        execution = numbered.of(record)
        if execution is not None:
            yield execution


def _is_internal(record: Record) -> bool:
    """Return whether Spark ran an execution for itself; False where its facts cannot be read."""
    try:
        return any(is_internal(entry["probed"]) for entry in record.facts)
    except Exception:  # Facts of another release; `execution_lineage` reports a gap.
        return False


def _execution(number: int, record: Record, lineage: ExecutionLineage) -> Execution:
    """Number an execution, and add its number and name to its failures."""
    named = tuple(
        replace(failure, execution=f"execution {number} ({record.name})")
        for failure in lineage.lineage.failures
    )
    target = lineage.targets[0] if lineage.targets else None
    return Execution(number, record, replace(lineage.lineage, failures=named), target)


@dataclass(frozen=True)
class Run:
    """The lineage and a summary of all records of one run."""

    lineage: Lineage
    applications: tuple[Application, ...] = ()
    executions: tuple[ExecutionSummary, ...] = ()
    started_at: str = ""
    ended_at: str = ""
    problems: tuple[str, ...] = ()
    """Records that could not be read, and what capture lost, a sentence each."""


class RunBuilder:
    """Takes the executions of a run in order; `run` returns the result so far."""

    def __init__(self) -> None:
        self._composer = Composer()
        self._applications: dict[Application, None] = {}
        self._summaries: list[ExecutionSummary] = []

    def add(self, execution: Execution) -> None:
        """Add the next execution."""
        record = execution.record
        self._composer.add(execution.lineage)
        of = Application(record.application_id, record.application_name, record.spark_version)
        self._applications[of] = None
        self._summaries.append(
            ExecutionSummary(execution.number, record.name, record.started_at, record.ended_at, record.failed)
        )

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Return the run so far; `problems` are what was lost, a sentence each."""
        lineage = self._composer.lineage()
        gaps = (*lineage.gaps, *(Gap("records", problem) for problem in problems))
        return Run(
            lineage=replace(lineage, gaps=gaps),
            applications=tuple(self._applications),
            executions=tuple(self._summaries),
            started_at=min((summary.started_at for summary in self._summaries), default=""),
            ended_at=max((summary.ended_at for summary in self._summaries), default=""),
            problems=tuple(problems),
        )


class Recorded(ABC):
    """The records of a run, as lineage, readable text and OpenLineage events.

    Reading is streamed: one record is in memory at a time. Every method returns the same on each call.
    """

    @abstractmethod
    def records(self, problems: list[str]) -> Iterator[Record]:
        """Yield the records in the order in which the executions ended; add unreadable ones to `problems`."""

    def executions(self, problems: list[str] | None = None) -> Iterator[Execution]:
        """Yield the executions in the order in which they ended.

        Unreadable records are added to `problems`, a sentence each.
        """
        return executions(self.records([] if problems is None else problems))

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Read all records once; `problems` are those that are known already."""
        all_problems = list(problems)
        builder = RunBuilder()
        for execution in self.executions(all_problems):
            builder.add(execution)
        return builder.run(all_problems)

    @property
    def lineage(self) -> Lineage:
        """The lineage of the whole run."""
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
        """Return OpenLineage events as plain dicts: of the run, and of each execution that touched a dataset.

        `job` is the Spark application's name unless given; `failed` says whether the program failed
        where that is known.
        """
        from airflow_provider_spark_lineage.facets.events import EventRun, events_of

        run = self.run()
        first = run.applications[0] if run.applications else Application("", "spark", "")
        job = job or first.name
        began, ended = self.span()
        whole = EventRun(
            application_id=first.id,
            application_name=first.name,
            started_at=datetime.fromisoformat(began),
            ended_at=datetime.fromisoformat(ended),
            lineage=run.lineage,
            engine_version=first.spark_version,
            failed=failed,
        )
        return events_of(
            execution_events_of(self.executions(), JobNames(job)),
            whole,
            namespace=namespace,
            job=job,
            dataset_edges_per_field=dataset_edges_per_field,
        )

    def span(self) -> tuple[str, str]:
        """Return when the first execution began and the last one ended, ISO 8601."""
        run = self.run()
        return run.started_at, run.ended_at


class RecordedFolder(Recorded):
    """A folder of records, one file for each execution, or an event log of Spark: a file or a folder.

    >>> RecordedFolder("records").text()  # doctest: +SKIP
    """

    def __init__(self, directory: str | Path, sql_text: str = FULL) -> None:
        self.directory = Path(directory)
        self._sql_text = sql_text

    def records(self, problems: list[str]) -> Iterator[Record]:
        """Yield the readable records; raise `RecordError` when there is no record and no log."""
        is_record = self.directory.is_dir() or self.directory.name.endswith(SUFFIX)
        if is_event_log(self.directory) or (self.directory.is_file() and not is_record):
            return read_event_log(self.directory, problems, self._sql_text)
        return read_records(record_paths(self.directory), problems)


def execution_events_of(
    executions: Iterable[Execution], jobs: JobNames
) -> Iterator[facet_events.EventExecution]:
    """Yield the executions that touched a dataset, in the form that `facets.events` needs."""
    from airflow_provider_spark_lineage.facets.events import EventExecution

    for execution in executions:
        record = execution.record
        if not execution.lineage:
            continue
        yield EventExecution(
            job=jobs.next(execution.target or next(_identities(execution.lineage))),
            name=record.name,
            started_at=datetime.fromisoformat(record.started_at),
            ended_at=datetime.fromisoformat(record.ended_at),
            lineage=execution.lineage,
            sql=record.sql,
            engine_version=record.spark_version,
            streaming=_is_batch_of_stream(record),
            job_type="RDD_JOB" if record.plan_kind == "rdd" else "SQL_JOB",
        )


def _identities(lineage: Lineage) -> Iterator[Identity]:
    yield from (output.dataset.identity for output in lineage.outputs)
    yield from (read.dataset.identity for read in lineage.inputs)


def _is_batch_of_stream(record: Record) -> bool:
    """Return whether an execution was a batch of a stream; what `foreachBatch` runs in one is not."""
    return bool(record.plan) and simple_name(str(record.plan[0].get("class"))) in _OF_STREAM


_OF_STREAM = frozenset({"WriteToMicroBatchDataSource", "WriteToMicroBatchDataSourceV1"})
"""What stands at the top of such a batch's plan."""


def program_text(path: Path) -> str:
    """Return the text of a script, in the encoding that its first lines name, or of a file of SQL.

    Raise OSError and UnicodeDecodeError.
    """
    encoding = "utf-8-sig"
    if path.suffix == ".py":
        with path.open("rb") as file, contextlib.suppress(SyntaxError):
            encoding, _ = tokenize.detect_encoding(file.readline)
    return path.read_text(encoding=encoding)


def planned_lineage(
    text: str,
    *,
    language: Literal["python", "sql"],
    arguments: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    conf: Mapping[str, str] | None = None,
    directory: str = "",
) -> Lineage:
    """Return which datasets a PySpark script or statements of Spark SQL will read and write, by their text.

    `arguments` are the application's; `variables` are a script's environment variables, or what `${...}` in
    SQL stands for; `conf` are Spark's settings as `spark-submit --conf` takes them, `directory` the folder
    that the driver starts in. What the text does not say is a gap, and so is that nothing has run: any text
    gives a lineage.

    >>> lineage = planned_lineage("insert into parquet.`s3://b/out` select 1", language="sql")
    >>> lineage.outputs[0].dataset.id
    DatasetId(namespace='s3://b', name='out')
    """
    settings, given = dict(conf or {}), dict(variables or {})
    if language == "python":
        program = read_script(text, arguments, given, settings)
    else:
        program = Program()
        program.add(read_sql(text, Session({**settings, **given}, settings)))
    return planned(program, settings, directory)
