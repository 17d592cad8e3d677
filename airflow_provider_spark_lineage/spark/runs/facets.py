"""Run facets of a run: one function for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_provider_spark_lineage.spark.facets.applications import application_facets, properties_facets
from airflow_provider_spark_lineage.spark.facets.events import plain
from airflow_provider_spark_lineage.spark.facets.executions import executions_facets
from airflow_provider_spark_lineage.spark.facets.failures import failures_facets
from airflow_provider_spark_lineage.spark.facets.resources import bottlenecks_facets, resources_facets
from airflow_provider_spark_lineage.spark.facets.runs import extraction_errors, gaps_facets
from airflow_provider_spark_lineage.spark.facets.streams import streams_facets
from airflow_provider_spark_lineage.spark.runs.run import Run


def application(run: Run) -> dict[str, Any]:
    """Return where and by whom the applications ran, their pages and versions."""
    return application_facets(run.applications)


def executions(run: Run) -> dict[str, Any]:
    """Return the number of executions, and for the first hundred what each read and wrote."""
    return executions_facets(run.executions)


def failures(run: Run) -> dict[str, Any]:
    """Return the errors of failed executions."""
    return failures_facets(run.lineage)


def gaps(run: Run) -> dict[str, Any]:
    """Return the places where the lineage is unknown, and the executions whose plan could not be read."""
    return {**gaps_facets(run.lineage), **extraction_errors(run.executions)}


def properties(run: Run) -> dict[str, Any]:
    """Return the Spark properties that `[spark_lineage] spark_properties` allows."""
    return properties_facets(run.applications)


def resources(run: Run) -> dict[str, Any]:
    """Return what Spark's tasks used."""
    return resources_facets(run.applications)


def bottlenecks(run: Run) -> dict[str, Any]:
    """Return what slowed Spark's tasks down."""
    return bottlenecks_facets(run.applications, run.executions)


def streams(run: Run) -> dict[str, Any]:
    """Return reads, writes, speed and outcome of the streaming queries."""
    return streams_facets(run.applications)


RUN_FACETS: dict[str, Callable[[Run], dict[str, Any]]] = {
    "spark_application": application,
    "spark_bottlenecks": bottlenecks,
    "spark_executions": executions,
    "spark_failure": failures,
    "spark_gaps": gaps,
    "spark_properties": properties,
    "spark_resources": resources,
    "spark_streams": streams,
}
"""Name of a function of `custom_run_facets` -> the function that creates its facets."""


def facets_of(run: Run) -> dict[str, Any]:
    """Return all facets; they are new objects on each call, because the provider's redactor modifies them."""
    return {key: facet for each in RUN_FACETS.values() for key, facet in each(run).items()}


def facets_as_json(run: Run) -> dict[str, Any]:
    """Return all facets as plain JSON values."""
    return {key: plain(facet) for key, facet in facets_of(run).items()}
