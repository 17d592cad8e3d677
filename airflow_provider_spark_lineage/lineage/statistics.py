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
"""Physical scans of data that Spark itself holds."""


def scan_statistics(
    metrics: Metrics, ids: Sequence[DatasetId], named: Mapping[str, DatasetId | None] | None = None
) -> dict[DatasetId, Statistics]:
    """Return what the largest physical scan of each dataset counted: two scans may read the same rows.

    `named` maps names in physical scans to datasets; None where the count is of no single dataset.
    """
    largest: dict[DatasetId, Statistics] = {}
    for metric in metrics:
        node = str(metric.get("node", ""))
        if not node.startswith(("Scan", "BatchScan")) or node.startswith(_OF_NO_DATASET):
            continue
        name = _name_in_scan(node, named or {})
        dataset = (named or {})[name] if name else _scanned(metric, ids)
        if dataset is not None:
            largest[dataset] = larger(largest.get(dataset, Statistics()), _statistics(metric))
    return largest


def _name_in_scan(node: str, names: Iterable[str]) -> str:
    """Return the name in a physical scan's text; empty where it has none of `names`."""
    name = node.partition(" ")[2]
    # The table's name in Spark may follow it.
    return next(
        (candidate for candidate in names if candidate and (name + " ").startswith(candidate + " ")), ""
    )


def _scanned(metric: Mapping[str, Any], ids: Sequence[DatasetId]) -> DatasetId | None:
    """Find the dataset that a physical scan read: by location, or as the only one there is.

    A scan of several datasets has one count for all, which is not assigned.
    """
    text = str(metric.get("location", "")).partition("[")[2]
    paths = [part.strip() for part in text.rstrip("]. ").split(",") if part.strip() and "..." not in part]
    name = str(metric.get("node", ""))
    if not text and name.startswith("BatchScan"):
        # V2 file sources have the location in the name: `BatchScan parquet file:/in/orders`.
        paths = [part for part in name.split(" ", 2)[2:] if ":/" in part and "*" not in part]
    if not paths:
        return ids[0] if len(ids) == 1 else None
    matches = {
        identifier
        for candidate in identify({"paths": paths})
        for identifier in ids
        if identifier.namespace == candidate.id.namespace
        and (candidate.id.name + "/").startswith(identifier.name.rstrip("/") + "/")
    }
    return matches.pop() if len(matches) == 1 else None


def write_statistics(metrics: Metrics, number: int) -> Statistics:
    """Return what the `number`-th physical write counted."""
    writes = [m for m in metrics if str(m.get("node", "")).startswith(_WRITES)]
    return _statistics(writes[number]) if number < len(writes) else Statistics()


def task_statistics(written: Mapping[str, int], *, counts_all: bool) -> Statistics:
    """Return what all tasks of an execution wrote; `counts_all` of a target that counts rows and bytes.

    Other targets may leave both at zero because they do not count. One that counted bytes counts rows too,
    but a file without rows may be discarded, as Delta does.
    """
    rows, size_bytes = written.get("rows"), written.get("size_bytes")
    if counts_all:
        return Statistics(rows, size_bytes)
    if rows == 0 and size_bytes:
        return Statistics(0)
    return Statistics(rows, size_bytes or None) if rows else Statistics()


def _statistics(metric: Mapping[str, Any]) -> Statistics:
    counts = (metric.get(name) for name in ("rows", "size_bytes", "files"))
    # A damaged record may have other types here.
    return Statistics(*(count if isinstance(count, int) else None for count in counts))


def larger(first: Statistics, second: Statistics) -> Statistics:
    """Return the larger of two reads, count by count; a count that only one has is used."""

    def most(left: int | None, right: int | None) -> int | None:
        return right if left is None else left if right is None else max(left, right)

    return _by_count(most, first, second)


def added(first: Statistics, second: Statistics) -> Statistics:
    """Return the sum of two writes, count by count; unknown where either is unknown."""

    def sum_of(left: int | None, right: int | None) -> int | None:
        return None if left is None or right is None else left + right

    return _by_count(sum_of, first, second)


def _by_count(
    both: Callable[[int | None, int | None], int | None], first: Statistics, second: Statistics
) -> Statistics:
    return Statistics(
        both(first.rows, second.rows),
        both(first.size_bytes, second.size_bytes),
        both(first.files, second.files),
    )
