"""Functions for `[openlineage] custom_run_facets`: `(task_instance, ti_state) -> dict | None`.

They never raise, and importing them costs nothing. Name them in the option, separated by a semicolon:
`airflow_provider_spark_lineage.run_facets.spark_application`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.runs.pipeline import Run


def spark_application(task_instance: Any, ti_state: Any) -> dict[str, Any] | None:
    """Return ids, names and versions of a task's Spark applications; None if it used none."""
    from airflow_provider_spark_lineage.guard import harmless

    with harmless("the run facet `spark_application` could not be created"):
        run = _run(task_instance)
        if run is not None:
            from airflow_provider_spark_lineage.facets.spark import application_facets

            return application_facets(run.applications) or None
    return None


def spark_executions(task_instance: Any, ti_state: Any) -> dict[str, Any] | None:
    """Return a task's Spark executions and how each ended; None if it executed nothing."""
    from airflow_provider_spark_lineage.guard import harmless

    with harmless("the run facet `spark_executions` could not be created"):
        run = _run(task_instance)
        if run is not None:
            from airflow_provider_spark_lineage.facets.spark import executions_facets

            return executions_facets(run.executions) or None
    return None


def _run(task_instance: Any) -> Run | None:
    """Return the captured run of a task; None before it ran, or if capture is off."""
    from airflow_provider_spark_lineage.task.process import TASK

    lineage = TASK.lineage_of(task_instance)
    return lineage.run if lineage is not None else None
