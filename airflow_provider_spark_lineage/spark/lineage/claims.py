"""Claims: the report of a task about one of its outputs, and the names of that output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from airflow_provider_spark_lineage.openlineage.lifecycle import change_of_both
from airflow_provider_spark_lineage.spark.lineage.folders import Folders
from airflow_provider_spark_lineage.spark.lineage.model import (
    UNKNOWN,
    ColumnChange,
    Dataset,
    Edge,
    Field,
    Mode,
    Output,
    Statistics,
)
from airflow_provider_spark_lineage.spark.lineage.statistics import added
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId


@dataclass(slots=True)
class _Part:
    """The last complete overwrite of one folder of an output, with the later additions to it."""

    edges: set[Edge] = field(default_factory=set)
    inputs: set[DatasetId] = field(default_factory=set)
    fields: dict[str, Field] = field(default_factory=dict)
    counts: Statistics | None = None
    """None if no rows were written."""

    def change_columns(self, changes: Sequence[ColumnChange]) -> None:
        """Rename and drop columns, and the edges to them."""
        for change in changes:
            columns = ((change.name_of(name), column) for name, column in self.fields.items())
            self.fields = {name: replace(column, name=name) for name, column in columns if name}
            self.edges = {
                replace(edge, column=change.name_of(edge.column)) if edge.column else edge
                for edge in self.edges
                if not edge.column or change.name_of(edge.column)
            }


@dataclass(eq=False, slots=True)
class Claim:
    """The report of the task about one output, merged from all its writes.

    It describes the rows that are there at the end: a complete overwrite removes the edges, columns and
    counts of earlier writes.
    """

    output: Output
    data_mode: Mode | None = None
    """How its rows or columns changed; None if it was only renamed."""

    parts: Folders[_Part] = field(default_factory=Folders)
    """Written folder (empty: the whole dataset) -> its content."""

    @property
    def written(self) -> Statistics | None:
        """The counts of all folders; None if no rows were written."""
        counts = [part.counts for part in self.parts.values() if part.counts is not None]
        return reduce(added, counts) if counts else None

    @property
    def edges(self) -> set[Edge]:
        """The edges of all folders."""
        return set[Edge]().union(*(part.edges for part in self.parts.values()))

    @property
    def inputs(self) -> set[DatasetId]:
        """Datasets that the rows of all folders come from."""
        return set[DatasetId]().union(*(part.inputs for part in self.parts.values()))

    @property
    def dataset(self) -> Dataset:
        """The dataset with its columns at the end."""
        fields: dict[str, Field] = {}
        for part in self.parts.values():
            fields = fields | part.fields | fields
        return replace(self.output.dataset, fields=tuple(fields.values()))

    def add(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        """Add a write, or a change of the dataset's columns."""
        folder = output.dataset.identity.folder
        was_counted = output.rewrites and self.written is not None
        inside = [each for each in self.parts.around(folder) if each != folder]
        is_inside = any(self.parts[each].counts is not None for each in inside)
        part = self._part(output, folder)
        part.edges |= edges
        part.inputs |= inputs
        for each in self.parts.values() if output.changes else ():
            each.change_columns(output.changes)
        columns = {column.name: column for column in output.dataset.fields}
        # An ALTER has all columns of the dataset, in their order; a write may have some of them.
        is_whole = output.mode is Mode.ALTER and bool(columns)
        part.fields = columns if is_whole else part.fields | columns | part.fields
        if was_counted:
            # Unknown: the number of earlier rows that are left, and how many of them were counted.
            self._forget_counts()
        elif output.has_rows and output.mode is not Mode.TRUNCATE:
            part.counts = self._counts(output, folder, part, is_inside=is_inside)
        if output.mode is not Mode.RENAME:
            self.data_mode = output.mode if self.data_mode is None else _merged(self.data_mode, output.mode)
        self.output = replace(
            output,
            mode=_merged(self.output.mode, output.mode),
            # The version after the last write.
            dataset=self.output.dataset.merged(output.dataset).at(output.dataset.identity.version),
            previous=self.output.previous,
        )

    def _part(self, output: Output, folder: str) -> _Part:
        """Return the part that a write adds to; a write that replaces rows starts with an empty one."""
        is_view = output.is_view
        is_replaced = output.mode in _REPLACING and not output.partial
        part = None if is_view or is_replaced else self.parts.get(folder)
        if part is None:
            removed = (folder, *self.parts.below(folder)) if is_view or is_replaced else ()
            # The columns of a truncated dataset stay.
            remaining = self.dataset.fields if output.mode is Mode.TRUNCATE else ()
            for each in removed:
                if each in self.parts:
                    del self.parts[each]
            part = self.parts[folder] = _Part(fields={column.name: column for column in remaining})
        return part

    def _counts(self, output: Output, folder: str, part: _Part, *, is_inside: bool) -> Statistics:
        """Return the counts of a folder after a write; `is_inside`: of a folder that has counts."""
        if output.mode is Mode.APPEND:
            return output.statistics if part.counts is None else added(part.counts, output.statistics)
        below = [self.parts[each] for each in self.parts.below(folder)]
        is_partial = part.counts is not None or any(each.counts is not None for each in below)
        for each in below:
            each.counts = None
        return Statistics() if is_inside or is_partial else output.statistics

    def _forget_counts(self) -> None:
        """Make the counts of all folders unknown."""
        for each in self.parts.values():
            each.counts = UNKNOWN


_REPLACING = (Mode.CREATE, Mode.OVERWRITE, Mode.TRUNCATE)
"""Modes of writes that remove the earlier rows of their folder, if they are not partial."""


def _merged(before: Mode, now: Mode) -> Mode:
    if {before, now} == {Mode.APPEND, Mode.ALTER}:
        # Events have no word for an append, so that of the ALTER says more.
        return Mode.ALTER
    return Mode(change_of_both(before.value, now.value))


def renamed(dataset: Dataset, name: DatasetId) -> Dataset:
    """Return a dataset under another name, without its names in catalogs."""
    return replace(dataset, identity=replace(dataset.identity, id=name, symlinks=()))


def names_of(dataset: Dataset) -> tuple[DatasetId, ...]:
    """Return the names of a dataset in catalogs; for a catalog entry, its own name."""
    if dataset.identity.is_entry:
        return (dataset.id,)
    return tuple(link.id for link in dataset.identity.symlinks)
