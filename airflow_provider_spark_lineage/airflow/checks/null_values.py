"""NULL as the value of a statement: a failed check, where Airflow's operators raise TypeError."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow.providers.common.sql.operators import sql as common_sql

NULL = "NULL"
"""What was found, as text."""


def null_in_threshold(operator: Any, firsts: dict[str, tuple[Any, ...] | None]) -> tuple[str, list[Any]]:
    """Return a sentence and the result of a threshold check whose value or limits are NULL; empty if none is.

    `firsts` are the first rows of the queries that ran, by their text.
    """
    value = (firsts.get(operator.sql) or (None,))[0]
    limits = {name: getattr(operator, name) for name in ("min_threshold", "max_threshold")}
    bounds = {
        # A limit that was no query is a number.
        name: (firsts[limit] or (None,))[0] if limit in firsts else float(limit)
        for name, limit in limits.items()
    }
    nulls = [name for name, each in {"the value": value, **bounds}.items() if each is None]
    if not nulls:
        return "", []
    low, high = (NULL if each is None else each for each in bounds.values())
    result = _result(
        name=operator.task_id,
        expected=f">= {low}, <= {high}",
        actual=NULL if value is None else str(value),
        content=operator.sql,
        description="SQL result must fall within the configured bounds",
        params={name: str(limit) for name, limit in limits.items()},
    )
    return f"{operator.task_id}: {' and '.join(nulls)} is NULL", result


def null_metrics(operator: Any, rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return the metrics of an interval check that are NULL in the row of one of the days."""
    columns = zip(*rows, strict=False)
    return [
        metric for metric, values in zip(operator.metrics_sorted, columns, strict=False) if None in values
    ]


def nulls_in_interval(operator: Any, metrics: Sequence[str]) -> list[Any]:
    """Return the results of the metrics of an interval check that are NULL."""
    return [
        result
        for metric in metrics
        for result in _result(
            name=f"interval_{metric}",
            table=operator.table,
            expected=f"< {operator.metrics_thresholds[metric]}",
            actual=NULL,
            content=operator.ratio_formula,
            description="Ratio of current metric to historical baseline must be below the threshold",
            params={
                "threshold": operator.metrics_thresholds[metric],
                "days_back": operator.days_back,
                "ratio_formula_name": operator.ratio_formula,
                "ratio_formula": getattr(operator, "ratio_formula_expressions", {}).get(
                    operator.ratio_formula
                ),
                "date_filter_column": operator.date_filter_column,
                "ignore_zero": operator.ignore_zero,
            },
        )
    ]


def _result(**fields: Any) -> list[Any]:
    """Return a failed result as Airflow's operators have it; common-sql 1 has none."""
    kind = getattr(common_sql, "SQLCheckResult", None)
    return [] if kind is None else [kind(check_type="accepted_range", success=False, **fields)]
