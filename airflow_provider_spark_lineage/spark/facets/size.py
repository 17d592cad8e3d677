"""Limits the size of events: brokers and proxies refuse large ones, and then everything in them is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.openlineage.json_values import json_value
from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.spark.facets.jobs import lineage_job_facets
from airflow_provider_spark_lineage.spark.facets.runs import error_facet, lineage_run_facets
from airflow_provider_spark_lineage.spark.gaps import of_tasks
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Edge, Gap, Input, Lineage, Output
from airflow_provider_spark_lineage.spark.sources.dataset import Identity

P = TypeVar("P", Input, Output)

MARGIN_BYTES = 40_000
"""Left for the facets that Airflow's provider adds."""

GAP_BYTES = 2_000
"""Left for the gap that lists the missing parts."""

SHORT_LETTERS = 500
"""Length of messages of failures, and of reasons of gaps, in an event that is too large."""

FEW = 20
"""Number of failures, and of gaps, in an event that is too large even then."""


@dataclass(frozen=True)
class EventContent:
    """The part of an event that grows with what Spark did."""

    lineage: Lineage
    sql: str = ""
    repeats_dataset_edges: bool = False
    """Edges of whole datasets are repeated for each column."""


def size_of(facets: Mapping[str, Any]) -> int:
    """Return the number of bytes of facets as JSON."""
    return sum(len(json.dumps(Serde.to_dict(json_value(facet)))) for facet in facets.values())


def fitted(content: EventContent, limit_bytes: int, used_bytes: int = 0, reason: str = "") -> EventContent:
    """Return a content that fits into an event of at most so many bytes, with a gap for the rest.

    `used_bytes` is the size of the event's run facets, except for gaps and failures; `reason` is the gap's,
    by default the option. Left out in this order: edges to single columns that do not have their values, the
    statement, column edges of the outputs with the most of them, schemas of inputs, schemas of outputs, edges
    of whole outputs, long messages, facets of datasets, most failures and gaps, and datasets.
    """
    limit = max(limit_bytes - MARGIN_BYTES - used_bytes, limit_bytes // 4)
    if _largest_size(content) <= limit:
        return content
    limit = max(limit - GAP_BYTES, 0)
    shrinking = _Shrinking(content, limit)
    lost = [*shrinking.steps(limit)]
    if not lost:
        return content
    reason = reason or f"the event would be larger than [spark_lineage] max_event_bytes ({limit_bytes:,})"
    return shrinking.content(Gap("event", of_tasks.TOO_LARGE(why=reason, lost=", ".join(lost))))


class _Shrinking:
    """A content whose parts become smaller, each with its size.

    If there are more datasets than an event of this limit has names, nothing else is rendered to measure it.
    """

    def __init__(self, content: EventContent, limit: int) -> None:
        self._content = content
        self._sql = content.sql
        self._repeats = content.repeats_dataset_edges
        self._inputs = [*content.lineage.inputs]
        self._outputs = [*content.lineage.outputs]
        self._gaps, self._failures = content.lineage.gaps, content.lineage.failures
        self._counts = len(self._inputs), len(self._outputs)
        least = len(self._inputs) * _LEAST_BYTES_OF_INPUT + len(self._outputs) * _LEAST_BYTES_OF_OUTPUT
        least += sum(len(write.inputs) for write in self._outputs) * _LEAST_BYTES_OF_EDGE
        self._is_cut = least > limit
        if self._is_cut:
            self._cut(limit)
        self._measure()

    def _cut(self, limit: int) -> None:
        """Leave names only, and of these as many as could fit."""
        self._sql, self._repeats = "", False
        least = len(self._inputs) * _LEAST_BYTES_OF_INPUT, len(self._outputs) * _LEAST_BYTES_OF_OUTPUT
        of_inputs = _share(limit, *least)
        inputs = self._inputs[: of_inputs // _LEAST_BYTES_OF_INPUT]
        self._inputs = [replace(read, dataset=_bare(read.dataset)) for read in inputs]
        outputs = self._outputs[: max(limit - of_inputs, 0) // _LEAST_BYTES_OF_OUTPUT]
        self._outputs = [replace(write, dataset=_bare(write.dataset), edges=()) for write in outputs]
        self._keep_known_inputs()

    def _keep_known_inputs(self) -> None:
        """Leave out inputs of outputs that the event does not have; at least one stays.

        An output without inputs would claim to have none.
        """
        listed = {read.dataset.id for read in self._inputs}
        for at, write in enumerate(self._outputs):
            known = tuple(each for each in write.inputs if each in listed)[:FEW]
            self._outputs[at] = replace(write, inputs=known or write.inputs[:1])

    def _measure(self) -> None:
        self._sizes = {
            ("run", 0): self._size_of_run(),
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
        if self._is_cut:
            yield "everything except the names of datasets"
        if self._sizes["run", 0] > limit // 2 and self._shorten():
            yield f"messages of more than {SHORT_LETTERS} characters"
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
            yield f"the sources of the columns of {_short(emptied[0])}{more}"
        if self.size > limit and any(read.dataset.fields for read in self._inputs):
            for at, read in enumerate(self._inputs):
                self._inputs[at] = replace(read, dataset=replace(read.dataset, fields=()))
                self._sizes["input", at] = _size_of_input(self._inputs[at])
            yield "the schemas of inputs"
        if self.size > limit and any(write.dataset.fields for write in self._outputs):
            for at, write in enumerate(self._outputs):
                self._set(at, replace(write, dataset=replace(write.dataset, fields=())))
            yield "the schemas of outputs"

        yield from self._steps_without_columns(limit)

    def _steps_without_columns(self, limit: int) -> Iterator[str]:
        if self.size > limit and any(self._edges()):
            for at, write in enumerate(self._outputs):
                self._set(at, _with_edges(write, ()))
            yield "the sources of the rows of outputs"
        if self.size > limit and self._shorten():
            yield f"messages of more than {SHORT_LETTERS} characters"
        if self.size > limit and (self._inputs or self._outputs) and not self._is_cut:
            for at, read in enumerate(self._inputs):
                self._inputs[at] = replace(read, dataset=_bare(read.dataset))
                self._sizes["input", at] = _size_of_input(self._inputs[at])
            for at, write in enumerate(self._outputs):
                self._set(at, replace(write, dataset=_bare(write.dataset)))
            yield "facets of datasets"
        if self.size > limit and max(len(self._gaps), len(self._failures)) > FEW:
            left_out = (("gap", len(self._gaps)), ("failure", len(self._failures)))
            self._gaps, self._failures = self._gaps[:FEW], self._failures[-FEW:]
            self._sizes["run", 0] = self._size_of_run()
            yield " and ".join(counted(count - FEW, noun) for noun, count in left_out if count > FEW)
        if self.size > limit or self._is_cut:
            yield from self._without_datasets(limit)
        if self.size > limit and (self._gaps or self._failures):
            self._gaps = self._failures = ()
            self._sizes["run", 0] = self._size_of_run()
            yield "all other gaps and failures"

    def _shorten(self) -> bool:
        """Cut long messages, and return whether there were any."""
        before = self._gaps, self._failures
        self._gaps = tuple(replace(gap, reason=gap.reason.reworded(_short(gap.reason))) for gap in self._gaps)
        self._failures = tuple(replace(each, message=_short(each.message)) for each in self._failures)
        self._sizes["run", 0] = self._size_of_run()
        return (self._gaps, self._failures) != before

    def _without_datasets(self, limit: int) -> Iterator[str]:
        """Leave out the last inputs and the last outputs, and those that are too large by themselves."""
        sizes = [0, 0]
        for (part, _), size in self._sizes.items():
            if part != "run":
                sizes[part == "output"] += size
        space = max(limit - self._sizes["run", 0] - len(json.dumps(self._sql)), 0)
        self._inputs = _fitting(self._inputs, _size_of_input, _share(space, *sizes))
        self._keep_known_inputs()
        space -= sum(map(_size_of_input, self._inputs))
        self._outputs = _fitting(self._outputs, lambda write: _size_of_output(write, self._repeats), space)
        self._measure()
        left = len(self._inputs), len(self._outputs)
        for noun, before, after in zip(("input", "output"), self._counts, left, strict=True):
            if after < before:
                yield f"{before - after:,} of {counted(before, noun)}"

    def content(self, gap: Gap) -> EventContent:
        """Return the content as it is now, with a gap; first, because an event lists a limited number."""
        lineage = replace(
            self._content.lineage,
            inputs=tuple(self._inputs),
            outputs=tuple(self._outputs),
            gaps=(gap, *self._gaps),
            failures=self._failures,
        )
        return EventContent(lineage, self._sql, self._repeats)

    def _size_of_run(self) -> int:
        lineage = Lineage(gaps=self._gaps, failures=self._failures)
        return size_of(lineage_run_facets(lineage)) + size_of(error_facet(lineage.failures))

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


def _bare(dataset: Dataset) -> Dataset:
    """Return a dataset with nothing but its name."""
    return Dataset(Identity(dataset.id))


def _short(text: str) -> str:
    return text if len(text) <= SHORT_LETTERS else f"{text[:SHORT_LETTERS]}..."


def _share(space: int, inputs: int, outputs: int) -> int:
    """Return the part of a space for inputs: the same as of the whole, or all of them if they are few."""
    if inputs + outputs <= space:
        return inputs
    if min(inputs, outputs) <= space // 2:
        return inputs if inputs <= outputs else space - outputs
    return space * inputs // (inputs + outputs)


def _fitting(parts: Sequence[P], size: Callable[[P], int], space: int) -> list[P]:
    """Return the first parts that fit into a space; one that is too large by itself is skipped."""
    fitting = []
    for part in parts:
        needed = size(part)
        if needed <= space:
            space -= needed
            fitting.append(part)
    return fitting


_MOST_RENDERED = 50_000
"""Limit of edges; more are not rendered to measure them."""

_LEAST_BYTES_OF_EDGE = 60
_LEAST_BYTES_OF_INPUT = 290
_LEAST_BYTES_OF_OUTPUT = 550
"""Sizes of datasets without any facets but `dataSource`."""


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


def _largest_size(content: EventContent) -> int:
    """Return a size that the content does not exceed, without rendering it: nearly all events are small."""
    lineage = content.lineage
    datasets = [*(read.dataset for read in lineage.inputs), *(write.dataset for write in lineage.outputs)]
    edges = 0
    for write in lineage.outputs:
        longest = max((_letters(edge) for edge in write.edges), default=0)
        edges += _count(write, content.repeats_dataset_edges) * 2 * (400 + 6 * longest)
    run = sum(1_000 + 6 * len(f"{gap.where}{gap.reason}{gap.column}{gap.output}") for gap in lineage.gaps)
    run += sum(1_500 + 18 * len(each.message) for each in lineage.failures)
    return edges + sum(map(_largest_dataset, datasets)) + run + 6 * len(content.sql)


def _letters(edge: Edge) -> int:
    source, parts = edge.source, (edge.field, edge.column, edge.part)
    return len(source.namespace) + len(source.name) + sum(map(len, parts))


def _largest_dataset(dataset: Dataset) -> int:
    identity = dataset.identity
    names = [*identity.id, *identity.part.shown]
    names += [name for link in identity.symlinks for name in (link.namespace, link.name)]
    # A nested type has an object for each of its fields.
    fields = sum(100 + 6 * len(field.name) + 20 * len(field.type) for field in dataset.fields)
    return 5_000 + 18 * sum(map(len, names)) + fields
