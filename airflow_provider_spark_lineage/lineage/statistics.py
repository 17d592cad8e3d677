"""Assigns what Spark counted in physical scans and writes to the datasets of an execution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from airflow_provider_spark_lineage.lineage.model import Statistics
from airflow_provider_spark_lineage.sources import identify
from airflow_provider_spark_lineage.sources.dataset import DatasetId

Metrics = Sequence[Mapping[str, Any]]

_WRITES = ("Execute", "AppendData", "Overwrite", "ReplaceData", "WriteDelta")
_OF_NO_DATASET = ("Scan ExistingRDD", "Scan OneRowRelation", "Scan In-memory table")
"""Physical scans of what Spark holds itself."""


def scan_statistics(
    metrics: Metrics, ids: Sequence[DatasetId], named: Mapping[str, DatasetId | None] | None = None
) -> dict[DatasetId, Statistics]:
    """Return what the largest physical scan of each dataset counted: two scans may read the same rows.

    `named` are those that a scan names itself; None is a scan of several.
    """
    largest: dict[DatasetId, Statistics] = {}
    for metric in metrics:
        node = str(metric.get("node", ""))
        if not node.startswith(("Scan", "BatchScan")) or node.startswith(_OF_NO_DATASET):
            continue
        called = _called(node, named or {})
        found = (named or {})[called] if called else _scanned(metric, ids)
        if found is not None:
            largest[found] = larger(largest.get(found, Statistics()), _statistics(metric))
    return largest


def _called(node: str, names: Iterable[str]) -> str:
    """Return the name by which a physical scan speaks of what it reads; empty for one that does not."""
    name = node.partition(" ")[2]
    # A table of Spark's stands behind it.
    return next((one for one in names if one and (name + " ").startswith(one + " ")), "")


def _scanned(metric: Mapping[str, Any], ids: Sequence[DatasetId]) -> DatasetId | None:
    """Find the dataset that a physical scan read: by location, or as the only one there is.

    One scan of several datasets has one count, which is none of theirs.
    """
    text = str(metric.get("location", "")).partition("[")[2]
    given = [part.strip() for part in text.rstrip("]. ").split(",") if part.strip() and "..." not in part]
    name = str(metric.get("node", ""))
    if not text and name.startswith("BatchScan"):
        # The V2 sources of files say their place in their name: `BatchScan parquet file:/in/orders`.
        given = [part for part in name.split(" ", 2)[2:] if ":/" in part and "*" not in part]
    if not given:
        return ids[0] if len(ids) == 1 else None
    found = {
        identifier
        for candidate in identify({"paths": given})
        for identifier in ids
        if identifier.namespace == candidate.id.namespace
        and (candidate.id.name + "/").startswith(identifier.name.rstrip("/") + "/")
    }
    return found.pop() if len(found) == 1 else None


def write_statistics(metrics: Metrics, number: int) -> Statistics:
    """Return what the `number`-th physical write counted."""
    writes = [m for m in metrics if str(m.get("node", "")).startswith(_WRITES)]
    return _statistics(writes[number]) if number < len(writes) else Statistics()


def task_statistics(written: Mapping[str, int]) -> Statistics:
    """Return what all tasks of an execution wrote; a source that does not count leaves both at zero."""
    return Statistics(written.get("rows") or None, written.get("size_bytes") or None)


def _statistics(metric: Mapping[str, Any]) -> Statistics:
    counts = (metric.get(name) for name in ("rows", "size_bytes", "files"))
    # A torn record may hold anything.
    return Statistics(*(count if isinstance(count, int) else None for count in counts))


def larger(one: Statistics, other: Statistics) -> Statistics:
    """Return the larger of two reads, count by count; what only one of them knows stays known."""

    def most(left: int | None, right: int | None) -> int | None:
        return right if left is None else left if right is None else max(left, right)

    return _by_count(most, one, other)


def added(one: Statistics, other: Statistics) -> Statistics:
    """Return the sum of two writes, count by count; of one that is unknown the sum is unknown, too."""

    def sum_of(left: int | None, right: int | None) -> int | None:
        return None if left is None or right is None else left + right

    return _by_count(sum_of, one, other)


def _by_count(
    both: Callable[[int | None, int | None], int | None], one: Statistics, other: Statistics
) -> Statistics:
    return Statistics(
        both(one.rows, other.rows), both(one.size_bytes, other.size_bytes), both(one.files, other.files)
    )
