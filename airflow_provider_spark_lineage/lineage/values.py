"""What a value depends on: fields of scans, each with how it acts, and how these sets combine.

Knows no node of a plan; `columns` evaluates those.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from airflow_provider_spark_lineage.plan.algebra import (
    IDENTITY,
    Kind,
    Member,
    Scan,
    Transformation,
    united,
)

Origin = tuple[Scan, int, tuple[str, ...]]
"""(scan, id of its column, path inside the column where it is a struct; empty for the whole column).

Not its name: a frame that was kept may have two columns of one name.
"""

Sources = frozenset[tuple[Origin, Transformation]]
"""Fields of scans, each with how it acts."""


@dataclass(frozen=True)
class Value:
    """What a column depends on, and where it is a struct or an array of structs, each of its fields."""

    whole: Sources = frozenset()
    parts: tuple[Value, ...] = ()
    """Empty where only the whole is known."""

    def __or__(self, other: Value) -> Value:
        """Return the value that depends on all that either depends on."""
        return union((self, other))

    def after(self, step: Transformation) -> Value:
        """Return this value after one more step; any step but identity loses the fields of a struct."""
        return self if step == IDENTITY else Value(apply(step, self.whole))

    def part(self, path: Sequence[Member]) -> Value:
        """Return a field of a struct; where its fields are not known, what the whole depends on."""
        value = self
        for depth, (position, _) in enumerate(path):
            if position >= len(value.parts):
                names = tuple(name for _, name in path[depth:])
                return Value(frozenset(_inside(source, names) for source in value.whole))
            value = value.parts[position]
        return value

    def influenced(self, sources: Sources) -> Value:
        """Return this value where sources act on it as a whole, and so on each of its fields."""
        if not sources:
            return self
        return Value(self.whole | sources, tuple(part.influenced(sources) for part in self.parts))


NOTHING = Value()
"""The value of a literal."""


def apply(step: Transformation, sources: Sources) -> Sources:
    """Return sources after one more step; the same object for identity."""
    return sources if step == IDENTITY else frozenset((origin, step.after(path)) for origin, path in sources)


def _inside(source: tuple[Origin, Transformation], names: tuple[str, ...]) -> tuple[Origin, Transformation]:
    """Return a part of an unchanged field; of a transformed one, the whole field."""
    (scan, column, outer), path = source
    if path.kind is Kind.IDENTITY and all(names):
        return (scan, column, (*outer, *names)), path
    return (scan, column, outer), Transformation(Kind.TRANSFORMATION).after(path)


def column_of(scan: Scan, column: int) -> Value:
    """Return the value that is one column of a scan."""
    return Value(frozenset({((scan, column, ()), IDENTITY)}))


def union(values: Iterable[Value]) -> Value:
    """Return the value that depends on all that any of them depends on; a single one unchanged."""
    values = list(values)
    if len(values) == 1:
        return values[0]
    whole = frozenset[tuple[Origin, Transformation]]().union(*(value.whole for value in values))
    # A value that depends on nothing is a null, which may be a struct of any width.
    return Value(whole, united((value.parts for value in values if value.whole), union))
