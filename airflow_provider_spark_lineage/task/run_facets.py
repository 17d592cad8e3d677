"""Run facets of a task's Spark work, from memory of the task's process.

The task's events have all of them; `custom_run_facets` may name each for other events of the task.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.runs import facets

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.runs.pipeline import Run


def environment(run: Run) -> dict[str, Any]:
    """Return the environment variables of the task that `[spark_lineage] spark_environment` names."""
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.facets.applications import environment_facets
    from airflow_provider_spark_lineage.records.credentials import REMOVED, without_secrets
    from airflow_provider_spark_lineage.records.secret_names import is_secret

    if not run.applications:
        return {}
    names = (name for name in conf.spark_environment() if name in os.environ)
    return environment_facets(
        {name: REMOVED if is_secret(name) else without_secrets(os.environ[name]) for name in names}
    )


RUN_FACETS = {**facets.RUN_FACETS, "spark_environment": environment}
"""Name of a function of `custom_run_facets` -> the function that creates its facets."""


def all_run_facets(run: Run) -> dict[str, Any]:
    """Return all facets; they are new objects on each call, because the provider's redactor modifies them."""
    return {key: facet for each in RUN_FACETS.values() for key, facet in each(run).items()}
