"""Run facets of Spark applications: where each ran, its versions and its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
from openlineage.client.facet_v2 import RunFacet, environment_variables_run
from openlineage.client.utils import RedactMixin

from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER, OwnSchema
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.credentials import REMOVED, without_secrets
from airflow_provider_spark_lineage.spark.records.secret_names import is_secret


@attrs.define
class SparkApplicationDetailsRunFacet(OwnSchema, RunFacet):
    """The last Spark application of a task, with the fields of OpenLineage's Java agent."""

    master: str
    appName: str  # noqa: N815  the JSON name
    applicationId: str  # noqa: N815
    deployMode: str  # noqa: N815
    userName: str  # noqa: N815
    driverHost: str | None = None  # noqa: N815
    uiWebUrl: str | None = None  # noqa: N815
    proxyUrl: str | None = None  # noqa: N815
    historyUrl: str | None = None  # noqa: N815


@attrs.define
class SparkPropertyRunFacet(OwnSchema, RunFacet):
    """Allowed Spark properties of the same application."""

    properties: dict[str, str]


@attrs.define
class ApplicationEntry(RedactMixin):
    """One Spark application."""

    applicationId: str  # noqa: N815
    name: str
    sparkVersion: str  # noqa: N815
    scalaVersion: str | None = None  # noqa: N815
    javaVersion: str | None = None  # noqa: N815
    pythonVersion: str | None = None  # noqa: N815
    links: list[str] | None = None


@attrs.define
class SparkApplicationRunFacet(OwnSchema, RunFacet):
    """Spark applications that a task used."""

    applications: list[ApplicationEntry]


def application_facets(applications: Sequence[Application]) -> dict[str, RunFacet]:
    """Return `sparkLineage_application` and `spark_applicationDetails`; empty without an application.

    The details are of the last application whose master is known: the facet has room for one.
    """
    if not applications:
        return {}
    entries = [
        ApplicationEntry(
            each.id,
            each.name,
            each.spark_version,
            each.scala_version or None,
            each.java_version or None,
            each.python_version or None,
            _links(each) or None,
        )
        for each in applications
    ]
    facets: dict[str, RunFacet] = {
        "sparkLineage_application": SparkApplicationRunFacet(entries, producer=PRODUCER)
    }
    for each in applications:
        if each.master:
            facets["spark_applicationDetails"] = SparkApplicationDetailsRunFacet(
                each.master,
                each.name,
                each.id,
                each.deploy_mode,
                each.user,
                each.driver_host or None,
                each.ui_url or None,
                each.proxy_url or None,
                each.history_url or None,
                producer=PRODUCER,
            )
    return facets


def properties_facets(applications: Sequence[Application]) -> dict[str, RunFacet]:
    """Return `spark_properties` of the last application that has some; empty without any."""
    for each in reversed(applications):
        if each.properties:
            return {"spark_properties": SparkPropertyRunFacet(dict(each.properties), producer=PRODUCER)}
    return {}


def environment_facets(variables: Mapping[str, str]) -> dict[str, RunFacet]:
    """Return OpenLineage's `environmentVariables`, without secrets; empty without variables."""
    if not variables:
        return {}
    entries = [
        environment_variables_run.EnvironmentVariable(
            name, REMOVED if is_secret(name) else without_secrets(value)
        )
        for name, value in sorted(variables.items())
    ]
    facet = environment_variables_run.EnvironmentVariablesRunFacet(entries, producer=PRODUCER)
    return {"environmentVariables": facet}


def _links(application: Application) -> list[str]:
    """Return the pages of an application: of a history server or proxy, then Spark's own."""
    return list(
        filter(None, dict.fromkeys((application.history_url, application.proxy_url, application.ui_url)))
    )
