"""As much of a lineage, of facets and of results of checks as one event can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from airflow_provider_spark_lineage.spark.checks.assertion import Findings
from airflow_provider_spark_lineage.spark.facets.size import EventContent, fitted, size_of
from airflow_provider_spark_lineage.spark.facets.size_of_run import (
    fitting_facets,
    fitting_findings,
    size_of_findings,
)
from airflow_provider_spark_lineage.spark.gaps import of_tasks
from airflow_provider_spark_lineage.spark.lineage.model import Gap, Lineage


@dataclass(frozen=True)
class FittedLineage:
    """A lineage in the size of an event; its first gaps list the missing parts."""

    lineage: Lineage
    findings: tuple[Findings, ...]
    left_out: tuple[str, ...]
    """Keys of the run facets that are too large."""

    repeats_dataset_edges: bool
    """Edges of whole datasets are repeated for each column."""


def fitted_lineage(
    lineage: Lineage,
    facets: Mapping[str, Any],
    findings: Sequence[Findings],
    max_bytes: int,
    *,
    sql_text: str,
    repeats_dataset_edges: bool,
    reason: str = "",
) -> FittedLineage:
    """Return as much as an event of so many bytes can hold.

    `facets` are facets of the run besides those of the lineage; `reason` is the gap's, see `size.fitted`.
    """
    facets, left_out = fitting_facets(facets, max_bytes)
    if left_out:
        lineage = _with_first_gap(lineage, of_tasks.TOO_LARGE_FOR_FACETS, ", ".join(left_out))
    findings, missing = fitting_findings(findings, sql_text, max_bytes)
    used = size_of(facets) + size_of_findings(findings, sql_text)
    content = EventContent(lineage, repeats_dataset_edges=repeats_dataset_edges)
    content = fitted(content, max_bytes, used, reason=reason)
    lineage = content.lineage
    if missing:
        lineage = _with_first_gap(lineage, of_tasks.TOO_LARGE_FOR_RESULTS, " and ".join(missing))
    return FittedLineage(lineage, tuple(findings), tuple(left_out), content.repeats_dataset_edges)


def _with_first_gap(lineage: Lineage, row: Callable[..., Any], lost: str) -> Lineage:
    return replace(lineage, gaps=(Gap("event", row(lost=lost)), *lineage.gaps))
