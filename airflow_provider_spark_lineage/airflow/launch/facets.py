"""Run facets of a task that launches Spark by another system: its applications and the id of their run.

The kind of an application is here because the provider sets the job facet `jobType` last, and overwrites
ours.
"""

from __future__ import annotations

import re
import shlex

import attrs
from openlineage.client.facet_v2 import RunFacet, external_query_run
from openlineage.client.utils import RedactMixin

from airflow_provider_spark_lineage.airflow.launch.application import Launch, LaunchedApplication
from airflow_provider_spark_lineage.airflow.launch.secret_names import words_without_secrets
from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER, schema_url
from airflow_provider_spark_lineage.spark.records.credentials import REMOVED, without_secrets

LAUNCH = "sparkLineage_launch"
"""Key of `SparkLaunchRunFacet`."""

MAX_APPLICATIONS = 100
"""Number of applications that an event lists at most."""

_VARIABLES = re.compile(r"(?:[\w@%+=:,./-]|\$\{\w+\})+")
"""Word that needs no quotes, also with shell variables."""


@attrs.define
class LaunchedEntry(RedactMixin):
    """One application, as named by the operator."""

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


def launch_facets(launch: Launch, *, with_arguments: bool) -> dict[str, RunFacet]:
    """Return `sparkLineage_launch`, and `externalQuery` if the service has given the run an id.

    Arguments are the user's data: `with_arguments` is false if SQL texts are left out of events, too.
    """
    if not launch.applications:
        return {}
    entries = [_entry(application, with_arguments) for application in launch.applications[:MAX_APPLICATIONS]]
    facets: dict[str, RunFacet] = {
        LAUNCH: SparkLaunchRunFacet(
            entries,
            service=launch.service or None,
            runId=launch.run_id or None,
            link=launch.link or None,
            producer=PRODUCER,
        )
    }
    if launch.run_id:
        facets["externalQuery"] = external_query_run.ExternalQueryRunFacet(
            externalQueryId=launch.run_id, source=launch.link or launch.service, producer=PRODUCER
        )
    return facets


def _entry(application: LaunchedApplication, with_arguments: bool) -> LaunchedEntry:
    given = application.arguments if application.shown is None else application.shown
    words = [REMOVED if word is None else word for word in given]
    arguments = _without_secrets(words) if with_arguments else ""
    return LaunchedEntry(
        type=application.kind,
        name=without_secrets(application.name) or None,
        main=without_secrets(application.main) or None,
        mainClass=application.main_class or None,
        arguments=arguments or None,
    )


def _without_secrets(words: list[str]) -> str:
    """Return arguments as one line, with values of secret options masked.

    >>> _without_secrets(["--password", "hunter2", "a b", "--token=x1"])
    "--password *** 'a b' --token=***"
    """
    return " ".join(
        word if REMOVED in word or _VARIABLES.fullmatch(word) else shlex.quote(word)
        for word in words_without_secrets(words)
    )
