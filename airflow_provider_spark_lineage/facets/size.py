"""Limits the size of events: brokers and proxies refuse large ones, and then everything in them is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.facets.failures import MAX_FAILURES
from airflow_provider_spark_lineage.facets.jobs import lineage_job_facets
from airflow_provider_spark_lineage.lineage.model import Edge, Gap, Lineage
from airflow_provider_spark_lineage.sources.dataset import DatasetId

MARGIN_BYTES = 100_000
"""Left for the facets of the run, and for those that Airflow's provider adds."""

_LEAST_BYTES_OF_EDGE, _MOST_BYTES_OF_EDGE = 60, 800
_MOST_BYTES_OF_FIELD = 300


@dataclass(frozen=True)
class Content:
    """The part of an event that grows with what Spark did."""

    lineage: Lineage
    sql: str = ""
    repeats_dataset_edges: bool = False
    """Edges of whole datasets are repeated for each column."""


def fitted(content: Content, limit_bytes: int) -> Content:
    """Return a content that fits into an event of at most so many bytes, with a gap for what is left out.

    Failures, whose messages may be long, take their part of the bytes.

    Left out in this order: edges to single columns that do not have their values, the statement, column edges
    of the outputs with the most of them, schemas of inputs.
    """
    messages = sum(len(failure.message) for failure in content.lineage.failures[-MAX_FAILURES:])
    limit = max(limit_bytes - MARGIN_BYTES - 2 * messages, limit_bytes // 4)
    lost: list[str] = []
    for smaller, name in _steps(content):
        if _fits(smaller, limit):
            return _with_gap(smaller, lost, limit_bytes)
        lost += [name] if name else []
        content = smaller
    return _with_gap(content, lost, limit_bytes)


def _steps(content: Content) -> Iterator[tuple[Content, str]]:
    """Yield the content, and smaller ones; each with the name of what the next one leaves out."""
    influences = any(map(_is_indirect, (edge for write in content.lineage.outputs for edge in write.edges)))
    yield (
        content,
        "columns that influence single columns" if influences or content.repeats_dataset_edges else "",
    )
    content = _with_edges(content, lambda _, edge: not _is_indirect(edge))
    content = replace(content, repeats_dataset_edges=False)
    yield content, "the statement" if content.sql else ""
    content = replace(content, sql="")
    for widest in sorted(content.lineage.outputs, key=lambda write: -len(write.edges)):
        name = widest.dataset.id
        yield content, f"the sources of the columns of {name.name}"
        content = _with_edges(content, partial(_is_kept, name))
    yield content, "the schemas of inputs"
    inputs = tuple(replace(read, dataset=replace(read.dataset, fields=())) for read in content.lineage.inputs)
    yield replace(content, lineage=replace(content.lineage, inputs=inputs)), ""


def _is_kept(emptied: DatasetId, output: DatasetId, edge: Edge) -> bool:
    return output != emptied or not edge.column


def _is_indirect(edge: Edge) -> bool:
    return bool(edge.column) and edge.kind.type == "INDIRECT"


def _with_edges(content: Content, is_kept: Callable[[DatasetId, Edge], bool]) -> Content:
    """Return a content with some of its edges; the inputs of each output stay known."""
    outputs = tuple(
        replace(
            write,
            edges=tuple(edge for edge in write.edges if is_kept(write.dataset.id, edge)),
            inputs=tuple(sorted({*write.inputs, *(edge.source for edge in write.edges)})),
        )
        for write in content.lineage.outputs
    )
    return replace(content, lineage=replace(content.lineage, outputs=outputs))


def _with_gap(content: Content, lost: list[str], limit_bytes: int) -> Content:
    if not lost:
        return content
    reason = (
        f"the event would be larger than [spark_lineage] max_event_bytes ({limit_bytes:,}): it leaves out "
        + ", ".join(lost)
    )
    return replace(
        content, lineage=replace(content.lineage, gaps=(*content.lineage.gaps, Gap("event", reason)))
    )


def _fits(content: Content, limit: int) -> bool:
    """Return whether a content has at most so many bytes as JSON; it is rendered only if need be."""
    lineage = content.lineage
    edges = sum(map(len, (write.edges for write in lineage.outputs)))
    if content.repeats_dataset_edges:
        edges += sum(
            len(write.dataset.fields) * len([edge for edge in write.edges if not edge.column])
            for write in lineage.outputs
        )
    if edges * _LEAST_BYTES_OF_EDGE > limit:
        return False
    datasets = [*(read.dataset for read in lineage.inputs), *(write.dataset for write in lineage.outputs)]
    fields = sum(len(dataset.fields) for dataset in datasets)
    most = edges * _MOST_BYTES_OF_EDGE + fields * _MOST_BYTES_OF_FIELD + len(content.sql.encode()) * 2
    if most < limit // 2:
        return True
    parts = [
        *input_datasets(lineage),
        *output_datasets(lineage, dataset_edges_per_field=content.repeats_dataset_edges),
        *lineage_job_facets(lineage).values(),
    ]
    size = sum(len(json.dumps(Serde.to_dict(part))) for part in parts)
    return size + len(json.dumps(content.sql)) <= limit
