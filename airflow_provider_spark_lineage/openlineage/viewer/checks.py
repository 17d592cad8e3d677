"""Results of checks in a view document: each is an object with the cells of its row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.checks import CheckResult, tests_of


def check_of(result: CheckResult) -> dict[str, str]:
    """Return a result as a view document has it, without line breaks.

    >>> check_of(CheckResult("failed", "id.min", "id", "warn", ">=1", "0"))["found"]
    '0'
    """
    cells = {
        "status": result.status,
        "name": result.name,
        "column": result.column,
        "severity": result.severity,
        "expected": result.expected,
        "found": result.actual,
        "problem": f"no column {result.absent}" if result.absent else result.not_evaluated,
    }
    return {key: " ".join(value.split()) for key, value in cells.items()}


def checks_of(facets: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the results in the run facets of events, which are of no single dataset, each once."""
    results = dict.fromkeys(result for some in facets for result in tests_of(some))
    return [{**check_of(result), "task": None} for result in results]
