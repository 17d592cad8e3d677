"""Reads Spark's SQL metrics from a plan of the event log, as `Counts.java` does from a live plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.spark.records.counts import (
    COUNTS,
    COUNTS_OF_SCANS,
    JOINS,
    NESTED_LOOP,
    OPERATORS,
)
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets


def metrics_of(plan: Mapping[str, Any], values: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    """Yield an entry for each physical scan and write of a `SparkPlanInfo`.

    `values` are the values of accumulators that the execution changed: a cached relation that an earlier
    execution read has none.
    """
    waiting = [(plan, False)]
    while waiting:
        node, sampled = waiting.pop()
        name = str(node.get("nodeName", ""))
        if name.startswith((*OPERATORS, "InMemoryTableScan")):
            entry = _entry(node, name.strip(), values, sampled=sampled)
            # A command around a write has no counts, and must not replace the write.
            if len(entry) > 1:
                yield entry
        if name == "Exchange":
            # To sample the ranges, Spark runs the nodes below twice, down to the next exchange.
            sampled = "rangepartitioning(" in str(node.get("simpleString", ""))
        waiting.extend((child, sampled) for child in reversed(node.get("children") or ()))


def joins_of(plan: Mapping[str, Any], values: Mapping[int, int], execution: int) -> Iterator[dict[str, Any]]:
    """Yield an entry of a record's `joins` for each join without an equality, as `Joins.java` does."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        children = node.get("children") or ()
        name = node.get("nodeName")
        if name in JOINS:
            counts = {"rows": _rows(node, values)}
            # A cartesian product reads its sides several times, and their metrics count each time.
            if name == NESTED_LOOP and len(children) == 2:
                counts["left_rows"], counts["right_rows"] = (_rows_of(side, values) for side in children)
            known = {count: rows for count, rows in counts.items() if rows is not None}
            yield {"node": name, "execution": execution, **known}
        waiting.extend(reversed(children))


def _rows_of(node: Mapping[str, Any], values: Mapping[int, int]) -> int | None:
    """Return the rows of the first node with a count, downwards; None below a node with two sides."""
    while (rows := _rows(node, values)) is None:
        children = list(node.get("children") or ())
        if len(children) != 1:
            break
        node = children[0]
    return rows


def _rows(node: Mapping[str, Any], values: Mapping[int, int]) -> int | None:
    """Return the rows that a node returned; None where they are not counted."""
    for metric in node.get("metrics") or ():
        if metric.get("name") == "number of output rows":
            # A log does not have the counts that stayed 0.
            return values.get(metric.get("accumulatorId", -1), 0)
    return None


def _entry(node: Mapping[str, Any], name: str, values: Mapping[int, int], *, sampled: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"node": without_secrets(name)}
    location = (node.get("metadata") or {}).get("Location")
    if location:
        entry["location"] = without_secrets(str(location))
    names = {**COUNTS, **COUNTS_OF_SCANS} if name.startswith("BatchScan") else COUNTS
    for metric in node.get("metrics") or ():
        count = names.get(metric.get("name"))
        value = values.get(metric.get("accumulatorId"))
        if count and value is not None and not (sampled and count == "rows"):
            entry[count] = value
    return entry
