"""Traces one column upstream through many jobs, as a tree.

The edges of one write are one step: the columns of an output and their sources. If the input of a job is the
output of another one, the steps are joined.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobWrite
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import ColumnEdge


@dataclass(frozen=True)
class Column:
    """A field of a dataset, named as OpenLineage names it."""

    namespace: str
    dataset: str
    field: str


@dataclass(frozen=True)
class Origin:
    """A column, the kinds of edges to the column below it, and its sources.

    >>> from airflow_provider_spark_lineage.openlineage.events.model import Events
    >>> output = {"namespace": "file", "name": "/out", "facets": {"columnLineage": {"fields": {
    ...     "total": {"inputFields": [{"namespace": "file", "name": "/in", "field": "amount",
    ...         "transformations": [{"type": "DIRECT", "subtype": "AGGREGATION"}]}]}}}}}
    >>> event = {"eventType": "COMPLETE", "job": {"name": "sum"}, "run": {"runId": "1"}, "outputs": [output]}
    >>> [origin] = trace_column(Current.of(Events.of([event])), Column("file", "/out", "total")).origins
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


def trace_column(current: Current, column: Column, *, kinds: Collection[str] = VALUES) -> Origin:
    """Return all sources of a column, as a tree whose root is the column itself.

    Only edges whose kind begins with one of the given kinds are followed; `(*VALUES, "indirect")` follows
    all. A column without edges has no origins.
    """
    steps = _steps(current, tuple(kinds))
    followed: set[Column] = set()

    def follow(column: Column, kinds: tuple[str, ...]) -> Origin:
        sources = steps.get(column, {})
        if column in followed:
            return Origin(column, kinds, repeated=bool(sources))
        followed.add(column)
        return Origin(column, kinds, tuple(follow(source, tuple(how)) for source, how in sources.items()))

    return follow(column, ())


def _steps(current: Current, followed: tuple[str, ...]) -> dict[Column, dict[Column, dict[str, None]]]:
    """Return the edges of all writes: output column, input column, kinds in order of appearance."""
    steps: dict[Column, dict[Column, dict[str, None]]] = {}
    for write in current.writes:
        whole = [edge for edge in write.edges if edge.column is None]
        for name, edges in _fields(write).items():
            for edge in (*edges, *whole):
                kind = " ".join(filter(None, (edge.type, edge.subtype))).lower()
                if kind.startswith(followed):
                    above = steps.setdefault(Column(*write.output, name), {})
                    above.setdefault(Column(*edge.source, edge.field), {})[kind] = None
    return steps


def _fields(write: JobWrite) -> dict[str, list[ColumnEdge]]:
    """Return the columns of an output, of its schema and of its edges, each with its edges."""
    fields: dict[str, list[ColumnEdge]] = {name: [] for name, _ in write.fields}
    for edge in write.edges:
        if edge.column is not None:
            fields.setdefault(edge.column, []).append(edge)
    return fields
