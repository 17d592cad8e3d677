"""The facet classes behind `run_facets`; imported only when there is something to say."""

from __future__ import annotations

import attrs
from openlineage.client.facet_v2 import RunFacet
from openlineage.client.utils import RedactMixin

from airflow_provider_spark_lineage.facets.producer import PRODUCER, schema_url
from airflow_provider_spark_lineage.pipeline import Run
from airflow_provider_spark_lineage.run_facets import MAX_EXECUTIONS


@attrs.define
class ApplicationEntry(RedactMixin):
    """One Spark application."""

    applicationId: str  # noqa: N815  the JSON name
    name: str
    sparkVersion: str  # noqa: N815


@attrs.define
class SparkApplicationRunFacet(RunFacet):
    """Which Spark applications a task used."""

    applications: list[ApplicationEntry]

    @staticmethod
    def _get_schema() -> str:
        return schema_url("SparkApplicationRunFacet")


@attrs.define
class ExecutionEntry(RedactMixin):
    """One Spark execution."""

    number: int
    name: str
    startedAt: str  # noqa: N815
    endedAt: str  # noqa: N815
    failed: bool


@attrs.define
class SparkExecutionsRunFacet(RunFacet):
    """What a task executed on Spark: how much, and the first executions one by one."""

    count: int
    failedCount: int  # noqa: N815
    executions: list[ExecutionEntry]

    @staticmethod
    def _get_schema() -> str:
        return schema_url("SparkExecutionsRunFacet")


def application_facet(run: Run) -> dict[str, RunFacet]:
    """Return `sparkLineage_application` for a run that used Spark."""
    entries = [ApplicationEntry(app.id, app.name, app.spark_version) for app in run.applications]
    return {"sparkLineage_application": SparkApplicationRunFacet(entries, producer=PRODUCER)}


def executions_facet(run: Run) -> dict[str, RunFacet]:
    """Return `sparkLineage_executions` for a run that used Spark."""
    facet = SparkExecutionsRunFacet(
        count=len(run.executions),
        failedCount=sum(one.failed for one in run.executions),
        executions=[
            ExecutionEntry(one.number, one.name, one.started_at, one.ended_at, one.failed)
            for one in run.executions[:MAX_EXECUTIONS]
        ],
        producer=PRODUCER,
    )
    return {"sparkLineage_executions": facet}
