"""Merge of reads of one dataset: counts of different folders are added, of the same folders the largest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from airflow_provider_spark_lineage.spark.lineage.model import Input, Statistics
from airflow_provider_spark_lineage.spark.lineage.statistics import added, larger, largest_of_known
from airflow_provider_spark_lineage.spark.sources.dataset import Part

FolderSet = frozenset[str]
"""Folders of a dataset, relative to it; empty for the whole dataset."""

_MAX_SETS = 1000
"""Limit, because each set of folders is compared with every other."""


def together(first: Input, *others: Input) -> Input:
    """Return one input for all reads of a dataset, with separate counts for each set of folders.

    `with_total` adds them up.
    """
    dataset = first.dataset
    all_reads = dict(_by_folders(first))
    for other in others:
        dataset = dataset.merged(other.dataset)
        for folders, (part, counts) in _by_folders(other).items():
            # The same folders may be written in different ways.
            known, before = all_reads.get(folders, (part, Statistics()))
            all_reads[folders] = (known, larger(before, counts))
    if len(all_reads) == 1:
        ((part, counts),) = all_reads.values()
        return replace(first, dataset=dataset.of(part), statistics=counts, by_folders={})
    return replace(first, dataset=dataset, statistics=Statistics(), by_folders=all_reads)


def with_total(read: Input) -> Input:
    """Return all reads of a dataset with their total counts."""
    if not read.by_folders:
        return read
    return replace(
        read, statistics=_total({folders: counts for folders, (_, counts) in read.by_folders.items()})
    )


def _by_folders(read: Input) -> Mapping[FolderSet, tuple[Part, Statistics]]:
    identity = read.dataset.identity
    return read.by_folders or {identity.folders: (identity.part, read.statistics)}


def _total(counts: Mapping[FolderSet, Statistics]) -> Statistics:
    """Return the counts of all reads of a dataset; unknown if two reads share only some of their folders.

    A read whose folders include all folders of another read has read at least as much as the other.
    """
    if len(counts) > _MAX_SETS:
        return Statistics()
    sets = sorted(counts, key=lambda folders: (len(folders), sorted(folders)))
    above = {folders: {each for folder in folders for each in _upwards(folder)} for folders in sets}
    around: dict[FolderSet, list[FolderSet]] = {folders: [] for folders in sets}
    for number, current in enumerate(sets):
        for other in sets[number + 1 :]:
            if current and other.isdisjoint(above[current]) and current.isdisjoint(above[other]):
                continue
            if _covers(other, current):
                around[current].append(other)
            elif _covers(current, other):
                around[other].append(current)
            else:
                return Statistics()
    totals: dict[FolderSet | None, Statistics] = {}
    # The sets around a set are nested, so the innermost of them has the most sets around itself.
    for folders in sorted(sets, key=lambda each: len(around[each]), reverse=True):
        below = totals.get(folders)
        own = counts[folders] if below is None else largest_of_known(counts[folders], below)
        outer = max(around[folders], key=lambda each: len(around[each]), default=None)
        totals[outer] = added(totals[outer], own) if outer in totals else own
    return totals.get(None, Statistics())


def _covers(folders: FolderSet, others: FolderSet) -> bool:
    """Return whether each of the others is one of the folders or inside one; an empty set is all folders."""
    if not folders or (others and others <= folders):
        return True
    return bool(others) and all(any(above in folders for above in _upwards(other)) for other in others)


def _upwards(folder: str) -> Iterator[str]:
    """Yield a folder and its parents."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
