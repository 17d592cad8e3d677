"""Assignment of Spark's counts in physical scans and writes to the datasets of an execution."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.spark.lineage.model import Statistics
from airflow_provider_spark_lineage.spark.plan.spark.explain.physical import split_paths
from airflow_provider_spark_lineage.spark.sources import identify
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

Metrics = Sequence[Mapping[str, Any]]

_WRITES = ("Execute", "AppendData", "Overwrite", "ReplaceData", "WriteDelta")
_OF_NO_DATASET = ("Scan ExistingRDD", "Scan OneRowRelation", "Scan In-memory table")
"""Physical scans of data that Spark itself holds."""

_LOCATION = re.compile(r"\w* ?\((\d+) paths\)\[(.*)\]", re.DOTALL)


def scan_statistics(
    metrics: Metrics,
    read: Iterable[Identity],
    named: Mapping[str, DatasetId | None] | None = None,
    shared: Collection[DatasetId] = (),
) -> dict[tuple[DatasetId, frozenset[str]], Statistics]:
    """Return the counts of the largest physical scan of each dataset: two scans may read the same rows.

    Folders of a dataset that are read separately are counted separately. `named` maps names in physical
    scans to datasets, or to None if the count is for several datasets. `shared` are datasets that one scan
    reads together with others.
    """
    named = named or {}
    folders: defaultdict[DatasetId, set[frozenset[str]]] = defaultdict(set)
    for identity in read:
        folders[identity.id].add(identity.folders)
    names, places = _by_first_word(named), _by_place(folders)
    largest: dict[tuple[DatasetId, frozenset[str]], Statistics] = {}
    uncertain: set[DatasetId] = set()
    for metric in metrics:
        node = str(metric.get("node", ""))
        if not node.startswith(("Scan", "BatchScan")) or node.startswith(_OF_NO_DATASET):
            continue
        name, paths = _name_in_scan(node, names), _paths(metric)
        dataset = named[name] if name else _scanned(paths, folders, places, shared)
        if dataset is None:
            continue
        apart = folders.get(dataset, set())
        scanned = Identity(dataset, locations=paths.listed).folders if len(apart) > 1 else frozenset(*apart)
        if len(apart) > 1 and (scanned not in apart or not paths.complete):
            uncertain.add(dataset)
        else:
            counts = largest.get((dataset, scanned), Statistics())
            largest[dataset, scanned] = larger(counts, _statistics(metric))
    return {key: counts for key, counts in largest.items() if key[0] not in uncertain}


def _by_first_word(names: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Return names by their first word: a query may have thousands of scans, each with a name."""
    by_word: defaultdict[str, list[str]] = defaultdict(list)
    for name in filter(None, names):
        by_word[name.partition(" ")[0]].append(name)
    return by_word


def _name_in_scan(node: str, names: Mapping[str, Sequence[str]]) -> str:
    """Return which name a physical scan's text has, of `names` by their first word; empty if none."""
    # The table's name in Spark may follow it.
    text = node.partition(" ")[2] + " "
    alike = names.get(text.partition(" ")[0], ())
    return next((name for name in alike if text.startswith(name + " ")), "")


_Places = Mapping[tuple[str, str], DatasetId]


class _Paths(NamedTuple):
    """The paths in the text of a physical scan."""

    listed: tuple[str, ...] = ()
    complete: bool = True
    """Spark cuts long lists."""


def _paths(metric: Mapping[str, Any]) -> _Paths:
    """Return the paths that a physical scan names, `InMemoryFileIndex(2 paths)[file:/a, file:/b]`."""
    location, node = str(metric.get("location", "")), str(metric.get("node", ""))
    match = _LOCATION.fullmatch(location.strip())
    if match:
        listed, is_cut = split_paths(match[2], int(match[1]))
        return _Paths(listed, not is_cut)
    if location:
        return _Paths((), complete=False)
    # V2 file sources have the location in the name: `BatchScan parquet file:/in/orders`.
    text = node.split(" ", 2)[-1] if node.startswith("BatchScan") else ""
    return _Paths(split_paths(text)[0]) if ":/" in text and "*" not in text else _Paths()


def _scanned(
    paths: _Paths, ids: Collection[DatasetId], places: _Places, shared: Collection[DatasetId]
) -> DatasetId | None:
    """Find the dataset that a physical scan read: by location, or because there is only one dataset.

    A scan of several datasets has one count for all of them, which is not assigned.
    """
    if not paths.listed:
        return next(iter(ids)) if len(ids) == 1 else None
    matches = {_dataset_at(candidate.id, places) for candidate in identify({"paths": list(paths.listed)})}
    match = matches.pop() if len(matches) == 1 else None
    return match if paths.complete or match not in shared else None


def _by_place(ids: Iterable[DatasetId]) -> _Places:
    """Return datasets by namespace and name without a slash at its end."""
    places: dict[tuple[str, str], DatasetId] = {}
    for each in ids:
        places.setdefault((each.namespace, each.name.rstrip("/")), each)
    return places


def _dataset_at(place: DatasetId, places: _Places) -> DatasetId | None:
    """Return the innermost dataset at a place or around it."""
    name, slash = f"{place.name}/", "/"
    while slash:
        name, slash, _ = name.rpartition("/")
        if slash and (dataset := places.get((place.namespace, name))) is not None:
            return dataset
    return None


def write_statistics(metrics: Metrics, number: int) -> Statistics:
    """Return the counts of the `number`-th physical write."""
    writes = [m for m in metrics if str(m.get("node", "")).startswith(_WRITES)]
    return _statistics(writes[number]) if number < len(writes) else Statistics()


def task_statistics(written: Mapping[str, int], *, counts_all: bool) -> Statistics:
    """Return the counts of all tasks of an execution; `counts_all`: the target counts rows and bytes.

    Other targets may leave both at zero because they do not count. A target that counted bytes also counts
    rows, but it may discard a file without rows, as Delta does.
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
    """Return the larger of two reads, count by count; if only one read has a count, that count."""
    return _by_count(lambda known: max(known, default=None), first, second)


def added(first: Statistics, second: Statistics) -> Statistics:
    """Return the sum of two writes, count by count; unknown where either is unknown."""
    return _by_count(lambda known: sum(known) if len(known) == 2 else None, first, second)


def largest_of_known(first: Statistics, part: Statistics) -> Statistics:
    """Return the larger count of a read and of a part of it; a count that the read lacks is unknown."""
    most = larger(first, part)
    return Statistics(*(None if own is None else count for own, count in zip(first, most, strict=True)))


def _by_count(
    of_known: Callable[[list[int]], int | None], first: Statistics, second: Statistics
) -> Statistics:
    """Return the result of a function of the known counts of two reads or writes, count by count."""
    pairs = zip(first, second, strict=True)
    return Statistics(*(of_known([count for count in pair if count is not None]) for pair in pairs))
