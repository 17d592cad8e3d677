"""Follow one column upstream through the events of many tasks.

A `columnLineage` facet describes one step: the columns of an output and what they came from. Where the input
of one task is the output of another, this module joins the steps. It reads events as plain dictionaries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Column:
    """A field of a dataset, named as OpenLineage names it."""

    namespace: str
    dataset: str
    field: str


@dataclass(frozen=True)
class Origin:
    """A column, how the column below it depends on it, and the columns that it comes from.

    >>> event = {"outputs": [{"namespace": "file", "name": "/out", "facets": {"columnLineage": {"fields": {
    ...     "total": {"inputFields": [{"namespace": "file", "name": "/in", "field": "amount",
    ...         "transformations": [{"type": "DIRECT", "subtype": "AGGREGATION"}]}]}}}}}]}
    >>> [origin] = trace_column([event], Column("file", "/out", "total")).origins
    >>> origin.column.field, origin.kinds
    ('amount', ('direct aggregation',))
    """

    column: Column

    kinds: tuple[str, ...] = ()
    """For example `direct aggregation`; empty at the root of a trace."""

    origins: tuple[Origin, ...] = ()

    repeated: bool = False
    """The column is in the trace already, as an ancestor or elsewhere, and is not followed again."""


VALUES = ("direct",)
"""Kinds of edges that carry the value itself."""

DECISIONS = ("indirect conditional", "indirect window")
"""Kinds of edges that choose the value of one field: what a CASE tests, what a rank is ordered by."""


def trace_column(
    events: Iterable[Mapping[str, Any]], column: Column, *, kinds: Collection[str] = VALUES
) -> Origin:
    """Return everything that a column comes from, as a tree whose root is the column itself.

    Only edges of the given kinds, or of kinds that begin with one of them, are followed; for everything, ask
    for `(*VALUES, "indirect")`. A column that no event describes has no origins.
    """
    steps = _steps(events, tuple(kinds))
    followed: set[Column] = set()

    def follow(column: Column, kinds: tuple[str, ...]) -> Origin:
        sources = steps.get(column, {})
        if column in followed:
            return Origin(column, kinds, repeated=bool(sources))
        followed.add(column)
        return Origin(column, kinds, tuple(follow(source, tuple(how)) for source, how in sources.items()))

    return follow(column, ())


def _steps(
    events: Iterable[Mapping[str, Any]], followed: tuple[str, ...]
) -> dict[Column, dict[Column, dict[str, None]]]:
    """Return the edges of all events: output column, input column, kinds in order of appearance.

    Several events may describe the same output: those of a task and of its child runs.
    """
    steps: dict[Column, dict[Column, dict[str, None]]] = {}
    for event in events:
        for output in _objects(event.get("outputs")):
            for field, edge in _edges(_object(output.get("facets"))):
                kinds = [kind for kind in _kinds(edge) if kind.startswith(followed)]
                if kinds:
                    below = Column(_text(output, "namespace"), _text(output, "name"), field)
                    above = Column(_text(edge, "namespace"), _text(edge, "name"), _text(edge, "field"))
                    steps.setdefault(below, {}).setdefault(above, {}).update(dict.fromkeys(kinds))
    return steps


def _edges(facets: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each field of an output with each of its edges, those of the whole dataset included."""
    facet = _object(facets.get("columnLineage"))
    schema = _objects(_object(facets.get("schema")).get("fields"))
    fields = {**{str(field.get("name")): {} for field in schema}, **_object(facet.get("fields"))}
    for name, described in fields.items():
        for edge in (*_objects(_object(described).get("inputFields")), *_objects(facet.get("dataset"))):
            yield name, edge


def _object(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; an empty one where an event has something else in its place."""
    return value if isinstance(value, Mapping) else {}


def _text(value: Mapping[str, Any], key: str) -> str:
    text = value.get(key)
    return text if isinstance(text, str) else ""


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _kinds(edge: Mapping[str, Any]) -> list[str]:
    """Return the transformations of an edge as text; one without any is taken for a direct copy."""
    return [
        " ".join(str(how[key]).lower() for key in ("type", "subtype") if how.get(key))
        for how in _objects(edge.get("transformations")) or [{"type": "DIRECT"}]
    ]
