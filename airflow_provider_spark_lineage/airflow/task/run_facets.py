"""Run facets of a task's Spark work, from memory of the task's process.

The task's events have all of them; `custom_run_facets` may name each for other events of the task.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.spark.gaps import of_tasks
from airflow_provider_spark_lineage.spark.runs import facets

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark.lineage.model import Lineage
    from airflow_provider_spark_lineage.spark.runs.pipeline import Run


def environment(run: Run) -> dict[str, Any]:
    """Return the environment variables of the task that `[spark_lineage] spark_environment` names."""
    from airflow_provider_spark_lineage.airflow import conf
    from airflow_provider_spark_lineage.spark.facets.applications import environment_facets
    from airflow_provider_spark_lineage.spark.records.credentials import REMOVED, without_secrets
    from airflow_provider_spark_lineage.spark.records.secret_names import is_secret

    if not run.applications:
        return {}
    names = (name for name in conf.spark_environment() if name in os.environ)
    return environment_facets(
        {name: REMOVED if is_secret(name) else without_secrets(os.environ[name]) for name in names}
    )


RUN_FACETS = {**facets.RUN_FACETS, "spark_environment": environment}
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


def fitting_run_facets(run: Run, max_bytes: int | None = None) -> tuple[dict[str, Any], Lineage]:
    """Return the facets that an event can hold beside its lineage, and the lineage with a gap for the others.

    Gaps and failures count as lineage. `max_bytes` is the limit of an event that is stored; None: of one that
    is sent.
    """
    from airflow_provider_spark_lineage.airflow import conf
    from airflow_provider_spark_lineage.spark.facets.size_of_run import fitting_facets
    from airflow_provider_spark_lineage.spark.lineage.model import Gap

    bare = replace(run, lineage=replace(run.lineage, gaps=(), failures=()))
    limit = conf.max_event_bytes() if max_bytes is None else max_bytes
    facets, left_out = fitting_facets(all_run_facets(bare), limit)
    if not left_out:
        return facets, run.lineage
    gap = Gap("event", of_tasks.TOO_LARGE_FOR_FACETS(lost=", ".join(left_out)))
    return facets, replace(run.lineage, gaps=(gap, *run.lineage.gaps))
