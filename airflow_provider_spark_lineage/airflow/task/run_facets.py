"""Run facets of a task's Spark work, from memory of the task's process.

The task's events have all of them; `custom_run_facets` may name each for other events of the task.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from typing import Any

from airflow_provider_spark_lineage.spark import RUN_FACETS as OF_RUN
from airflow_provider_spark_lineage.spark import Run, environment_facets


def environment(run: Run) -> dict[str, Any]:
    """Return the environment variables of the task that `[spark_lineage] spark_environment` names."""
    if not run.applications:
        return {}
    # The doctor reads the names below in a process that must not import Airflow: its settings may be broken.
    from airflow_provider_spark_lineage.airflow import conf

    return environment_facets(
        {name: os.environ[name] for name in conf.spark_environment() if name in os.environ}
    )


RUN_FACETS = {**OF_RUN, "spark_environment": environment}
"""Name of a function of `custom_run_facets` -> the function that creates its facets."""


_PACKAGE = "airflow_provider_spark_lineage"
_MODULE = f"{_PACKAGE}.run_facets"


def unknown_functions(option: str) -> Iterator[tuple[str, str]]:
    """Yield the entries of `custom_run_facets` that name no function of this package, each with a sentence.

    >>> [*unknown_functions("airflow_provider_spark_lineage.run_facets.all_facets; company.facet")]
    []
    """
    known = [f"{_MODULE}.{name}" for name in ("all_facets", *RUN_FACETS)]
    for entry in dict.fromkeys(entry.strip() for entry in option.split(";")):
        if entry.partition(".")[0] == _PACKAGE and entry not in known:
            name = entry.rpartition(".")[2]
            nearest = difflib.get_close_matches(f"{_MODULE}.{name}", known, n=1) or [known[0]]
            yield (
                entry,
                f"`[openlineage] custom_run_facets` names {entry}, which does not exist, so its facets are"
                f" missing; write {nearest[0]}.",
            )


def all_run_facets(run: Run) -> dict[str, Any]:
    """Return all facets; they are new objects on each call, because the provider's redactor modifies them."""
    return {key: facet for each in RUN_FACETS.values() for key, facet in each(run).items()}
