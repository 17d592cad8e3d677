"""Results of earlier executions that later ones read: checkpoints, variables, a query's rows as an RDD."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Gap, Snapshot
from airflow_provider_spark_lineage.spark.plan.algebra import Transformation
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId

DatasetSnapshot = tuple[DatasetId, Snapshot]
"""A dataset and the snapshot of it that was read."""

FieldUse = tuple[DatasetSnapshot, str, tuple[str, ...], Transformation]
"""(dataset and its snapshot, field, path inside a struct field, how it acts)."""

ResultKey = tuple[int, ...] | str
"""Key of a result: the column ids of kept frames, the name of a variable, or the key of an RDD."""


def rdd_key(rdd_id: int) -> str:
    """Return the key of a query whose rows were used as an RDD."""
    return f"{_RDD}{rdd_id}"


def is_variable(key: ResultKey) -> bool:
    """Return whether a key is the name of a variable."""
    return isinstance(key, str) and not key.startswith(_RDD)


_RDD = "rdd "


@dataclass(frozen=True)
class StoredResult:
    """A result that later executions may read: a checkpoint, a variable, or a query's rows as an RDD."""

    columns: Mapping[int, frozenset[FieldUse]]
    """Id of a column -> its sources."""

    rows: frozenset[FieldUse]
    datasets: tuple[Dataset, ...]
    gaps: tuple[Gap, ...] = ()
    kept_by: tuple[str, ...] = field(default=(), compare=False)
    """The execution that kept its rows, or all candidates; empty if the rows are read when they are used."""

    @property
    def kept_snapshots(self) -> Iterator[DatasetSnapshot]:
        """Yield the snapshots that it reads: the datasets as they were when its rows were kept."""
        uses = (use for each in (*self.columns.values(), self.rows) for use in each)
        yield from (place for place, *_ in self.as_kept(uses))
        yield from ((dataset.id, dataset.snapshot) for dataset in self.datasets_as_kept())

    def as_kept(self, uses: Iterable[FieldUse]) -> frozenset[FieldUse]:
        """Return fields as they were when the rows were kept; fields that were kept earlier are unchanged."""
        return frozenset(
            ((dataset, snapshot._replace(kept_by=kept_by)), name, part, step)
            for (dataset, snapshot), name, part, step in uses
            for kept_by in self._kept_by(snapshot)
        )

    def datasets_as_kept(self) -> tuple[Dataset, ...]:
        """Return its datasets as they were when the rows were kept."""
        return tuple(
            replace(dataset, kept_by=kept_by)
            for dataset in self.datasets
            for kept_by in self._kept_by(dataset.snapshot)
        )

    def _kept_by(self, snapshot: Snapshot) -> tuple[str, ...]:
        return self.kept_by if self.kept_by and not snapshot.kept_by else (snapshot.kept_by,)


@dataclass(frozen=True)
class KeptFrames:
    """Frames with the same column ids that checkpoints kept; a filter or a union does not change ids.

    A scan is matched to its frame by the RDD. The RDD of an eager checkpoint is recorded; the RDD of a lazy
    checkpoint is learned from the first scan that only it can match.
    """

    unread: tuple[StoredResult, ...] = ()
    """Frames whose RDD is unknown."""

    by_rdd: Mapping[int, StoredResult] = field(default_factory=dict)

    @property
    def frames(self) -> tuple[StoredResult, ...]:
        """Return all frames."""
        return (*self.by_rdd.values(), *self.unread)

    def with_frame(self, frame: StoredResult, rdd: int | None) -> KeptFrames:
        """Return these frames and one more, with its RDD if that is known."""
        if rdd is not None:
            return KeptFrames(self.unread, {**self.by_rdd, rdd: frame})
        # If a program keeps many frames that cannot be told apart, merge them into one.
        unread = self.unread if len(self.unread) < _MAX_UNREAD else (_common(self.unread),)
        return KeptFrames((*unread, frame), self.by_rdd)

    def with_scan(self, rdd: object) -> KeptFrames:
        """Return these frames after a scan; if only one has no RDD yet, the scan's RDD is that frame's."""
        if not isinstance(rdd, int) or rdd in self.by_rdd or len(self.unread) != 1:
            return self
        return KeptFrames((), {**self.by_rdd, rdd: self.unread[0]})

    def of(self, rdd: object) -> StoredResult | None:
        """Return the frame with an RDD; if several are possible, the sources that all of them share."""
        if isinstance(rdd, int) and rdd in self.by_rdd:
            return self.by_rdd[rdd]
        candidates = self.unread if isinstance(rdd, int) and self.unread else self.frames
        return _common(candidates) if candidates else None


_MAX_UNREAD = 8


def _common(frames: Sequence[StoredResult]) -> StoredResult:
    """Return the sources that all frames share, with a gap if they differ."""
    first, *others = frames
    kept_by = tuple(dict.fromkeys(name for frame in frames for name in frame.kept_by))[-_MAX_UNREAD:]
    if all(frame == first for frame in others):
        return replace(first, kept_by=kept_by)
    nothing: frozenset[FieldUse] = frozenset()
    columns = {
        key: uses.intersection(*(frame.columns.get(key, nothing) for frame in others))
        for key, uses in first.columns.items()
    }
    ambiguous = Gap("LogicalRDD", of_plans.SEVERAL_FRAMES())
    gaps = dict.fromkeys([*(gap for frame in frames for gap in frame.gaps), ambiguous])
    datasets = tuple(each for each in first.datasets if all(each in frame.datasets for frame in others))
    rows = first.rows.intersection(*(frame.rows for frame in others))
    return StoredResult(columns, rows, datasets, tuple(gaps), kept_by)


Results = dict[ResultKey, KeptFrames]
"""Results of executions that later executions may read; a variable or an RDD has one frame."""
