"""What a task reports about one output, and about its names."""

from __future__ import annotations

from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.lineage.model import Dataset, Edge, Field, Mode, Output, Statistics
from airflow_provider_spark_lineage.lineage.statistics import added
from airflow_provider_spark_lineage.sources.dataset import DatasetId


@dataclass
class Claim:
    """What the task reports about one output."""

    output: Output
    edges: set[Edge]
    inputs: set[DatasetId]
    fields: dict[str, Field]
    created: bool
    """The task created it: nothing in it is older, and a later DROP removes it from the outputs."""

    data_mode: Mode | None = None
    """How its rows or columns changed; None where it was only renamed."""

    written: Statistics | None = None
    """Counts of the last overwrite and the appends after it; None where no rows were written."""

    @classmethod
    def of(cls, output: Output, edges: set[Edge], inputs: set[DatasetId], *, created: bool) -> Claim:
        """Return the claim of an output's first write."""
        claim = cls(
            output, set(edges), set(inputs), {field.name: field for field in output.dataset.fields}, created
        )
        claim._count(output)
        return claim

    def add(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        """Add one more write; edges of earlier writes stay, because those writes happened."""
        if output.dataset.identity.type == "VIEW":
            self.edges, self.inputs, self.fields = set(), set(), {}
        self.edges |= edges
        self.inputs |= inputs
        for field in output.dataset.fields:
            self.fields.setdefault(field.name, field)
        self._count(output)
        self.output = replace(
            output,
            mode=_merged(self.output.mode, output.mode),
            # The version is the one that the last write left.
            dataset=self.output.dataset.merged(output.dataset).at(output.dataset.identity.version),
            previous=self.output.previous,
        )

    def _count(self, output: Output) -> None:
        """Update mode and counts for one more write."""
        if output.mode is not Mode.RENAME:
            self.data_mode = output.mode if self.data_mode is None else _merged(self.data_mode, output.mode)
        if output.mode is Mode.TRUNCATE:
            self.written = None
        elif self.written is not None and output.rewrites:
            # Unknown: how many earlier rows are left, and how many of the counted ones they are.
            self.written = Statistics()
        elif not output.has_rows:
            return
        elif self.written is not None and output.mode is Mode.APPEND:
            self.written = added(self.written, output.statistics)
        elif self.written is not None and output.partial:
            self.written = Statistics()
        else:
            self.written = output.statistics


def _merged(before: Mode, now: Mode) -> Mode:
    """Return the mode that two changes of one dataset amount to."""
    if before is Mode.CREATE:
        return before
    if now is Mode.APPEND:
        return Mode.OVERWRITE if before is Mode.TRUNCATE else before
    return before if now is Mode.ALTER and before is not Mode.APPEND else now


def renamed(dataset: Dataset, name: DatasetId) -> Dataset:
    """Return a dataset under another name, without the names that catalogs have for it."""
    return replace(dataset, identity=replace(dataset.identity, id=name, symlinks=()))


def names_of(dataset: Dataset) -> tuple[DatasetId, ...]:
    """Return the names that catalogs have for a dataset; a catalog entry has its own name."""
    if dataset.identity.is_entry:
        return (dataset.id,)
    return tuple(DatasetId(link.namespace, link.name) for link in dataset.identity.symlinks)
