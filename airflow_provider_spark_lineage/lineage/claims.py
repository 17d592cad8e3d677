"""Claims: the report of a task about one of its outputs, and the names of that output."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce

from airflow_provider_spark_lineage.lineage.folders import Folders
from airflow_provider_spark_lineage.lineage.model import Dataset, Edge, Field, Mode, Output, Statistics
from airflow_provider_spark_lineage.lineage.statistics import added
from airflow_provider_spark_lineage.sources.dataset import DatasetId


@dataclass(slots=True)
class Claim:
    """The report of the task about one output, merged from all its writes."""

    output: Output
    edges: set[Edge] = field(default_factory=set)
    inputs: set[DatasetId] = field(default_factory=set)
    fields: dict[str, Field] = field(default_factory=dict)
    data_mode: Mode | None = None
    """How its rows or columns changed; None if it was only renamed."""

    counts: Folders[Statistics] = field(default_factory=Folders)
    """Written folder (empty: the whole dataset) -> counts of the last overwrite and of later appends."""

    @property
    def written(self) -> Statistics | None:
        """The counts of all folders; None if no rows were written."""
        return reduce(added, self.counts.values()) if self.counts else None

    @property
    def dataset(self) -> Dataset:
        """The dataset with the columns of all writes."""
        return replace(self.output.dataset, fields=tuple(self.fields.values()))

    def add(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        """Add a write; edges of earlier writes stay, because those writes happened."""
        if output.dataset.identity.type == "VIEW":
            self.edges, self.inputs, self.fields = set(), set(), {}
        self.edges |= edges
        self.inputs |= inputs
        for written in output.dataset.fields:
            self.fields.setdefault(written.name, written)
        self._count(output)
        self.output = replace(
            output,
            mode=_merged(self.output.mode, output.mode),
            # The version after the last write.
            dataset=self.output.dataset.merged(output.dataset).at(output.dataset.identity.version),
            previous=self.output.previous,
        )

    def _count(self, output: Output) -> None:
        """Update mode and counts for one more write."""
        if output.mode is not Mode.RENAME:
            self.data_mode = output.mode if self.data_mode is None else _merged(self.data_mode, output.mode)
        folder = output.dataset.identity.folder
        if output.mode is Mode.TRUNCATE:
            self.counts = Folders()
        elif self.counts and output.rewrites:
            # Unknown: the number of earlier rows that are left, and how many of them were counted.
            self.counts = Folders()
            self.counts[""] = Statistics()
        elif not output.has_rows:
            return
        elif output.mode is Mode.APPEND:
            before = self.counts.get(folder)
            self.counts[folder] = output.statistics if before is None else added(before, output.statistics)
        else:
            around = [other for other in self.counts.around(folder) if other != folder]
            below = self.counts.below(folder)
            is_unknown = around or (output.partial and (below or folder in self.counts))
            for other in below:
                del self.counts[other]
            self.counts[folder] = Statistics() if is_unknown else output.statistics


def _merged(before: Mode, now: Mode) -> Mode:
    """Return the mode of two changes of one dataset together, `overwrite` for `truncate` and `append`."""
    if before is Mode.CREATE:
        return before
    if now is Mode.APPEND:
        return Mode.OVERWRITE if before is Mode.TRUNCATE else before
    return before if now is Mode.ALTER and before is not Mode.APPEND else now


def renamed(dataset: Dataset, name: DatasetId) -> Dataset:
    """Return a dataset under another name, without its names in catalogs."""
    return replace(dataset, identity=replace(dataset.identity, id=name, symlinks=()))


def names_of(dataset: Dataset) -> tuple[DatasetId, ...]:
    """Return the names of a dataset in catalogs; for a catalog entry, its own name."""
    if dataset.identity.is_entry:
        return (dataset.id,)
    return tuple(link.id for link in dataset.identity.symlinks)
