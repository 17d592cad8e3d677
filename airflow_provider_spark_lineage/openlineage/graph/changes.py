"""Compares two versions of a data flow by their meaning: columns, their sources, and what decides the rows.

Run ids, times, counts, versions of producers, the order and the names of jobs have no meaning here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobWrite
from airflow_provider_spark_lineage.openlineage.graph.impact import Impact
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import (
    NO_COLUMNS,
    UNKNOWN_INPUTS,
    ColumnEdge,
    JobName,
)
from airflow_provider_spark_lineage.openlineage.graph.selection import Selected, whole_name
from airflow_provider_spark_lineage.openlineage.graph.types import type_key

BREAKING, CHANGED, ADDED, UNKNOWN = "breaking", "changed", "added", "unknown"

SEVERITIES = (BREAKING, UNKNOWN, CHANGED, ADDED)
"""In the order of a report. `unknown`: a new gap hides what changed."""

SourceKey = tuple[Id, str, str, str]
"""A dataset, a column, and the type and subtype of the edge from it."""


@dataclass(frozen=True)
class FlowChange:
    """One change of the meaning of a dataset or of a column."""

    severity: str
    kind: str
    dataset: Id
    field: str | None = None
    hits: tuple[JobName, ...] = ()
    """The jobs downstream that it concerns."""
    before: str = ""
    after: str = ""
    """The former and the new value, as texts for a person."""
    renamed_to: str | None = None
    """For a removed column: a new one with equal sources and type."""

    def document(self) -> dict[str, Any]:
        """Return the change as a JSON object."""
        return {
            "severity": self.severity,
            "kind": self.kind,
            "namespace": self.dataset[0],
            "name": self.dataset[1],
            "field": self.field,
            "hits": [job._asdict() for job in self.hits],
            "before": self.before,
            "after": self.after,
            "renamed_to": self.renamed_to,
        }


def changes_of(base: Current, head: Current, production: Current | None = None) -> list[FlowChange]:
    """Return the changes from one version to another, the most severe first.

    With `production`, its jobs count as those downstream, where neither version has them. Raise
    `BadInputError` if the versions have no dataset in common.
    """
    if (base.datasets or head.datasets) and not set(base.datasets) & set(head.datasets):
        raise BadInputError(
            "BASE and HEAD have no dataset in common: compare two versions of one pipeline, with the same"
            " names of datasets."
        )
    return compared(base, head, production)


def compared(base: Current, head: Current, production: Current | None = None) -> list[FlowChange]:
    """Return the changes as `changes_of` does, also if the versions have no dataset in common."""
    changes = [*_FlowComparison(base, head, _world(base, head, production)).changes()]
    return sorted(
        changes,
        key=lambda each: (SEVERITIES.index(each.severity), each.dataset, each.field or "", each.kind),
    )


def _world(base: Current, head: Current, production: Current | None) -> Current:
    """Return the lineage after the change: that of `head`, and of jobs that `head` does not have."""
    writes, reads, runs = [*head.writes], [*head.reads], dict(head.runs)
    for older in filter(None, (base, production)):
        # A job of another name that writes the same is the same one, if its name is new.
        renamed = {write.output for write in writes if write.job not in older.runs}
        replaced = {write.job for write in older.writes if write.output in renamed}
        new = [write for write in older.writes if write.job not in runs and write.output not in renamed]
        readers = [read for read in older.reads if read.job not in runs and read.job not in replaced]
        runs = {**older.runs, **runs}
        writes += new
        reads += readers
    return Current(tuple(writes), tuple(reads), runs)


class _Flow:
    """The lineage of one dataset in one version, by all jobs that write it."""

    def __init__(self, current: Current, dataset: Id) -> None:
        self.writes = current.writers.get(dataset, ())
        self.types: Mapping[str, str] = dict(current.fields.get(dataset, ()))
        self.gaps = {
            (gap["column"], gap["kind"]): gap["reason"] for write in self.writes for gap in write.gaps
        }

    @cached_property
    def edges(self) -> Mapping[str | None, tuple[ColumnEdge, ...]]:
        """The edges of each column, and, under None, of all rows."""
        edges: dict[str | None, dict[ColumnEdge, None]] = {}
        for write in self.writes:
            for edge in write.edges:
                edges.setdefault(edge.column, {})[edge] = None
        return {column: tuple(some) for column, some in edges.items()}

    @cached_property
    def columns(self) -> list[str]:
        """The columns of its schema; without a schema, those that have edges."""
        return [*self.types] or [column for column in self.edges if column is not None]

    def sources(self, column: str | None) -> set[SourceKey]:
        """Return the sources of a column, or of all rows."""
        return {(each.source, each.field, each.type, each.subtype) for each in self.edges.get(column, ())}

    def is_masked(self, column: str) -> Mapping[tuple[Id, str], bool]:
        """Return for each source of a column's values whether all edges from it mask."""
        masked: dict[tuple[Id, str], bool] = {}
        for edge in self.edges.get(column, ()):
            if edge.type == "DIRECT":
                source = edge.source, edge.field
                masked[source] = masked.get(source, True) and edge.masking
        return masked

    @cached_property
    def fed_by(self) -> set[Id]:
        """The datasets that it was made from."""
        return {source for write in self.writes for source in write.sources}

    @cached_property
    def explained(self) -> set[Id]:
        """The sources of its edges."""
        return {edge.source for some in self.edges.values() for edge in some}


class _FlowComparison:
    def __init__(self, base: Current, head: Current, world: Current) -> None:
        self._base, self._head, self._world = base, head, world

    @cached_property
    def _graph(self) -> LineageGraph:
        return LineageGraph.of(self._world)

    def changes(self) -> Iterator[FlowChange]:
        base, head = self._base, self._head
        gone = (set(base.datasets) - set(head.datasets)) | (base.writers.keys() - head.writers.keys())
        new = (set(head.datasets) - set(base.datasets)) | (head.writers.keys() - base.writers.keys())
        for dataset in sorted(gone):
            # A dataset that is only read is somebody else's, and stays.
            hits = self._hits(dataset) if dataset in base.writers else ()
            yield FlowChange(BREAKING if hits else CHANGED, "dataset_removed", dataset, hits=hits)
        for dataset in sorted(new):
            yield FlowChange(ADDED, "dataset_added", dataset)
        for dataset in sorted(base.writers.keys() & head.writers.keys()):
            yield from self._of_dataset(dataset, _Flow(base, dataset), _Flow(head, dataset))

    def _of_dataset(self, dataset: Id, base: _Flow, head: _Flow) -> Iterator[FlowChange]:
        new_gaps = head.gaps.keys() - base.gaps.keys()
        for column, kind in sorted(new_gaps, key=str):
            after = head.gaps[column, kind]
            yield FlowChange(UNKNOWN, "gap_added", dataset, column, self._hits(dataset, column), after=after)
        unknown = {column for column, _ in new_gaps}
        yield from self._columns(dataset, base, head)
        columns = set(base.columns)
        for column in [name for name in head.columns if name in columns]:
            if unknown.isdisjoint((None, column)):
                yield from self._of_column(dataset, column, base, head)
        if None not in unknown:
            yield from self._rows(dataset, base, head)

    def _columns(self, dataset: Id, base: _Flow, head: _Flow) -> Iterator[FlowChange]:
        if bool(base.types) != bool(head.types):
            # One version does not know the schema, so that no column of it is new or gone.
            return
        before, after = set(base.columns), set(head.columns)
        gone = [column for column in base.columns if column not in after]
        new = [column for column in head.columns if column not in before]
        alike: dict[Any, list[str]] = defaultdict(list)
        for column in new:
            alike[frozenset(head.sources(column)), type_key(head.types.get(column, ""))].append(column)
        for column in gone:
            hits = self._hits(dataset, column)
            sources = frozenset(base.sources(column))
            same = alike[sources, type_key(base.types.get(column, ""))] if sources else []
            yield FlowChange(
                BREAKING if hits else CHANGED,
                "column_removed",
                dataset,
                column,
                hits,
                before=base.types.get(column, ""),
                renamed_to=same[0] if len(same) == 1 else None,
            )
        for column in new:
            yield FlowChange(ADDED, "column_added", dataset, column, after=head.types.get(column, ""))

    def _of_column(self, dataset: Id, column: str, base: _Flow, head: _Flow) -> Iterator[FlowChange]:
        before, after = base.types.get(column, ""), head.types.get(column, "")
        if before and after and type_key(before) != type_key(after):
            hits = self._hits(dataset, column)
            yield FlowChange(
                BREAKING if hits else CHANGED, "type_changed", dataset, column, hits, before, after
            )
        was_masked, is_masked = base.is_masked(column), head.is_masked(column)
        both = was_masked.keys() & is_masked.keys()
        masking = {source for source in both if was_masked[source] != is_masked[source]}
        for kind, some in (
            ("unmasked", {source for source in masking if was_masked[source]}),
            ("masked", {source for source in masking if is_masked[source]}),
        ):
            if some:
                severity = BREAKING if kind == "unmasked" else CHANGED
                names = ", ".join(sorted(f"{whole_name(source)}.{field}" for source, field in some))
                yield FlowChange(severity, kind, dataset, column, self._hits(dataset, column), after=names)
        # How a masked value is made is told by the change of masking.
        sources = [
            {each for each in flow.sources(column) if each[2] != "DIRECT" or each[:2] not in masking}
            for flow in (base, head)
        ]
        if sources[0] != sources[1]:
            texts = _texts(*sources)
            yield FlowChange(CHANGED, "sources_changed", dataset, column, self._hits(dataset, column), *texts)

    def _rows(self, dataset: Id, base: _Flow, head: _Flow) -> Iterator[FlowChange]:
        before, after = base.sources(None), head.sources(None)
        gone = base.fed_by - head.fed_by - base.explained
        new = head.fed_by - base.fed_by - head.explained
        if before != after or gone or new:
            was, now = _texts(before, after)
            was = "; ".join(filter(None, [was, *map(whole_name, sorted(gone))]))
            now = "; ".join(filter(None, [now, *map(whole_name, sorted(new))]))
            yield FlowChange(CHANGED, "rows_changed", dataset, None, self._hits(dataset), was, now)

    def _hits(self, dataset: Id, column: str | None = None) -> tuple[JobName, ...]:
        """Return the jobs downstream of a dataset or column, in the version after the change."""
        own = {write.job for write in self._world.writers.get(dataset, ())}
        selected = self._graph.node_of(dataset, column)
        if selected is None:
            return ()
        impact = Impact(self._world, self._graph, [Selected(dataset, column)])
        using = {job for job, reached in impact.jobs.items() if reached.how}
        for read in self._world.readers.get(dataset, ()):
            if (column is None or self._may_use(read.job, dataset, column)) and read.job not in using:
                using.add(read.job)
        return tuple(sorted(using - own))

    def _may_use(self, job: JobName, dataset: Id, column: str) -> bool:
        """Return whether a job that reads a dataset may use a column, though no edge says so."""
        writes = [write for write in self._world.fed.get(dataset, ()) if write.job == job]
        if writes:
            return any(_is_without_columns(write) for write in writes)
        fields = [read.fields for read in self._world.readers[dataset] if read.job == job]
        return any(not some or column in dict(some) for some in fields)


def _is_without_columns(write: JobWrite) -> bool:
    return any(gap["kind"] in (NO_COLUMNS, UNKNOWN_INPUTS) for gap in write.gaps)


def _texts(before: Collection[SourceKey], after: Collection[SourceKey]) -> tuple[str, str]:
    """Return the sources that only one version has, as texts."""
    return _text(set(before) - set(after)), _text(set(after) - set(before))


def _text(sources: Iterable[SourceKey]) -> str:
    return ", ".join(
        f"{whole_name(dataset)}.{field} ({' '.join(filter(None, (kind, subtype))).lower()})"
        for dataset, field, kind, subtype in sorted(sources)
    )
