"""Run facets of a run that launches Spark by another system: its applications, and the id of their run."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
from openlineage.client.facet_v2 import RunFacet, external_query_run
from openlineage.client.utils import RedactMixin

from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER, schema_url

LAUNCH = "sparkLineage_launch"
"""Key of `SparkLaunchRunFacet`."""


@attrs.define
class LaunchedEntry(RedactMixin):
    """One application, as the caller of its system names it."""

    type: str
    name: str | None = None
    main: str | None = None
    mainClass: str | None = None  # noqa: N815  the JSON name
    arguments: str | None = None


@attrs.define
class SparkLaunchRunFacet(RunFacet):
    """Spark applications that a task launched by another system."""

    applications: list[LaunchedEntry]
    service: str | None = None
    runId: str | None = None  # noqa: N815
    link: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return schema_url("SparkLaunchRunFacet")


def launched_facets(
    applications: Iterable[tuple[str, str, str, str, str]], *, service: str, run_id: str, link: str
) -> dict[str, RunFacet]:
    """Return `sparkLineage_launch`, and `externalQuery` if the service has given the run an id.

    An application is its type, name, main file, main class and arguments; any but the type may be empty.
    """
    facets: dict[str, RunFacet] = {
        LAUNCH: SparkLaunchRunFacet(
            [LaunchedEntry(kind, *(text or None for text in texts)) for kind, *texts in applications],
            service=service or None,
            runId=run_id or None,
            link=link or None,
            producer=PRODUCER,
        )
    }
    if run_id:
        facets["externalQuery"] = external_query_run.ExternalQueryRunFacet(
            externalQueryId=run_id, source=link or service, producer=PRODUCER
        )
    return facets
