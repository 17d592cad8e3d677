"""Resolves names of datasets: a name in events is the dataset itself, or a symlink to another one.

A symlink (`db.t` at a folder) holds from the time it was said until it is said of another location, so that
two locations are never one dataset. Before that, it holds for the first location.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.openlineage.events.model import Event
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of, object_at, objects

_MOST_STEPS = 10
"""Limit of names that lead from one to the next; real ones are one or two."""


@dataclass
class _Owners:
    """The datasets that one name has stood for, oldest first, each with its time."""

    times: list[int] = field(default_factory=list)
    owners: list[Id] = field(default_factory=list)


class DatasetNames:
    """The symlinks in some events, each with its time.

    >>> def event(time, *symlinks):
    ...     identifiers = [{"namespace": "hive", "name": name, "type": "TABLE"} for name in symlinks]
    ...     return Event({"eventTime": time, "outputs": [{"namespace": "file", "name": "/a", "facets": {
    ...         "symlinks": {"identifiers": identifiers}}}]})
    >>> DatasetNames.of([event("2026-01-01T00:00:00Z", "db.t")]).resolve(("hive", "db.t"), 0)
    ('file', '/a')
    """

    def __init__(self, symlinks: dict[Id, _Owners], contradictions: Iterable[Id]) -> None:
        self._symlinks = symlinks
        self.contradictions = tuple(sorted(contradictions))
        """Names that were said of one location, of another, and of the first again: none is followed."""

    @classmethod
    def of(cls, events: Iterable[Event]) -> DatasetNames:
        """Return the names that events of any order say; events without a time say them before all others."""
        return cls.said((event.time_ns or 0, *names) for event in events for names in symlinks_of(event))

    @classmethod
    def said(cls, statements: Iterable[tuple[int, Id, Id]]) -> DatasetNames:
        """Return the names of some statements: a time, a symlink, and the dataset that it means then.

        The first and the last time of each pair of names are enough.
        """
        symlinks: dict[Id, _Owners] = {}
        contradictory: set[Id] = set()
        for time, alias, owner in sorted(set(statements)):
            known = symlinks.setdefault(alias, _Owners())
            if known.owners and known.owners[-1] == owner:
                continue
            if owner in known.owners or (known.times and known.times[-1] == time):
                contradictory.add(alias)
            known.times.append(time)
            known.owners.append(owner)
        return cls(
            {alias: known for alias, known in symlinks.items() if alias not in contradictory}, contradictory
        )

    def resolve(self, name: Id, time: int) -> Id:
        """Return the dataset that a name means at a time, in nanoseconds since 1970."""
        if name not in self._symlinks:
            return name
        visited = [name]
        while name in self._symlinks and len(visited) < _MOST_STEPS:
            known = self._symlinks[name]
            name = known.owners[max(bisect_right(known.times, time) - 1, 0)]
            if name in visited:
                # Two producers call one dataset by two names, each a symlink of the other.
                return min(visited[visited.index(name) :])
            visited.append(name)
        return name

    def moved(self) -> Iterator[tuple[Id, list[tuple[int, Id]]]]:
        """Yield each symlink that is followed, with its datasets, oldest first, and their times."""
        for alias, known in self._symlinks.items():
            yield alias, list(zip(known.times, known.owners, strict=True))

    def depending_on_time(self) -> set[Id]:
        """Return the symlinks that lead to different datasets at different times."""
        changing = {alias for alias, known in self._symlinks.items() if len(known.owners) > 1}
        while more := {
            alias
            for alias, known in self._symlinks.items()
            if alias not in changing and known.owners[0] in changing
        }:
            changing |= more
        return changing

    def aliases(self) -> Iterator[tuple[Id, Id]]:
        """Yield each symlink with the dataset that it means now."""
        for alias, known in self._symlinks.items():
            yield alias, self.resolve(alias, known.times[-1])


def symlinks_of(event: Event) -> Iterator[tuple[Id, Id]]:
    """Yield the symlinks that an event states, each with its dataset."""
    for key in ("inputs", "outputs"):
        for dataset in objects(event.document.get(key)):
            owner = id_of(dataset)
            for identifier in objects(object_at(dataset, "facets", "symlinks").get("identifiers")):
                alias = id_of(identifier)
                if alias != owner and alias[1]:
                    yield alias, owner
