"""Run facets: the Spark applications of a run, and its executions."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from openlineage.client.facet_v2 import RunFacet
from openlineage.client.utils import RedactMixin

from airflow_provider_spark_lineage.facets.producer import PRODUCER, OwnSchema
from airflow_provider_spark_lineage.lineage.model import Application, ExecutionSummary

MAX_EXECUTIONS = 100
"""Number of executions that an event lists at most; `count` is the number of all."""


@attrs.define
class ApplicationEntry(RedactMixin):
    """One Spark application."""

    applicationId: str  # noqa: N815  the JSON name
    name: str
    sparkVersion: str  # noqa: N815


@attrs.define
class SparkApplicationRunFacet(OwnSchema, RunFacet):
    """Spark applications that a task used."""

    applications: list[ApplicationEntry]


@attrs.define
class ExecutionEntry(RedactMixin):
    """One Spark execution."""

    number: int
    name: str
    startedAt: str  # noqa: N815
    endedAt: str  # noqa: N815
    failed: bool


@attrs.define
class SparkExecutionsRunFacet(OwnSchema, RunFacet):
    """Spark executions of a task: their number, and the first hundred."""

    count: int
    failedCount: int  # noqa: N815
    executions: list[ExecutionEntry]


def application_facets(applications: Sequence[Application]) -> dict[str, RunFacet]:
    """Return `sparkLineage_application`; empty for a run that did not use Spark."""
    if not applications:
        return {}
    entries = [ApplicationEntry(each.id, each.name, each.spark_version) for each in applications]
    return {"sparkLineage_application": SparkApplicationRunFacet(entries, producer=PRODUCER)}


def executions_facets(executions: Sequence[ExecutionSummary]) -> dict[str, RunFacet]:
    """Return `sparkLineage_executions`; empty for a run that executed nothing on Spark."""
    if not executions:
        return {}
    facet = SparkExecutionsRunFacet(
        count=len(executions),
        failedCount=sum(execution.failed for execution in executions),
        executions=[
            ExecutionEntry(each.number, each.name, each.started_at, each.ended_at, each.failed)
            for each in executions[:MAX_EXECUTIONS]
        ],
        producer=PRODUCER,
    )
    return {"sparkLineage_executions": facet}
