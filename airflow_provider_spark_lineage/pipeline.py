"""From records to lineage: the one place that knows the order of the stages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from airflow_provider_spark_lineage.lineage.compose import Composer, absorbed, absorbs
from airflow_provider_spark_lineage.lineage.execution import ExecutionFacts, ExecutionLineage, lineage_of
from airflow_provider_spark_lineage.lineage.model import Failure, Lineage
from airflow_provider_spark_lineage.plan.spark.reader import read_plan
from airflow_provider_spark_lineage.record import Record


@dataclass(frozen=True)
class Execution:
    """One user action on Spark, with its lineage."""

    record: Record
    lineage: Lineage


def execution_lineage(record: Record) -> ExecutionLineage:
    """Return the lineage of one record; a plan that cannot be read becomes a gap, never an exception."""
    problems = list(record.problems)
    plan = None
    try:
        plan = read_plan(record.plan) if record.plan else None
    # A plan of a future Spark version or a torn one may break any assumption; the facts still name its inputs.
    except Exception as error:
        problems.append(f"the plan could not be read: {type(error).__name__}: {error}")
    about = ExecutionFacts(record.facts, record.metrics, problems, failure_of(record))
    return lineage_of(plan, about)


def failure_of(record: Record) -> Failure | None:
    """Return why an execution failed, None if it did not."""
    if not record.failed:
        return None
    error: dict[str, Any] = record.error or {}
    return Failure(
        error_class=str(error.get("class", "")),
        message=str(error.get("message", "")),
        sql_state=str(error.get("sql_state", "")),
        execution=f"{record.name} {record.number}",
    )


def executions(records: Iterable[Record]) -> Iterator[Execution]:
    """Yield one execution for each user action: a command and the write that it ran inside are one."""
    held: tuple[Record, ExecutionLineage] | None = None
    for record in records:
        found = execution_lineage(record)
        if held is not None:
            if found.wraps and absorbs(found, held[1]):
                started = min(held[0].started_at, record.started_at)
                held = replace(record, started_at=started), absorbed(found, held[1])
                continue
            yield Execution(held[0], held[1].lineage)
        held = record, found
    if held is not None:
        yield Execution(held[0], held[1].lineage)


def lineage_of_records(records: Iterable[Record]) -> Lineage:
    """Return the lineage of a whole run; needs one record in memory at a time."""
    composer = Composer()
    for execution in executions(records):
        composer.add(execution.lineage)
    return composer.lineage()
