"""Composition: merges the executions of one task, in their order, into the lineage of the task.

- A dataset that the task reads from outside is an input; a dataset that it writes is an output.
- If the task writes a dataset and reads it back, its columns are traced through it to their origin.
- A column that originates in such a dataset (literals, rows from Python) is traced to that dataset and no
  further: the dataset is then also an input.

The cost of adding an execution does not depend on how many came before, only on how many folders of its
datasets were read or written separately.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, TypeVar

from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.lineage.claims import Claim, renamed
from airflow_provider_spark_lineage.spark.lineage.column_names import by_position
from airflow_provider_spark_lineage.spark.lineage.contents import Content, Parts
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Failure,
    Gap,
    Input,
    Lineage,
    Mode,
    Output,
    Snapshot,
    Statistics,
)
from airflow_provider_spark_lineage.spark.lineage.reads import together, with_total
from airflow_provider_spark_lineage.spark.lineage.statistics import added
from airflow_provider_spark_lineage.spark.lineage.task_datasets import TaskDataset, TaskDatasets
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId

Key = TypeVar("Key")

_CORRUPT = "_corrupt_record"
"""Spark's name of the column for the text of rows that do not fit the schema; it has no position."""

_ALL_READ: tuple[Snapshot | None, ...] = (None,)
"""The one snapshot of a dataset that an execution reads."""


def composed(lineages: Iterable[Lineage]) -> Lineage:
    """Return the lineage of a task whose executions, in their order, have these."""
    composer = Composer()
    for lineage in lineages:
        composer.add(lineage)
    return composer.lineage()


class _Source(NamedTuple):
    """A dataset as the current execution reads it."""

    dataset: TaskDataset
    key: DatasetId
    content: Content | None
    """None if the task wrote nothing of it."""


class _Resolved(NamedTuple):
    """The sources of an output, traced through earlier writes of the task."""

    edges: set[Edge]
    inputs: set[DatasetId]
    parts: Parts
    """Sources of the fields inside its struct columns."""

    origins: set[DatasetId]
    """Those of the inputs where columns originate, though the task wrote them."""


class _View(NamedTuple):
    """A view that the task made: it reads its tables as they are at the end."""

    output: Output
    read: Mapping[DatasetId, Dataset]
    as_made: _Resolved


class Composer:
    """Takes the executions in order; `lineage()` returns the task's lineage so far.

    Until then the sources of edges and inputs are keys: a dataset's key is never that of another one.
    """

    def __init__(self) -> None:
        self._datasets = TaskDatasets()
        self._inputs: dict[DatasetId, Input] = {}
        """Key -> all reads of rows from before the task."""

        self._read_back: dict[DatasetId, Input] = {}
        """Key -> all reads of rows that the task wrote itself."""

        self._created_sources: set[DatasetId] = set()
        """Keys of datasets that the task wrote and that are inputs, because columns originate in them."""

        self._kept: dict[tuple[DatasetId, Snapshot], _Source] = {}
        """What kept frames read, as it was then."""

        self._read: dict[DatasetId, Dataset] = {}
        """How the current execution reads each dataset: the version, and the columns in their order."""

        self._is_batch = False
        """The current execution is a batch of a stream."""

        self._positions: dict[tuple[DatasetId, int], Mapping[str, str]] = {}
        """For each CSV dataset and content that is read: the name in the read -> the written name."""

        self._sources: dict[DatasetId | tuple[DatasetId, Snapshot], _Source] = {}
        """What the current execution reads."""

        self._batches: dict[tuple[str, DatasetId, tuple[str, ...]], Statistics] = {}
        """(streaming query, dataset, locations) -> counts of all batches so far."""

        self._views: dict[TaskDataset, _View] = {}
        """The views that the task made."""

        self._gaps: dict[tuple[Gap, TaskDataset | None], None] = {}
        """The gaps with the output that they are about."""

        self._unsettled: dict[DatasetId, list[tuple[Gap, TaskDataset | None]]] = {}
        """Target -> gaps of failed writes; a complete overwrite ends them unless the target is read first."""

        self._failures: list[Failure] = []

    def add(self, lineage: Lineage) -> None:
        """Add the next execution."""
        self._failures.extend(lineage.failures)
        self._read = {input_.dataset.id: input_.dataset for input_ in lineage.inputs}
        self._is_batch = any(input_.stream for input_ in lineage.inputs)
        self._sources, self._positions = {}, {}
        for identifier in self._read:
            self._unsettled.pop(identifier, None)
        for read in chain.from_iterable(input_.reads() for input_ in lineage.inputs):
            self._add_read(self._with_batches_before(read))
        for identifier, snapshot in lineage.keeps:
            source = self._kept[identifier, snapshot] = self._source(identifier, snapshot)
            if source.content is not None:
                source.content.shared = True
        # Resolve all outputs first, using the contents from before this execution's writes.
        gaps = dict.fromkeys(lineage.gaps)
        outputs = [self._in_task(output) for output in lineage.outputs]
        for output, resolved in [(output, self._resolve(output, gaps)) for output in outputs]:
            if output.is_view and output.mode not in (Mode.DROP, Mode.RENAME):
                self._add_view(output, resolved)
                continue
            self._add_origins(resolved.origins)
            self._change(output, resolved)
        written = {output.dataset.id for output in lineage.outputs}
        for gap in gaps:
            known = gap, self._datasets.get(gap.output) if gap.output else None
            self._gaps[known] = None
            if lineage.failures and gap.output and gap.output not in written:
                self._unsettled.setdefault(gap.output, []).append(known)

    def _in_task(self, output: Output) -> Output:
        """Return a write as an addition to the task's earlier writes.

        A target may be without data because an earlier write of the task had no rows, which may be different
        in the next run. If that write had rows, something else has removed them since.
        """
        dataset = self._datasets.get(output.dataset.id)
        claim = dataset.claim if dataset is not None else None
        if output.as_added is None or claim is None or claim.data_mode in (None, Mode.ALTER):
            return output
        folder = output.dataset.identity.folder
        around, below = claim.parts.around(folder), claim.parts.below(folder)
        # Rows of the folders around a partition lie in other partitions, or it would have had data.
        inside = [each for each in around if each == folder or "=" not in folder]
        counts = [claim.parts[each].counts for each in (*inside, *below)]
        had_rows = any(each is not None and each.rows for each in counts)
        is_own = bool(around or below)
        return replace(output.as_added, dataset=output.dataset) if is_own and not had_rows else output

    def lineage(self) -> Lineage:
        """Return the merged lineage; the same on every call."""
        views = {dataset.claim: self._view_now(view) for dataset, view in self._views.items() if dataset.name}
        of_views = {key for view in views.values() for key in view.origins} - self._inputs.keys()
        reads = {**self._inputs, **{key: self._read_back[key] for key in sorted(of_views)}}
        names = self._datasets.reported_names(self._created_sources | of_views)
        outputs = [
            _reported_output(claim, self._datasets.mode(claim.output), names, views.get(claim), filters)
            for claim, filters in self._datasets.claims()
        ]
        outputs += self._datasets.drops()
        inputs: dict[DatasetId, Input] = {}
        for key, read in reads.items():
            name = names.get(key, key)
            if name is not None:
                _add_input(inputs, name, self._reported(read, key, name))
        return Lineage(
            inputs=tuple(with_total(inputs[name]) for name in sorted(inputs)),
            outputs=tuple(sorted(outputs, key=lambda output: output.dataset.id)),
            gaps=tuple(dict.fromkeys(_reported_gap(gap, output) for gap, output in self._gaps)),
            failures=tuple(self._failures),
        )

    def _reported(self, read: Input, key: DatasetId, name: DatasetId) -> Input:
        """Return a read of a dataset under the name that is reported.

        A dataset that the task wrote and then renamed has no counts under that name.
        """
        if read.dataset.id == name:
            return read
        dataset = self._datasets.of_key(key)
        claim = dataset.claim if dataset.name == name else None
        return Input(claim.dataset) if claim else replace(read, dataset=renamed(read.dataset, name))

    def _add_read(self, read: Input) -> None:
        """Add one read to the inputs, or to the reads of rows that the task wrote itself."""
        _, key, content = self._source(read.dataset.id, read.dataset.snapshot)
        outside = content is None or content.from_outside
        _add_input(self._inputs if outside else self._read_back, key, read)
        if key in self._created_sources:
            _add_input(self._inputs, key, read)
        elif content is not None and content.reworked and key in self._inputs:
            # After UPDATE and MERGE it is still the same dataset, so this read may be its largest.
            _add_input(self._inputs, key, replace(read, dataset=self._inputs[key].dataset))
        if not read.dataset.kept_by:
            self._datasets.link(read.dataset)

    def _add_origins(self, origins: set[DatasetId]) -> None:
        """Add datasets that the task wrote to the inputs, because columns originate in them."""
        for key in origins - self._inputs.keys():
            self._inputs[key] = self._read_back[key]
            self._created_sources.add(key)

    def _add_view(self, output: Output, as_made: _Resolved) -> None:
        """Add a view; another one of its name is replaced."""
        reads = [self._read[source] for source in output.inputs if source in self._read]
        is_current = not output.snapshots and all(map(self._is_current, reads))
        if not is_current:
            self._add_origins(as_made.origins)
        self._change(output, as_made)
        view = self._datasets.at(output.dataset.id)
        self._views.pop(view, None)
        if is_current:
            # Whatever version there is now, it will read the current rows.
            read = {dataset.id: dataset.at("") for dataset in reads}
            self._views[view] = _View(replace(output, origins=frozenset()), read, as_made)

    def _is_current(self, read: Dataset) -> bool:
        """Return whether a read sees the current rows that the task wrote, not an older version."""
        if not read.identity.version:
            return True
        dataset = self._datasets.at(read.id)
        return dataset.content(read.snapshot) is dataset.content(read.at("").snapshot)

    def _view_now(self, view: _View) -> _Resolved:
        """Return the sources of a view now; those as it was made if Spark could not read it any more."""
        if any(self._datasets.get(name) is None for name in view.output.inputs):
            return view.as_made
        self._read, self._sources, self._positions = dict(view.read), {}, {}
        gaps: dict[Gap, None] = {}
        resolved = self._resolve(view.output, gaps)
        return view.as_made if gaps else resolved

    def _change(self, output: Output, resolved: _Resolved) -> None:
        """Add what an execution did to one dataset or catalog entry."""
        datasets, is_entry = self._datasets, output.dataset.identity.is_entry
        if output.is_whole and not output.dataset.identity.folder:
            for gap in self._unsettled.pop(output.dataset.id, ()):
                self._gaps.pop(gap, None)
        match output.mode:
            case Mode.DROP if is_entry:
                datasets.drop_entry(output)
            case Mode.DROP:
                dataset = datasets.get(output.dataset.id)
                read = self._inputs.get(dataset.key) if dataset is not None else None
                datasets.drop(output, read.dataset if read else None)
            case Mode.RENAME if is_entry:
                datasets.rename_entry(output)
            case Mode.RENAME:
                datasets.rename(output)
            case _:
                dataset = datasets.get(output.dataset.id)
                was_read = dataset is not None and dataset.key in self._inputs
                datasets.write(
                    output,
                    resolved.edges,
                    resolved.inputs,
                    resolved.parts,
                    was_read=was_read,
                    is_batch=self._is_batch,
                )

    def _source(self, identifier: DatasetId, snapshot: Snapshot | None = None) -> _Source:
        """Return a dataset as the current execution reads it; without a snapshot, with all that it reads."""
        lookup = identifier if snapshot is None else (identifier, snapshot)
        if lookup not in self._sources:
            read = self._read.get(identifier)
            seen = snapshot if snapshot is not None else read.snapshot if read is not None else Snapshot()
            dataset = self._datasets.at(identifier)
            frame = self._kept.get((identifier, seen))
            self._sources[lookup] = frame or _Source(dataset, dataset.key, dataset.content(seen))
        return self._sources[lookup]

    def _with_batches_before(self, read: Input) -> Input:
        """Add the counts of a stream's earlier batches: all batches are one read."""
        if not read.stream:
            return read
        key = (read.stream, read.dataset.id, read.dataset.identity.locations)
        before = self._batches.get(key)
        self._batches[key] = added(before, read.statistics) if before is not None else read.statistics
        return replace(read, statistics=self._batches[key])

    def _resolve(self, output: Output, gaps: dict[Gap, None]) -> _Resolved:
        """Trace an output's edges through earlier writes of the same task."""
        edges: set[Edge] = set()
        inputs: set[DatasetId] = set()
        snapshots = _grouped(output.snapshots)
        for source in output.inputs:
            for seen in snapshots.get(source, _ALL_READ):
                _, key, content = self._source(source, seen)
                if content is None or content.from_outside:
                    inputs.add(key)
                    if key in self._read_back:
                        # Of several snapshots, this one is from outside.
                        self._inputs.setdefault(key, self._read_back[key])
                if content is not None:
                    inputs |= content.inputs
                    # A column that decides the rows of the intermediate also decides the rows of the output.
                    edges.update(replace(edge, column="") for edge in content.rows)
        origins = _grouped(output.origins)
        for edge in output.edges:
            for seen in origins.get(edge, _ALL_READ):
                edges |= self._trace(edge, self._source(edge.source, seen), output, gaps)
        parts = {
            column: {
                path: {
                    traced
                    for edge, seen in some
                    for traced in self._trace(edge, self._source(edge.source, seen), output, gaps)
                }
                for path, some in known.items()
            }
            for column, known in output.parts.items()
        }
        own = {edge.source for edge in edges if edge.source in self._read_back}
        return _Resolved(edges, inputs | own, parts, own)

    def _trace(self, edge: Edge, source: _Source, output: Output, gaps: dict[Gap, None]) -> set[Edge]:
        """Trace an edge from a dataset that was read to the origins of the column."""
        own = edge if edge.source == source.key else replace(edge, source=source.key)
        content = source.content
        if content is None:
            return {own}
        name = self._written_name(edge, source.dataset, content)
        if name not in content.columns and not content.from_outside:
            reason = of_plans.NO_SUCH_COLUMN(field=edge.field, dataset=edge.source.name)
            gaps[Gap("composition", reason, output.dataset.id, edge.column)] = None
        return content.trace(own, name, by_view=output.is_view)

    def _written_name(self, edge: Edge, source: TaskDataset, content: Content) -> str:
        """Return the name under which the task wrote a field: by its position, or matched without case."""
        if source.claim and source.claim.output.dataset.identity.file_format == "csv":
            # Spark reads the columns of CSV by position: the reader's schema or Spark (`_c0`) names them, and
            # names in the header are ignored (`enforceSchema`).
            name = self._csv_names(edge.source, content).get(edge.field)
            if name is not None:
                return name
        if edge.field in content.columns:
            return edge.field
        alike = [column for column in content.columns if column.lower() == edge.field.lower()]
        return alike[0] if len(alike) == 1 else edge.field

    def _csv_names(self, source: DatasetId, content: Content) -> Mapping[str, str]:
        key = source, id(content)
        if key not in self._positions:
            dataset = self._read.get(source)
            read = [each.name for each in dataset.fields] if dataset and dataset.is_ordered else []
            self._positions[key] = by_position(
                (name for name in read if name != _CORRUPT), content.columns, content.in_folders
            )
        return self._positions[key]


def _grouped(pairs: Iterable[tuple[Key, Snapshot]]) -> Mapping[Key, Sequence[Snapshot]]:
    groups: defaultdict[Key, list[Snapshot]] = defaultdict(list)
    for key, snapshot in pairs:
        groups[key].append(snapshot)
    return groups


def _reported_output(
    claim: Claim,
    mode: Mode,
    names: Mapping[DatasetId, DatasetId | None],
    view: _Resolved | None,
    filters: set[Edge],
) -> Output:
    """Return the reported form of an output; `view`: its sources, if it is a view."""
    edges, inputs = (view.edges, view.inputs) if view else (claim.edges | filters, claim.inputs)
    return replace(
        claim.output,
        mode=mode,
        statistics=claim.written or Statistics(),
        dataset=claim.dataset,
        edges=tuple(sorted(_renamed_edges(edges, names), key=lambda edge: edge.order)),
        inputs=tuple(sorted({name for key in inputs if (name := names.get(key, key))})),
    )


def _renamed_edges(edges: Iterable[Edge], names: Mapping[DatasetId, DatasetId | None]) -> Iterable[Edge]:
    """Return edges with the reported names of their sources, without those whose source is not reported."""
    if not names:
        return edges
    named = ((edge, names.get(edge.source, edge.source)) for edge in edges)
    return {
        edge if name == edge.source else replace(edge, source=name)
        for edge, name in named
        if name is not None
    }


def _reported_gap(gap: Gap, output: TaskDataset | None) -> Gap:
    """Return a gap about an output under the output's current name."""
    if output is None:
        return gap
    name = output.name or (gap.output if output.created else output.first)
    return gap if name == gap.output else replace(gap, output=name)


def _add_input(inputs: dict[DatasetId, Input], key: DatasetId, read: Input) -> None:
    """Merge one read of a dataset into `inputs`."""
    before = inputs.get(key)
    inputs[key] = read if before is None else together(before, read)


def compose(executions: Iterable[Lineage]) -> Lineage:
    """Merge executions, in the order of their ends."""
    composer = Composer()
    for lineage in executions:
        composer.add(lineage)
    return composer.lineage()
