"""What a task says of one output, and of the names that it has."""

from __future__ import annotations

from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.lineage.model import Dataset, Edge, Field, Mode, Output, Statistics
from airflow_provider_spark_lineage.lineage.statistics import added
from airflow_provider_spark_lineage.sources.dataset import DatasetId


@dataclass
class Claim:
    """What the task says of one output."""

    output: Output
    edges: set[Edge]
    inputs: set[DatasetId]
    fields: dict[str, Field]
    made: bool
    """Nothing in it is from before the task: it disappears when it is dropped."""

    done: Mode | None = None
    """What was done to its rows or columns; None where it only has another name."""

    written: Statistics | None = None
    """The last overwrite and the appends after it; None where no rows were written."""

    @classmethod
    def of(cls, output: Output, edges: set[Edge], inputs: set[DatasetId], *, made: bool) -> Claim:
        """Return what there is to say after the first write."""
        claim = cls(output, set(edges), set(inputs), {one.name: one for one in output.dataset.fields}, made)
        claim._count(output)
        return claim

    def add(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        """Add one more write: every one really happened, so all edges stay."""
        if output.dataset.identity.type == "VIEW":
            self.edges, self.inputs, self.fields = set(), set(), {}
        self.edges |= edges
        self.inputs |= inputs
        for one in output.dataset.fields:
            self.fields.setdefault(one.name, one)
        self._count(output)
        self.output = replace(
            output,
            mode=_merged(self.output.mode, output.mode),
            # The last write left it as it is.
            dataset=self.output.dataset.merged(output.dataset).at(output.dataset.identity.version),
            previous=self.output.previous,
        )

    def _count(self, output: Output) -> None:
        """Add the rows of one more write."""
        if output.mode is not Mode.RENAME:
            self.done = output.mode if self.done is None else _merged(self.done, output.mode)
        if output.mode is Mode.TRUNCATE:
            self.written = None
        elif self.written is not None and output.rewrites:
            # How many of the rows before it are left, and which of them it wrote anew, is not known.
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
    """Return what two changes of one dataset come to."""
    if before is Mode.CREATE:
        return before
    if now is Mode.APPEND:
        return Mode.OVERWRITE if before is Mode.TRUNCATE else before
    return before if now is Mode.ALTER and before is not Mode.APPEND else now


def called(dataset: Dataset, name: DatasetId) -> Dataset:
    """Return a dataset under another name, of which no catalog knows."""
    return replace(dataset, identity=replace(dataset.identity, id=name, symlinks=()))


def names_of(dataset: Dataset) -> tuple[DatasetId, ...]:
    """Return the names that catalogs have for a dataset: its own, if it is one."""
    if dataset.identity.is_entry:
        return (dataset.id,)
    return tuple(DatasetId(link.namespace, link.name) for link in dataset.identity.symlinks)
