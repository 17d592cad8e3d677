"""Measurements of a frame's checks, from responses of the server; other observations are not read."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable

from airflow_provider_spark_lineage.spark.records.observed import OF_CHECKS, plain_of

_REASONS = {
    "limit": re.compile(r"\b(Global|Local|Collect)Limit\b|\bTakeOrdered|\bCollectTail\b"),
    "sort": re.compile(r"rangepartitioning\("),
}
"""Reason why Spark may have counted other rows than the written ones -> parts of the plan's text then."""


def observed_of(responses: Iterable[Any]) -> Dict[str, Dict[str, Any]]:
    """Return the field `observed` of a record.

    The columns of checks are numbered, because Spark 3.5 does not send their names. A slow server sends
    an observation without values: the check has no result then.
    """
    from pyspark.sql.connect.expressions import LiteralExpression

    return {
        response.name: {
            f"value_{at}": plain
            for at, metric in enumerate(response.metrics)
            if (plain := _plain(LiteralExpression._to_value(metric))) is not _NOTHING
        }
        for response in responses
        if response.name.startswith(OF_CHECKS)
    }


_NOTHING = object()


def _plain(value: Any) -> Any:
    """Return a value as a record has it; `_NOTHING` for an array, for example, which has no form there."""
    try:
        return plain_of(value)
    except ValueError:
        return _NOTHING


def miscounted_in(text: str, names: Iterable[str]) -> Dict[str, str]:
    """Return the field `miscounted` of a record; `text` is the explained plan."""
    reason = next((reason for reason, pattern in _REASONS.items() if pattern.search(text)), "")
    return dict.fromkeys(names, reason) if reason else {}
