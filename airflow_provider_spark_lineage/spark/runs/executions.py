"""Lineage of an execution from its record: reads the plan, names datasets, merges nested executions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from airflow_provider_spark_lineage.spark.checks.in_flight import WrittenDataset
from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.lineage.execution import (
    ExecutionFacts,
    ExecutionLineage,
    lineage_of,
)
from airflow_provider_spark_lineage.spark.lineage.kept_results import Results
from airflow_provider_spark_lineage.spark.lineage.model import ANALYSIS, Failure, Lineage, Mode
from airflow_provider_spark_lineage.spark.lineage.wrapping import wrapped
from airflow_provider_spark_lineage.spark.plan.algebra import Plan
from airflow_provider_spark_lineage.spark.plan.connect.reader import bodies_of, read_connect
from airflow_provider_spark_lineage.spark.plan.connect.text import as_batch
from airflow_provider_spark_lineage.spark.plan.spark.explain import Explained, read_explain
from airflow_provider_spark_lineage.spark.plan.spark.reader import read_plan
from airflow_provider_spark_lineage.spark.records.plan_json import simple_name
from airflow_provider_spark_lineage.spark.records.record import REFRESH, Record
from airflow_provider_spark_lineage.spark.sources import PARTS, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import Identity


@dataclass(frozen=True)
class Execution:
    """One user action on Spark, with its lineage."""

    number: int
    """Position in the run, from 1; 0 while it runs."""

    record: Record
    lineage: Lineage
    target: Identity | None = None
    """Dataset that its query writes, or would have written before it failed; the first of several."""

    @property
    def has_events(self) -> bool:
        """Return whether it is a child run: it touched a dataset, or failed while it wrote one.

        A write that was rejected before it started a job touched nothing.
        """
        return bool(self.lineage) or (
            self.record.failed and self.target is not None and self.record.jobs != 0
        )

    @property
    def is_failed_analysis(self) -> bool:
        """Return whether Spark only failed to analyze a query, and ran nothing."""
        return self.record.failed and self.record.name == ANALYSIS and not self.record.plan


def execution_lineage(record: Record, results: Results | None = None) -> ExecutionLineage:
    """Return the lineage of one record; a plan that cannot be read becomes a gap, never an exception.

    `results` are the stored results of earlier executions of the same application.
    """
    return _lineage_of(explained(record), results)


def _lineage_of(record: Record, results: Results | None) -> ExecutionLineage:
    about = _about(record)
    try:
        nested = [*_with_nested(record, about)]
        lineage = reduce(wrapped, (lineage_of(plan, facts, results) for plan, facts in nested))
        return _refreshed(lineage) if record.name == REFRESH else lineage
    # A damaged plan, or a plan of a future Spark version, may break any assumption of the readers.
    except Exception as error:
        problem = of_plans.UNREAD_PLAN(error=type(error).__name__, message=error)
        return lineage_of(None, replace(about, facts=(), problems=(*record.problems, problem)), results)


def _refreshed(execution: ExecutionLineage) -> ExecutionLineage:
    """Return an execution with appends as overwrites: a pipeline truncates the table first."""
    outputs = tuple(
        replace(output, mode=Mode.OVERWRITE) if output.mode is Mode.APPEND else output
        for output in execution.lineage.outputs
    )
    return replace(execution, lineage=replace(execution.lineage, outputs=outputs))


def explained(record: Record) -> Record:
    """Return the record with its plans, read from Spark's explain text if it has only that."""
    if record.plan_kind != "explain" and not record.connect:
        return record
    problems = [*record.problems]

    def fields_of(
        text: str, metrics: Iterable[Mapping[str, Any]], inside: Sequence[str] = ()
    ) -> dict[str, Any]:
        try:
            plain = as_batch(text) if record.connect else text
            locations = [str(metric.get("location", "")) for metric in metrics]
            bodies = bodies_of(record.connect)
            read = read_explain(plain, record.settings, inside, locations, bodies) if text else Explained()
            if record.connect:
                read = read_connect(read, plain, record.connect, record.settings)
        # A text of a future Spark version may break any assumption of the reader.
        except Exception as error:
            problems.append(of_plans.UNREAD_TEXT(error=type(error).__name__))
            return {"plan": [], "facts": []}
        if not record.failed:
            problems.extend(problem for problem in read.problems if problem not in problems)
        return {"plan": read.plan, "facts": read.facts}

    # A nested execution comes after those that ran inside it.
    texts = [str(inner.get("explain", "")) for inner in record.parts]
    of_record = fields_of(record.explain, record.metrics, texts)
    parts = [
        {**inner, **fields_of(texts[i], inner.get("metrics", ()), texts[:i])}
        for i, inner in enumerate(record.parts)
    ]
    read: dict[str, Any] = {"plan_kind": "analyzed", "explain": "", "connect": {}}
    return replace(record, parts=parts, problems=problems, **read, **of_record)


def _about(record: Record) -> ExecutionFacts:
    """Return the facts of a record besides its plans."""
    return ExecutionFacts(
        facts=record.facts,
        metrics=[*record.metrics, *(metric for inner in record.parts for metric in inner.get("metrics", ()))],
        written=record.written or {},
        jobs=record.jobs,
        stream=str(record.plan[0].get("queryId", "")) if is_batch_of_stream(record) else "",
        problems=record.problems,
        failure=failure_of(record),
        name=record.name,
        statement=record.sql,
        key=f"{record.application_id} {record.number}",
        rdd_id=record.rdd_id,
        kept_rdd=record.kept_rdd,
    )


def _with_nested(record: Record, about: ExecutionFacts) -> Iterator[tuple[Plan | None, ExecutionFacts]]:
    """Yield the plans that ran inside each other, the innermost first, each with its facts.

    One that a source knows (`PARTS`), such as the write inside Delta's MERGE, is not an execution: its
    plan only completes the others. If the outer command has no plan, the outermost nested one takes its
    place.
    """
    nested = [(inner, read_plan(inner["plan"])) for inner in record.parts if inner.get("plan")]
    about = replace(about, nested=[plan for inner, plan in nested if inner["name"] in PARTS])
    inside = [(inner, plan) for inner, plan in nested if inner["name"] not in PARTS]
    for number, (inner, plan) in enumerate(inside, 1):
        is_outermost = not record.plan and number == len(inside)
        problems = about.problems if is_outermost else ()
        yield plan, replace(about, facts=inner.get("facts", ()), problems=problems)
    if record.plan or not inside:
        yield (read_plan(record.plan) if record.plan else None), about


def failure_of(record: Record) -> Failure | None:
    """Return the failure of an execution; None if it did not fail."""
    if not record.failed:
        return None
    error: dict[str, Any] = record.error or {}
    error_class, message, sql_state = (str(error.get(key, "")) for key in ("class", "message", "sql_state"))
    return Failure(error_class, message, sql_state, execution=record.name)


class Executions:
    """Turns records into executions, in order: one for each user action.

    Three stages: drop Spark's internal executions; attach nested executions to their command; merge a write
    with the command that wraps it.
    """

    def __init__(self) -> None:
        self._next = 1
        self._results: dict[str, Results] = {}

    def of(self, record: Record) -> Execution | None:
        """Return the execution of the next record.

        None for an internal execution of Spark, and for a query that was only converted to an RDD.
        """
        return self.of_explained(explained(record))

    def of_explained(self, record: Record) -> Execution | None:
        """Return the execution of the next record, which `explained` has returned, as `of` does."""
        if _is_internal(record):
            return None
        of_application = self._results.setdefault(record.application_id, {})
        lineage = _lineage_of(record, of_application)
        of_application.update(lineage.results)
        if record.rdd_id is not None:
            return None
        number = self._next
        name = f"execution {number} ({record.name})"
        failures = tuple(replace(failure, execution=name) for failure in lineage.lineage.failures)
        target = lineage.targets[0] if lineage.targets else None
        execution = Execution(number, record, replace(lineage.lineage, failures=failures), target)
        # An analysis that the program survived is left out later, so it takes no number.
        self._next += not execution.is_failed_analysis
        return execution

    def begun(self, record: Record) -> Execution | None:
        """Return a running execution, without a number, from the record of its beginning.

        None as in `of`, and for one whose output has no name yet: some catalogs know a new table's location
        only when the table is there.
        """
        record = explained(record)
        if _is_internal(record):
            return None
        lineage = _lineage_of(record, self._results.get(record.application_id, {}))
        if lineage.lineage.gaps and not lineage.lineage.outputs:
            return None
        target = lineage.targets[0] if lineage.targets else None
        return Execution(0, record, lineage.lineage, target)


def executions(records: Iterable[Record]) -> Iterator[Execution]:
    """Yield one execution for each user action; of failed analyses, only one that nothing follows."""
    last: Execution | None = None
    for execution in filter(None, map(Executions().of, records)):
        if last is not None and not last.is_failed_analysis:
            yield last
        last = execution
    if last is not None:
        yield last


def written_by(execution: Execution) -> list[WrittenDataset]:
    """Return the datasets that an execution wrote rows to, as checks of the rows need them."""
    outputs = [output for output in execution.lineage.outputs if output.has_rows]
    return [
        WrittenDataset(
            output.dataset.id.namespace,
            output.dataset.id.name,
            # Rows of one of several outputs need not be all that were checked.
            output.statistics.rows if len(outputs) == 1 else None,
            output.is_whole and not output.dataset.identity.folder,
            execution.record.ended_at,
        )
        for output in outputs
    ]


def plans_of(record: Record) -> list[list[Any]]:
    """Return the plans that checks of written rows need: as the program wrote them, the innermost last.

    None of a record with the optimized plan: the optimizer may have merged a check's own filter with others.
    """
    if record.plan_kind != "analyzed":
        return []
    return [record.plan, *(part.get("plan") or [] for part in reversed(record.parts))]


def _is_internal(record: Record) -> bool:
    """Return whether an execution is internal to Spark; False if its facts cannot be read."""
    try:
        return any(source_of(entry["probed"]).is_internal() for entry in record.facts)
    except Exception:  # Facts of another release; `execution_lineage` reports a gap.
        return False


def is_batch_of_stream(record: Record) -> bool:
    """Return whether an execution is a batch of a stream; False for executions inside `foreachBatch`."""
    roots = ("WriteToMicroBatchDataSource", "WriteToMicroBatchDataSourceV1")
    return bool(record.plan) and simple_name(str(record.plan[0].get("class"))) in roots
