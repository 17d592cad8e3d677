"""Sources of values: fields of scans, each with how it acts, and how sets of sources combine.

`columns` evaluates the nodes of a plan with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from airflow_provider_spark_lineage.spark.plan.algebra import (
    IDENTITY,
    PRESENCE,
    Kind,
    Member,
    Scan,
    Transformation,
    in_all,
    united,
)

Origin = tuple[Scan, int, tuple[str, ...]]
"""(scan, id of its column, path inside a struct column; empty for the whole column).

The id and not the name, because a kept frame may have two columns of one name.
"""

Sources = frozenset[tuple[Origin, Transformation]]
"""Fields of scans, each with how it acts."""


@dataclass(frozen=True)
class ColumnValue:
    """The sources of a column; for a struct or an array of structs, also the sources of each field."""

    whole: Sources = frozenset()
    members: tuple[ColumnValue, ...] = ()
    """Empty if only the whole is known."""

    def __or__(self, other: ColumnValue) -> ColumnValue:
        """Return the value with the sources of both."""
        return union((self, other))

    def after(self, step: Transformation) -> ColumnValue:
        """Return this value after one more step; any step but identity loses the fields of a struct."""
        return self if step == IDENTITY else ColumnValue(apply(step, self.whole))

    def member(self, path: Sequence[Member]) -> ColumnValue:
        """Return a field of a struct; if its fields are unknown, the sources of the whole."""
        value = self
        for depth, (position, _) in enumerate(path):
            if path[depth] == PRESENCE:
                return value.presence()
            if position >= len(value.members):
                names = tuple(member[1] for member in path[depth:] if member != PRESENCE)
                return ColumnValue(frozenset(_inside(source, names) for source in value.whole))
            value = value.members[position]
        return value

    def presence(self) -> ColumnValue:
        """Return what decides whether the struct is null: not its fields, but what acts on all of them.

        A field of another struct is null with that struct.
        """
        if not self.members:
            return self
        common = in_all([(source[0], source) for source in member.whole] for member in self.members)
        around = (
            ((scan, column, path[:-1]), step)
            for member in self.members
            for (scan, column, path), step in member.whole
            if path
        )
        return ColumnValue(frozenset((*common, *around)))

    def influenced(self, sources: Sources) -> ColumnValue:
        """Return this value with sources that act on it as a whole, and therefore on each of its fields."""
        if not sources:
            return self
        return ColumnValue(self.whole | sources, tuple(member.influenced(sources) for member in self.members))


NOTHING = ColumnValue()
"""The value of a literal."""


def apply(step: Transformation, sources: Sources) -> Sources:
    """Return sources after one more step; the same object for identity."""
    return sources if step == IDENTITY else frozenset((origin, step.after(path)) for origin, path in sources)


def _inside(source: tuple[Origin, Transformation], names: tuple[str, ...]) -> tuple[Origin, Transformation]:
    """Return a part of an unchanged field; for a transformed field, the whole field."""
    (scan, column, outer), path = source
    if path.kind is Kind.IDENTITY and all(names):
        return (scan, column, (*outer, *names)), path
    return (scan, column, outer), Transformation(Kind.TRANSFORMATION).after(path)


def column_of(scan: Scan, column: int) -> ColumnValue:
    """Return the value of a column of a scan."""
    return ColumnValue(frozenset({((scan, column, ()), IDENTITY)}))


def union(values: Iterable[ColumnValue]) -> ColumnValue:
    """Return the value with the sources of all values; a single value is returned unchanged."""
    values = list(values)
    if len(values) == 1:
        return values[0]
    whole = frozenset[tuple[Origin, Transformation]]().union(*(value.whole for value in values))
    # A value without sources is a null, which may be a struct of any width.
    return ColumnValue(whole, united((value.members for value in values if value.whole), union))
