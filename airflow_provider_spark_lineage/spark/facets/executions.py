"""Run facet of the Spark executions of a task."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from openlineage.client.facet_v2 import RunFacet
from openlineage.client.utils import RedactMixin

from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER, OwnSchema
from airflow_provider_spark_lineage.spark.lineage.model import ExecutionSummary

MAX_EXECUTIONS = 100
"""Number of executions that an event lists at most; `count` is the number of all."""

MAX_DATASETS = 10
"""Number of inputs, and of outputs, that an event lists for one of them."""


@attrs.define
class DatasetEntry(RedactMixin):
    """One dataset that an execution read or wrote."""

    namespace: str
    name: str


@attrs.define
class ExecutionEntry(RedactMixin):
    """One Spark execution."""

    number: int
    name: str
    startedAt: str  # noqa: N815  the JSON name
    endedAt: str  # noqa: N815
    failed: bool
    inputs: list[DatasetEntry]
    outputs: list[DatasetEntry]
    datasetsLeftOut: int | None = None  # noqa: N815
    rowsWritten: int | None = None  # noqa: N815
    unfinishedOutput: DatasetEntry | None = None  # noqa: N815
    statement: str | None = None
    codeLine: str | None = None  # noqa: N815


@attrs.define
class SparkExecutionsRunFacet(OwnSchema, RunFacet):
    """Spark executions of a task: their number, and the first hundred."""

    count: int
    failedCount: int  # noqa: N815
    executions: list[ExecutionEntry]


def executions_facets(executions: Sequence[ExecutionSummary]) -> dict[str, RunFacet]:
    """Return `sparkLineage_executions`; empty for a run that executed nothing on Spark."""
    if not executions:
        return {}
    facet = SparkExecutionsRunFacet(
        count=len(executions),
        failedCount=sum(execution.failed for execution in executions),
        executions=[
            ExecutionEntry(
                each.number,
                each.name,
                each.started_at,
                each.ended_at,
                each.failed,
                [DatasetEntry(*dataset) for dataset in each.reads[:MAX_DATASETS]],
                [DatasetEntry(*dataset) for dataset in each.writes[:MAX_DATASETS]],
                sum(max(len(some) - MAX_DATASETS, 0) for some in (each.reads, each.writes)) or None,
                each.rows,
                DatasetEntry(*each.unfinished) if each.unfinished else None,
                each.statement or None,
                each.line or None,
            )
            for each in _listed(executions)
        ],
        producer=PRODUCER,
    )
    return {"sparkLineage_executions": facet}


def _listed(executions: Sequence[ExecutionSummary]) -> list[ExecutionSummary]:
    """Return the executions that an event lists, in their order: the last failed ones, then the first."""
    failed = [each for each in executions if each.failed][-MAX_EXECUTIONS // 2 :]
    numbers = {each.number for each in failed}
    others = [each for each in executions if each.number not in numbers]
    chosen = [*failed, *others[: MAX_EXECUTIONS - len(failed)]]
    return sorted(chosen, key=lambda each: each.number)
