"""Counts of a plan's physical scans and writes, from the metrics in the server's responses."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List

from airflow_provider_spark_lineage.spark.records.counts import OPERATORS

_COUNTS = {
    "numOutputRows": "rows",
    "numFiles": "files",
    "filesSize": "size_bytes",
    "numOutputBytes": "size_bytes",
}
"""Spark's key of an SQL metric -> field of a record's metric."""

_BY_RANGE = "rangepartitioning("


def counts_of(metrics: Iterable[Any], text: str) -> List[Dict[str, Any]]:
    """Return one entry for each physical scan or write; `text` is the explained plan.

    To sort, Spark runs the nodes below twice, to sample the ranges, down to the next exchange. The metrics do
    not tell which exchange is by ranges: if there is one, rows below any exchange are not counted.
    """
    nodes = {metric.plan_id: metric for metric in metrics}
    has_ranges = _BY_RANGE in text
    entries: List[Dict[str, Any]] = []
    for node in nodes.values():
        name = str(node.name).strip()
        if not (name + " ").startswith(OPERATORS):
            continue
        sampled = has_ranges and _is_below_exchange(node, nodes)
        entry: Dict[str, Any] = {"node": name}
        for metric in node.metrics:
            count = _COUNTS.get(str(metric.name))
            if count and not (sampled and count == "rows"):
                entry[count] = int(metric.value)
        if len(entry) > 1:
            entries.append(entry)
    return entries


def _is_below_exchange(node: Any, nodes: Dict[int, Any]) -> bool:
    seen = set()
    while node is not None and node.plan_id not in seen:
        seen.add(node.plan_id)
        if str(node.name).startswith("Exchange"):
            return True
        node = nodes.get(node.parent_plan_id)
    return False
