"""Reads Spark's SQL metrics out of a plan of the event log, as `Counts.java` does out of a live one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.records.counts import COUNTS, COUNTS_OF_SCANS, OPERATORS
from airflow_provider_spark_lineage.records.credentials import without_secrets


def metrics_of(plan: Mapping[str, Any], values: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    """Yield an entry for each physical scan and write of a `SparkPlanInfo`.

    `values` are those of the accumulators that the execution changed: of a cached relation that an earlier
    execution read, there are none.
    """
    waiting = [(plan, False)]
    while waiting:
        node, sampled = waiting.pop()
        name = str(node.get("nodeName", ""))
        if name.startswith((*OPERATORS, "InMemoryTableScan")):
            entry = _entry(node, name.strip(), values, sampled=sampled)
            # A command around a write counts nothing itself, and must not stand in the write's place.
            if len(entry) > 1:
                yield entry
        if name == "Exchange":
            # To sample the ranges, Spark runs what is below twice, but nothing below another exchange.
            sampled = "rangepartitioning(" in str(node.get("simpleString", ""))
        waiting.extend((child, sampled) for child in reversed(node.get("children") or ()))


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
