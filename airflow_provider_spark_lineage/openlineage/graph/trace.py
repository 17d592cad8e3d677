"""Traces one column upstream through many jobs, as a tree.

The edges of one write are one step: the columns of an output and their sources. If the input of a job is the
output of another one, the steps are joined.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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


class ColumnTraces:
    """Traces of the columns of one graph, however long the chains of its jobs are."""

    def __init__(self, current: Current, *, kinds: Collection[str] = VALUES) -> None:
        """Follow edges whose kind begins with one of `kinds`; `(*VALUES, "indirect")` follows all."""
        self._steps = _steps(current, tuple(kinds))

    def trace(self, column: Column) -> Origin:
        """Return all sources of a column, as a tree whose root is the column itself.

        A column without edges has no origins.
        """
        followed: set[Column] = set()
        root = _Branch(column, (), iter(self._sources(column).items()))
        followed.add(column)
        path = [root]
        while True:
            branch = path[-1]
            source, how = next(branch.left, (None, None))
            if source is None or how is None:
                path.pop()
                origin = Origin(branch.column, branch.kinds, tuple(branch.origins))
                if not path:
                    return origin
                path[-1].origins.append(origin)
            elif source in followed:
                repeated = Origin(source, tuple(how), repeated=bool(self._sources(source)))
                branch.origins.append(repeated)
            else:
                followed.add(source)
                path.append(_Branch(source, tuple(how), iter(self._sources(source).items())))

    def ends(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns that are not part of the trace of another one of them.

        Of columns that come from each other, the last one counts as the end.
        """
        passed: set[Column] = set()
        ends = []
        for column in reversed(columns):
            if column in passed:
                continue
            ends.append(column)
            waiting = [column]
            for at in waiting:
                for source in self._sources(at):
                    if source not in passed and source != column:
                        passed.add(source)
                        waiting.append(source)
        return [column for column in reversed(ends) if column not in passed]

    def _sources(self, column: Column) -> Mapping[Column, Iterable[str]]:
        return self._steps.get(column, {})


@dataclass
class _Branch:
    """A column whose sources are being followed."""

    column: Column
    kinds: tuple[str, ...]
    left: Iterator[tuple[Column, Iterable[str]]]
    origins: list[Origin] = field(default_factory=list)


def trace_column(current: Current, column: Column, *, kinds: Collection[str] = VALUES) -> Origin:
    """Return the trace of one column; see `ColumnTraces`."""
    return ColumnTraces(current, kinds=kinds).trace(column)


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
