"""Traces one column upstream through the events of many tasks.

A `columnLineage` facet describes one step: the columns of an output and their sources. If the input of one
task is the output of another, this module joins the steps. It reads events as plain dictionaries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.shapes import object_at, objects, text


@dataclass(frozen=True)
class Column:
    """A field of a dataset, named as OpenLineage names it."""

    namespace: str
    dataset: str
    field: str


@dataclass(frozen=True)
class Origin:
    """A column, the kinds of edges to the column below it, and its sources.

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
    """The column is already in the trace, as an ancestor or elsewhere, and is not followed again."""


VALUES = ("direct",)
"""Kinds of edges that carry the value itself."""

DECISIONS = ("indirect conditional", "indirect window")
"""Kinds of edges that choose the value of one field: the conditions of a CASE, the order of a rank."""


def trace_column(
    events: Iterable[Mapping[str, Any]], column: Column, *, kinds: Collection[str] = VALUES
) -> Origin:
    """Return all sources of a column, as a tree whose root is the column itself.

    Only edges whose kind begins with one of the given kinds are followed; `(*VALUES, "indirect")` follows
    all. A column that no event describes has no origins.
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

    Several events may describe the same output: events of a task and of its child runs.
    """
    steps: dict[Column, dict[Column, dict[str, None]]] = {}
    for event in events:
        for output in objects(event.get("outputs")):
            for field, edge in _edges(object_at(output.get("facets"))):
                kinds = [kind for kind in _kinds(edge) if kind.startswith(followed)]
                if kinds:
                    below = Column(text(output.get("namespace")), text(output.get("name")), field)
                    above = Column(
                        text(edge.get("namespace")), text(edge.get("name")), text(edge.get("field"))
                    )
                    steps.setdefault(below, {}).setdefault(above, {}).update(dict.fromkeys(kinds))
    return steps


def _edges(facets: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each field of an output with each of its edges and of the dataset's edges."""
    facet = object_at(facets.get("columnLineage"))
    schema = objects(object_at(facets.get("schema")).get("fields"))
    fields = {**{str(field.get("name")): {} for field in schema}, **object_at(facet.get("fields"))}
    for name, described in fields.items():
        for edge in (*objects(object_at(described).get("inputFields")), *objects(facet.get("dataset"))):
            yield name, edge


def _kinds(edge: Mapping[str, Any]) -> list[str]:
    """Return the transformations of an edge as text; an edge without any is treated as a direct copy."""
    return [
        " ".join(str(how[key]).lower() for key in ("type", "subtype") if how.get(key))
        for how in objects(edge.get("transformations")) or [{"type": "DIRECT"}]
    ]
