"""Functions for `[openlineage] custom_run_facets`: `(task_instance, ti_state) -> dict | None`.

| function | run facet | content |
| --- | --- | --- |
| `spark_application` | `spark_applicationDetails`, `sparkLineage_application` | place, pages, versions |
| `spark_bottlenecks` | `sparkLineage_bottlenecks` | at most five sentences: skew, spill, ... |
| `spark_environment` | `environmentVariables` | variables of `[spark_lineage] spark_environment` |
| `spark_executions` | `sparkLineage_executions` | what each execution read and wrote, and how it ended |
| `spark_failure` | `sparkLineage_failures` | errors of failed executions |
| `spark_gaps` | `sparkLineage_gaps`, `extractionError` | places where the lineage is unknown |
| `spark_properties` | `spark_properties` | properties of `[spark_lineage] spark_properties` |
| `spark_resources` | `sparkLineage_resources` | jobs, tasks, cores, times, bytes and rows |
| `spark_streams` | `sparkLineage_streams` | streaming queries: offsets, batches, rows per second, lag |
| `all_facets` | all of these | |

The events of captured tasks have these facets without the option; a facet is never there twice. The functions
never raise, and importing them costs nothing. They return None for a task that did not use Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "all_facets",
    "spark_application",
    "spark_bottlenecks",
    "spark_environment",
    "spark_executions",
    "spark_failure",
    "spark_gaps",
    "spark_properties",
    "spark_resources",
    "spark_streams",
]

_Function = Callable[[Any, Any], "dict[str, Any] | None"]


def _function(name: str) -> _Function:
    def run_facets(task_instance: Any, ti_state: Any) -> dict[str, Any] | None:
        from airflow_provider_spark_lineage.spark.guard import harmless

        with harmless(f"the run facets of `{name}` could not be created"):
            from airflow_provider_spark_lineage.airflow.task.process import TASK

            report = TASK.report_of(task_instance)
            if report is not None:
                from airflow_provider_spark_lineage.airflow.task.report import excerpt_of
                from airflow_provider_spark_lineage.airflow.task.run_facets import RUN_FACETS, all_run_facets

                # A task that skipped itself may have done nothing, like one that failed.
                state = getattr(ti_state, "value", ti_state)
                ended = report if state == "failed" else report.succeeded()
                run = excerpt_of(ended, failed=state in ("failed", "skipped")).run
                return RUN_FACETS.get(name, all_run_facets)(run) or None
        return None

    run_facets.__name__ = run_facets.__qualname__ = name
    run_facets.__doc__ = "Return the run facets of a task's Spark work as the module's table says, or None."
    return run_facets


all_facets = _function("all_facets")
spark_application = _function("spark_application")
spark_bottlenecks = _function("spark_bottlenecks")
spark_environment = _function("spark_environment")
spark_executions = _function("spark_executions")
spark_failure = _function("spark_failure")
spark_gaps = _function("spark_gaps")
spark_properties = _function("spark_properties")
spark_resources = _function("spark_resources")
spark_streams = _function("spark_streams")
