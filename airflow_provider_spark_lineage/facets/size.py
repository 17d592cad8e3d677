"""Limits the size of events: brokers and proxies refuse large ones, and then everything in them is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.facets.jobs import lineage_job_facets
from airflow_provider_spark_lineage.json_values import json_value
from airflow_provider_spark_lineage.lineage.model import Dataset, Edge, Gap, Input, Lineage, Output
from airflow_provider_spark_lineage.words import counted

MARGIN_BYTES = 40_000
"""Left for the facets that Airflow's provider adds."""


@dataclass(frozen=True)
class Content:
    """The part of an event that grows with what Spark did."""

    lineage: Lineage
    sql: str = ""
    repeats_dataset_edges: bool = False
    """Edges of whole datasets are repeated for each column."""


def size_of(facets: Mapping[str, Any]) -> int:
    """Return the number of bytes of facets as JSON."""
    return sum(len(json.dumps(Serde.to_dict(json_value(facet)))) for facet in facets.values())


def fitted(content: Content, limit_bytes: int, used_bytes: int = 0, reason: str = "") -> Content:
    """Return a content that fits into an event of at most so many bytes, with a gap for what is left out.

    `used_bytes` is the size of the event's run facets; `reason` is the gap's, by default the option. Left out
    in this order: edges to single columns that do not have their values, the statement, column edges of the
    outputs with the most of them, schemas of inputs, schemas of outputs.
    """
    limit = max(limit_bytes - MARGIN_BYTES - used_bytes, limit_bytes // 4)
    if _largest_size(content) <= limit:
        return content
    shrinking = _Shrinking(content)
    lost = [*shrinking.steps(limit)]
    still = "; it is still larger" if shrinking.size > limit else ""
    if not (lost or still):
        return content
    reason = reason or f"the event would be larger than [spark_lineage] max_event_bytes ({limit_bytes:,})"
    left_out = f": it leaves out {', '.join(lost)}" if lost else ""
    return shrinking.content(Gap("event", f"{reason}{left_out}{still}"))


class _Shrinking:
    """A content whose parts become smaller, each with its size."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._sql = content.sql
        self._repeats = content.repeats_dataset_edges
        self._inputs = [*content.lineage.inputs]
        self._outputs = [*content.lineage.outputs]
        self._sizes = {
            **{("input", at): _size_of_input(read) for at, read in enumerate(self._inputs)},
            **{
                ("output", at): _size_of_output(write, self._repeats)
                for at, write in enumerate(self._outputs)
            },
        }

    @property
    def size(self) -> int:
        """Size in bytes; a part that was not rendered, because it has too many edges, counts its least."""
        return sum(self._sizes.values()) + len(json.dumps(self._sql))

    def steps(self, limit: int) -> Iterator[str]:
        """Leave out one thing after another until the size is at most the limit; yield the name of each."""
        if self.size > limit and (self._repeats or any(map(_is_indirect, self._edges()))):
            self._repeats = False
            for at, write in enumerate(self._outputs):
                self._set(at, _with_edges(write, [edge for edge in write.edges if not _is_indirect(edge)]))
            yield "columns that influence single columns"
        if self.size > limit and self._sql:
            self._sql = ""
            yield "the statement"
        emptied = []
        for at in sorted(range(len(self._outputs)), key=lambda at: -len(self._outputs[at].edges)):
            write = self._outputs[at]
            if self.size > limit and any(edge.column for edge in write.edges):
                self._set(at, _with_edges(write, [edge for edge in write.edges if not edge.column]))
                emptied.append(write.dataset.id.name)
        if emptied:
            more = f" and {counted(len(emptied) - 1, 'more output')}" if len(emptied) > 1 else ""
            yield f"the sources of the columns of {emptied[0]}{more}"
        if self.size > limit and any(read.dataset.fields for read in self._inputs):
            for at, read in enumerate(self._inputs):
                self._inputs[at] = replace(read, dataset=replace(read.dataset, fields=()))
                self._sizes["input", at] = _size_of_input(self._inputs[at])
            yield "the schemas of inputs"
        if self.size > limit and any(write.dataset.fields for write in self._outputs):
            for at, write in enumerate(self._outputs):
                self._set(at, replace(write, dataset=replace(write.dataset, fields=())))
            yield "the schemas of outputs"

    def content(self, gap: Gap) -> Content:
        """Return the content as it is now, with a gap."""
        lineage = self._content.lineage
        return Content(
            replace(
                lineage,
                inputs=tuple(self._inputs),
                outputs=tuple(self._outputs),
                gaps=(*lineage.gaps, gap),
            ),
            self._sql,
            self._repeats,
        )

    def _edges(self) -> Iterator[Edge]:
        return (edge for write in self._outputs for edge in write.edges)

    def _set(self, at: int, write: Output) -> None:
        self._outputs[at] = write
        self._sizes["output", at] = _size_of_output(write, self._repeats)


def _is_indirect(edge: Edge) -> bool:
    return bool(edge.column) and edge.kind.type == "INDIRECT"


def _with_edges(write: Output, edges: Sequence[Edge]) -> Output:
    """Return an output with some of its edges; its inputs stay known."""
    inputs = tuple(sorted({*write.inputs, *(edge.source for edge in write.edges)}))
    return replace(write, edges=tuple(edges), inputs=inputs)


_MOST_RENDERED = 50_000
"""Limit of edges; more are not rendered to measure them."""

_LEAST_BYTES_OF_EDGE = 60


def _size_of_input(read: Input) -> int:
    return sum(len(json.dumps(Serde.to_dict(each))) for each in input_datasets(Lineage((read,))))


def _size_of_output(write: Output, repeats: bool) -> int:
    edges = _count(write, repeats)
    if edges > _MOST_RENDERED:
        return edges * _LEAST_BYTES_OF_EDGE
    lineage = Lineage(outputs=(write,))
    datasets = output_datasets(lineage, dataset_edges_per_field=repeats)
    return size_of(lineage_job_facets(lineage)) + sum(
        len(json.dumps(Serde.to_dict(dataset))) for dataset in datasets
    )


def _count(write: Output, repeats: bool) -> int:
    repeated = sum(1 for edge in write.edges if not edge.column) if repeats else 0
    return len(write.edges) + repeated * len(write.dataset.fields)


def _largest_size(content: Content) -> int:
    """Return a size that the content does not exceed, without rendering it: nearly all events are small."""
    lineage = content.lineage
    datasets = [*(read.dataset for read in lineage.inputs), *(write.dataset for write in lineage.outputs)]
    edges = 0
    for write in lineage.outputs:
        longest = max((_letters(edge) for edge in write.edges), default=0)
        edges += _count(write, content.repeats_dataset_edges) * 2 * (400 + 6 * longest)
    return edges + sum(map(_largest_dataset, datasets)) + 6 * len(content.sql)


def _letters(edge: Edge) -> int:
    source, parts = edge.source, (edge.field, edge.column, edge.part)
    return len(source.namespace) + len(source.name) + sum(map(len, parts))


def _largest_dataset(dataset: Dataset) -> int:
    identity = dataset.identity
    names = [*identity.id, *identity.locations]
    names += [name for link in identity.symlinks for name in (link.namespace, link.name)]
    # A nested type has an object for each of its fields.
    fields = sum(100 + 6 * len(field.name) + 20 * len(field.type) for field in dataset.fields)
    return 5_000 + 18 * sum(map(len, names)) + fields
