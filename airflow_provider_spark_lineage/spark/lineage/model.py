"""The lineage model: datasets, column edges, statistics, gaps. Frozen, neutral, complete.

It uses no class of OpenLineage or Spark: `facets/` converts the model to events, `lineage/text.py` to text
for a person. Everything is hashable and sorts the same way on every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.plan.algebra import Kind
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity, Part

__all__ = [
    "ColumnChange",
    "Dataset",
    "Edge",
    "ExecutionSummary",
    "Failure",
    "Field",
    "Gap",
    "Input",
    "Kind",
    "Lineage",
    "Mode",
    "Output",
    "Snapshot",
    "Statistics",
]


@dataclass(frozen=True)
class Field:
    """A column of a dataset."""

    name: str
    type: str
    """Spark's simple string, for example `bigint` or `struct<a:int>`."""


class Snapshot(NamedTuple):
    """The rows of a dataset that a read sees: the current rows, a version, or rows that were kept."""

    folders: frozenset[str] = frozenset()
    """Relative to the dataset; empty for the whole dataset."""

    version: str = ""
    kept_by: str = ""
    """The execution that kept these rows, a checkpoint for example; empty for the dataset's current rows."""

    is_chosen: bool = False
    """The query chose this version of an Iceberg table."""


@dataclass(frozen=True)
class Dataset:
    """One dataset that was read or written, with its known columns."""

    identity: Identity
    fields: tuple[Field, ...] = ()
    kept_by: str = ""
    """The execution that kept the rows that are read here; empty for the dataset's current rows."""

    is_ordered: bool = field(default=True, compare=False)
    """All columns are in the order of one read; different columns of several reads have no order."""

    def __post_init__(self) -> None:
        """Drop columns if they describe only part of the dataset (a saved model)."""
        if not self.identity.has_columns:
            object.__setattr__(self, "fields", ())

    @property
    def id(self) -> DatasetId:
        """Return the name that OpenLineage events carry."""
        return self.identity.id

    @property
    def snapshot(self) -> Snapshot:
        """Return the snapshot that is read."""
        identity = self.identity
        return Snapshot(identity.folders, identity.version, self.kept_by, identity.is_chosen)

    def merged(self, *views: Dataset) -> Dataset:
        """Return this dataset with the further columns and names of other views of it."""
        others = [view for view in views if view != self]
        if not others:
            return self
        fields = {column.name: column for column in self.fields}
        for view in others:
            for name, column in {column.name: column for column in view.fields}.items():
                fields.setdefault(name, column)
        identities = [self.identity, *(view.identity for view in others)]
        locations = [identity.locations for identity in identities]
        identity = replace(
            self.identity,
            symlinks=tuple(dict.fromkeys(link for each in identities for link in each.symlinks)),
            # Empty, which is the whole dataset, if one of them is.
            locations=tuple(dict.fromkeys(chain(*locations))) if all(locations) else (),
            patterns=_patterns_of([identity.part for identity in identities]),
            # Reads of different versions have no single version.
            version=self.identity.version if len({each.version for each in identities}) == 1 else "",
            catalog=next((each.catalog for each in identities if each.catalog), self.identity.catalog),
        )
        kept_by = self.kept_by if all(view.kept_by == self.kept_by for view in others) else ""
        alike = all(
            each.is_ordered and [column.name for column in each.fields] == list(fields)
            for each in (self, *others)
        )
        return Dataset(identity, tuple(fields.values()), kept_by, alike)

    def of(self, part: Part) -> Dataset:
        """Return this dataset limited to a part of it."""
        if part == self.identity.part:
            return self
        return replace(self, identity=replace(self.identity, **part._asdict()))

    def at(self, version: str) -> Dataset:
        """Return this dataset in another version."""
        if version == self.identity.version:
            return self
        return replace(self, identity=replace(self.identity, version=version))


def _patterns_of(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the patterns of several reads, with the locations of those without patterns."""
    shown = [part.shown for part in parts] if any(part.patterns for part in parts) else []
    return tuple(dict.fromkeys(chain(*shown))) if all(shown) else ()


class Statistics(NamedTuple):
    """Counts that Spark measured; None is unknown, never zero."""

    rows: int | None = None
    size_bytes: int | None = None
    files: int | None = None

    def __bool__(self) -> bool:
        return any(count is not None for count in self)


UNKNOWN = Statistics()
"""No counts."""


@dataclass(frozen=True)
class Edge:
    """One column of an output depends on one field of an input."""

    source: DatasetId
    field: str
    """The field of `source`."""

    kind: Kind
    masking: bool = False
    """The value cannot be read back from the output (a hash, a mask, a count)."""

    column: str = ""
    """The column of the output; empty if the edge acts on the whole output."""

    part: str = ""
    """The part of a struct field, `city.code`; empty if the whole field acts."""

    @property
    def order(self) -> tuple[str, DatasetId, str, str, int, bool]:
        """Return the sort key of edges: the same on every run."""
        return (self.column, self.source, self.field, self.part, self.kind.order, self.masking)


class Mode(Enum):
    """Effect of a write on its dataset; `explain` prints the value."""

    CREATE = "create"
    OVERWRITE = "overwrite"
    APPEND = "append"
    ALTER = "alter"
    DROP = "drop"
    RENAME = "rename"
    TRUNCATE = "truncate"


class ColumnChange(NamedTuple):
    """A column that a command renamed or dropped; its rows are unchanged."""

    old: str
    """Empty if all columns were dropped."""

    new: str = ""
    """Empty if it was dropped."""

    def name_of(self, column: str) -> str:
        """Return the name of a column after the change; empty if it was dropped."""
        return self.new if not self.old or column.lower() == self.old.lower() else column


@dataclass(frozen=True)
class Input:
    """A dataset that was read."""

    dataset: Dataset
    statistics: Statistics = UNKNOWN
    stream: str = ""
    """The streaming query whose batch read it; each batch reads other rows."""

    by_folders: Mapping[frozenset[str], tuple[Part, Statistics]] = field(default_factory=dict, hash=False)
    """Folders of each of several reads -> their part and counts; empty if all have the same folders."""

    def uncounted(self) -> Input:
        """Return the same reads without counts."""
        known = {folders: (part, Statistics()) for folders, (part, _) in self.by_folders.items()}
        return replace(self, statistics=Statistics(), by_folders=known)

    def reads(self) -> tuple[Input, ...]:
        """Return one input for each part that was read."""
        if not self.by_folders:
            return (self,)
        return tuple(
            replace(self, dataset=self.dataset.of(part), statistics=statistics, by_folders={})
            for part, statistics in self.by_folders.values()
        )


@dataclass(frozen=True)
class Output:
    """A dataset that was written, with the sources of its columns."""

    dataset: Dataset
    mode: Mode
    statistics: Statistics = UNKNOWN
    edges: tuple[Edge, ...] = ()
    """Sorted by `Edge.order`; dataset-level edges, which have no column, come first."""

    inputs: tuple[DatasetId, ...] = ()
    """The datasets that this output was computed from, also those without a column edge."""

    partial: bool = False
    """It kept rows from before: other partitions, the files of an external table."""

    may_be_absent: bool = False
    """DROP IF EXISTS of a dataset that may not have existed."""

    was_empty: bool = False
    """The dataset existed, without data, before its CREATE."""

    is_alone: bool = False
    """It wrote a folder of the dataset, and no other folder of it held data afterwards."""

    as_added: Output | None = field(default=None, compare=False, repr=False)
    """A write that is CREATE, because its target had no data: the same write with its own mode."""

    rewrites: bool = False
    """It changed or removed earlier rows: UPDATE, DELETE, MERGE, TRUNCATE of a partition."""

    partitions: tuple[str, ...] = ()
    """Partition columns of a partial overwrite: they decide which earlier rows were kept."""

    partitioned_by: tuple[str, ...] = ()
    """All partition columns of its rows: a later read of the files has them after the other columns."""

    origins: frozenset[tuple[Edge, Snapshot]] = frozenset()
    """Edges with the snapshot that they come from, if the execution reads several of one source."""

    snapshots: frozenset[tuple[DatasetId, Snapshot]] = frozenset()
    """The snapshots that are read, for datasets with several in this execution."""

    parts: Mapping[str, Mapping[str, frozenset[tuple[Edge, Snapshot]]]] = field(
        default_factory=dict, hash=False, repr=False
    )
    """Struct column -> path of a field inside -> its edges; without columns whose fields are not known."""

    previous: DatasetId | None = None
    """The old name of a renamed dataset."""

    changes: tuple[ColumnChange, ...] = ()
    """Columns that a command renamed or dropped."""

    @property
    def has_new_data(self) -> bool:
        """Return whether the write changed rows of the dataset, not only its place, name or columns."""
        is_filled = self.mode is Mode.CREATE and bool(self.statistics)
        return is_filled or self.mode in (Mode.OVERWRITE, Mode.APPEND)

    @property
    def facts(self) -> dict[str, Any]:
        """The dataset's name, the mode, and how much was written if it is known."""
        counts = self.statistics
        facts = {
            "namespace": self.dataset.id.namespace,
            "name": self.dataset.id.name,
            "mode": self.mode.value,
            "rows": counts.rows,
            "bytes": counts.size_bytes,
            "files": counts.files,
        }
        return {name: fact for name, fact in facts.items() if fact is not None}

    has_rows: bool = True
    """False for a command that writes no rows, so that its counts stay unknown."""

    @property
    def is_view(self) -> bool:
        """Return whether it is a view, which has no rows of its own."""
        return self.dataset.identity.type == "VIEW"

    @property
    def is_whole(self) -> bool:
        """Return whether only its rows are in the dataset afterwards."""
        replaces = self.mode in (Mode.CREATE, Mode.OVERWRITE) and not self.rewrites
        return replaces and not self.partial and (self.is_alone or not self.dataset.identity.folder)

    def __post_init__(self) -> None:
        """Change CREATE of a folder to OVERWRITE: the dataset around the new folder may be older."""
        identity = self.dataset.identity
        if self.mode is Mode.CREATE and identity.folder and identity.has_columns:
            object.__setattr__(self, "mode", Mode.OVERWRITE)


@dataclass(frozen=True)
class Gap:
    """A part of the lineage that could not be determined, reported so that its absence is visible.

    A lineage without gaps claims to be complete.
    """

    where: str
    """Node inside the plan, for example `MapInPandas#4`, or a line of the text that was read."""

    reason: Reason
    """A sentence for the person who reads the event, not for us, with its kind."""

    output: DatasetId | None = None
    """The output concerned; None if nothing was written."""

    column: str = ""
    """The output's column concerned; empty for all columns."""

    @property
    def kind(self) -> GapKind:
        """The kind: by it, programs decide."""
        return self.reason.kind


@dataclass(frozen=True)
class Failure:
    """The error of a failed execution."""

    error_class: str
    """The exception's class, for example `org.apache.spark.SparkArithmeticException`."""

    message: str
    sql_state: str = ""
    execution: str = ""
    """The execution that failed, for example `execution 4 (command)`."""


@dataclass(frozen=True)
class Lineage:
    """The inputs and outputs of one execution, or of all executions of one task together."""

    inputs: tuple[Input, ...] = ()
    """Sorted by dataset id, each dataset once."""

    outputs: tuple[Output, ...] = ()
    """Sorted by dataset id, each dataset once."""

    gaps: tuple[Gap, ...] = ()
    failures: tuple[Failure, ...] = ()
    keeps: frozenset[tuple[DatasetId, Snapshot]] = frozenset()
    """Snapshots that later executions read unchanged, even if the datasets are written in between."""

    @classmethod
    def of_reads(cls, names: Iterable[tuple[str, str]]) -> Lineage:
        """Return a lineage that only reads datasets, given by namespace and name."""
        return cls(tuple(Input(Dataset(Identity(DatasetId(*each)))) for each in names))

    def __bool__(self) -> bool:
        return bool(self.inputs or self.outputs)


@dataclass(frozen=True)
class Join:
    """A physical join that compares every row of one side with every row of the other."""

    application_id: str
    operator: str
    """`CartesianProduct` or `BroadcastNestedLoopJoin`."""

    execution: int
    """Number of the execution in Spark's user interface."""

    elapsed_ms: int
    """Duration of the execution."""

    rows: int | None = None
    """Number of rows that it returned; None if it is unknown, as the following ones."""

    left_rows: int | None = None
    right_rows: int | None = None


ANALYSIS = "analyze"
"""Name of a query that Spark could not analyze, since Spark 4.2. Nothing ran, and the program may go on."""


@dataclass(frozen=True)
class ExecutionSummary:
    """One execution in a line, for run facets and listings."""

    number: int
    """Position in the run, from 1."""

    name: str
    started_at: str
    ended_at: str
    failed: bool
    reads: tuple[DatasetId, ...] = ()
    writes: tuple[DatasetId, ...] = ()
    rows: int | None = None
    """Number of rows that it wrote; None if it is unknown for one of its outputs."""

    unfinished: DatasetId | None = None
    """Dataset that it was going to write when it failed; None if it did not fail, or if it is unknown."""

    joins: tuple[Join, ...] = ()
    """At most one of each operator."""
    unread: str = ""
    """Reason why its plan could not be read; empty if it could."""

    statement: str = ""
    """Its SQL statement; empty if it came from none, or if texts are left out."""

    line: str = ""
    """Line of the program that received its rows, `load.py:12`; empty if it is unknown."""
