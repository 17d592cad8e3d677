"""Functions for `[openlineage] custom_run_facets`: `(task_instance, ti_state) -> dict | None`, they never raise.

>>> # AIRFLOW__OPENLINEAGE__CUSTOM_RUN_FACETS="airflow_provider_spark_lineage.run_facets.spark_application;..."
"""

from __future__ import annotations

from typing import Any

MAX_EXECUTIONS = 100
"""How many executions an event lists; it always says how many there were."""


def spark_application(task_instance: Any, ti_state: Any) -> dict[str, Any] | None:
    """Return which Spark applications a task used: ids, names, versions; None if it used none."""
    return _facets(task_instance, "application_facet")


def spark_executions(task_instance: Any, ti_state: Any) -> dict[str, Any] | None:
    """Return what a task executed on Spark and how it ended; None if it executed nothing."""
    return _facets(task_instance, "executions_facet")


def _facets(task_instance: Any, build: str) -> dict[str, Any] | None:
    from airflow_provider_spark_lineage.capture.guard import harmless

    facets: dict[str, Any] | None = None
    with harmless("a run facet could not be made"):
        from airflow_provider_spark_lineage.task import lineage_of

        found = lineage_of(task_instance)
        if found is not None and found.run.applications:
            from airflow_provider_spark_lineage.run_facets import classes

            facets = getattr(classes, build)(found.run)
    return facets
