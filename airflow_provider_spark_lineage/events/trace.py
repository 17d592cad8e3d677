"""Follow one column upstream through the events of many tasks.

A `columnLineage` facet describes one step: the columns of an output and what they came from. Where the input
of one task is the output of another, the steps join; this module joins them and does nothing else. It reads
events as plain dictionaries and knows nothing of Airflow or Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """A column, how the column below it was made from it, and what it was made from itself.

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
    """The column occurs earlier in the trace, in its own ancestry or beside it, and is not followed again."""


def trace_column(events: Iterable[Mapping[str, Any]], column: Column, *, indirect: bool = False) -> Origin:
    """Return everything that a column was made from, as a tree whose root is the column itself.

    Only values are followed. With `indirect`, also what decided about rows and order: filters, joins,
    grouping, sorting, windows, conditions. A column that no event describes has no origins.
    """
    steps = _steps(events, indirect=indirect)
    followed: set[Column] = set()

    def follow(here: Column, kinds: tuple[str, ...]) -> Origin:
        made_from = steps.get(here, {})
        if here in followed:
            return Origin(here, kinds, repeated=bool(made_from))
        followed.add(here)
        return Origin(here, kinds, tuple(follow(above, tuple(how)) for above, how in made_from.items()))

    return follow(column, ())


def _steps(
    events: Iterable[Mapping[str, Any]], *, indirect: bool
) -> dict[Column, dict[Column, dict[str, None]]]:
    """Collect the edges of all events: output column, input column, kinds in order of appearance.

    Several events may describe the same output, as those of a task and of its Spark executions do.
    """
    steps: dict[Column, dict[Column, dict[str, None]]] = {}
    for event in events:
        for output in event.get("outputs") or ():
            facets = output.get("facets") or {}
            facet = facets.get("columnLineage") or {}
            of_all_rows = facet.get("dataset") or ()
            schema = (facets.get("schema") or {}).get("fields") or ()
            fields = {**{field["name"]: {} for field in schema}, **(facet.get("fields") or {})}
            for name, described in fields.items():
                column = Column(output["namespace"], output["name"], name)
                for edge in (*(described.get("inputFields") or ()), *of_all_rows):
                    kinds = [kind for kind in _kinds(edge) if indirect or kind.startswith("direct")]
                    if kinds:
                        above = Column(edge["namespace"], edge["name"], edge["field"])
                        steps.setdefault(column, {}).setdefault(above, {}).update(dict.fromkeys(kinds))
    return steps


def _kinds(edge: Mapping[str, Any]) -> list[str]:
    """Name the transformations of an edge; one without any is a plain copy of unknown kind, and direct."""
    return [
        " ".join(str(how[key]).lower() for key in ("type", "subtype") if how.get(key))
        for how in edge.get("transformations") or [{"type": "DIRECT"}]
    ]
