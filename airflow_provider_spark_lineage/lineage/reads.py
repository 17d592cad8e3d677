"""Merges reads of one dataset: reads of different folders add, of the same folders the largest counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from airflow_provider_spark_lineage.lineage.model import Input, Statistics
from airflow_provider_spark_lineage.lineage.statistics import added, larger, largest_of_known

Folders = frozenset[str]
"""Folders of a dataset, relative to it; empty for all of it."""


def together(first: Input, *others: Input) -> Input:
    """Return one input for all reads of a dataset, which keeps the counts of each set of folders apart.

    `counted` adds them up.
    """
    dataset = first.dataset
    parts = {folders: (locations, counts) for folders, locations, counts in _parts(first)}
    for other in others:
        dataset = dataset.merged(other.dataset)
        for folders, locations, counts in _parts(other):
            # The same folders may be written in different ways.
            known, before = parts.get(folders, (locations, Statistics()))
            parts[folders] = (known, larger(before, counts))
    if len(parts) == 1:
        ((locations, counts),) = parts.values()
        return replace(first, dataset=dataset.of(locations), statistics=counts, parts=())
    several = tuple((folders, *parts[folders]) for folders in parts)
    return replace(first, dataset=dataset, statistics=Statistics(), parts=several)


def counted(read: Input) -> Input:
    """Return all reads of a dataset with the counts of all of them."""
    if not read.parts:
        return read
    return replace(read, statistics=total({folders: counts for folders, _, counts in read.parts}))


def _parts(read: Input) -> tuple[tuple[Folders, tuple[str, ...], Statistics], ...]:
    identity = read.dataset.identity
    return read.parts or ((identity.folders, identity.locations, read.statistics),)


def total(counts: Mapping[Folders, Statistics]) -> Statistics:
    """Return the counts of all reads of a dataset; unknown where two reads share some of their folders.

    A read of all of another's folders has read at least as much as that one.
    """
    every = frozenset[str]()
    if every in counts:
        below = {folders: counts[folders] for folders in counts if folders}
        return largest_of_known(counts[every], total(below)) if below else counts[every]
    readers: dict[str, list[Folders]] = {}
    for folders in counts:
        for folder in folders:
            readers.setdefault(folder, []).append(folders)
    inside: dict[Folders, set[Folders]] = {}
    covered: set[Folders] = set()
    for folders in counts:
        above = {each for folder in folders for each in _upwards(folder)}
        for other in {reader for folder in above for reader in readers.get(folder, ())} - {folders}:
            outer, inner = (other, folders) if _covers(other, folders) else (folders, other)
            if not _covers(outer, inner):
                return Statistics()
            inside.setdefault(outer, set()).add(inner)
            covered.add(inner)
    result: Statistics | None = None
    for folders in counts:
        if folders not in covered:
            below = {other: counts[other] for other in inside.get(folders, ())}
            own = largest_of_known(counts[folders], total(below)) if below else counts[folders]
            result = own if result is None else added(result, own)
    return result or Statistics()


def _covers(folders: Folders, others: Folders) -> bool:
    """Return whether each of the others is one of the folders or inside one."""
    return all(any(above in folders for above in _upwards(other)) for other in others)


def _upwards(folder: str) -> Iterator[str]:
    """Yield a folder and those that it is in."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
