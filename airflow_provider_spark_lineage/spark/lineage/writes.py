"""Completion of the writes of a plan with the facts of their targets.

Only the facts have the columns that a table adds, the content of a copy, and the rows that an option
replaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.lineage.columns import Evaluation, PlanGap, Written
from airflow_provider_spark_lineage.spark.lineage.leaves import Leaf, recorded_fields, relation_leaf
from airflow_provider_spark_lineage.spark.lineage.model import Gap, Mode, Statistics
from airflow_provider_spark_lineage.spark.lineage.values import NOTHING, ColumnValue, column_of
from airflow_provider_spark_lineage.spark.plan.algebra import Attribute, Kind, Scan, Transformation, Write
from airflow_provider_spark_lineage.spark.sources import copied_from, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import Before, Facts
from airflow_provider_spark_lineage.spark.sources.source import Source

_REWRITING = frozenset(
    {"deletecommand", "deletefromtable", "mergeintocommand", "replacedata", "updatecommand", "writedelta"}
)
"""Modes of UPDATE, DELETE and MERGE, which rewrite a table's rows."""

_MODES: Mapping[tuple[str, bool | None], Mode] = {
    ("append", None): Mode.APPEND,
    ("append", False): Mode.CREATE,
    ("complete", None): Mode.OVERWRITE,
    ("overwrite", None): Mode.OVERWRITE,
    ("errorifexists", None): Mode.CREATE,
    ("ignore", None): Mode.CREATE,
    # The flag of a Hive insert.
    ("true", None): Mode.OVERWRITE,
    ("false", None): Mode.APPEND,
    # Writes to a V2 table: the mode is the class.
    ("appenddata", None): Mode.APPEND,
    ("appenddata", False): Mode.CREATE,
    ("overwritebyexpression", None): Mode.OVERWRITE,
    ("overwritepartitionsdynamic", None): Mode.OVERWRITE,
    ("deltadynamicpartitionoverwritecommand", None): Mode.OVERWRITE,
    ("deltainsertreplaceonorusingcommand", None): Mode.OVERWRITE,
    ("createtableasselect", None): Mode.CREATE,
    ("replacetableasselect", None): Mode.OVERWRITE,
    ("replacetableasselect", False): Mode.CREATE,
    **dict.fromkeys(((word, None) for word in _REWRITING), Mode.OVERWRITE),
    ("restoretablecommand", None): Mode.OVERWRITE,
    # Views: the mode is the class, too.
    ("createviewcommand", None): Mode.CREATE,
    ("createviewcommand", True): Mode.OVERWRITE,
    ("alterviewascommand", None): Mode.ALTER,
}
"""(probed mode in lower case, whether the target existed; None for either) -> mode."""

_WRAPPERS = frozenset(
    {
        "CreateDataSourceTableAsSelectCommand",
        "CreateHiveTableAsSelectCommand",
        "CreateTableAsSelect",
        "InsertIntoDataSourceDirCommand",
        "ReplaceTableAsSelect",
        "SaveAsV1TableCommand",
    }
)
"""Commands that run another write inside: both are reported, the inner one first."""

_INTO_FILES = "InsertIntoHadoopFsRelationCommand"
"""Spark's own write of files: Hive's INSERT replaces the partitions that its rows are in."""

_BY_OPTION = ("replace_on", "replace_using", "replace_where")
"""Facts of overwrites that replace the rows that an option chooses."""

_PARTIAL = ("static_partitions", "dynamic_partitions", *_BY_OPTION)
"""Facts of overwrites that keep some of the rows."""


@dataclass(frozen=True)
class TableWrite:
    """One write of an execution, and the facts of its target."""

    written: Written
    source: Source[Any]
    """The source of its target."""

    @property
    def node(self) -> Write:
        """Return the plan's node."""
        return self.written.write

    @property
    def target(self) -> Facts:
        """Return the facts of its target."""
        facts: Facts = self.source.facts
        return facts

    @property
    def wraps(self) -> bool:
        """Return whether it runs another write inside, which is reported before it."""
        return self.node.relation in _WRAPPERS

    @property
    def is_into_file_sink(self) -> bool:
        """Return whether Spark itself writes a stream's batch into a folder, and so counts rows and bytes."""
        return str(self.target.get("sink", "")).startswith("FileSink")

    @property
    def mode(self) -> Mode:
        """Return the mode of the write."""
        return _MODES.get(
            (self._word, self.target.get("existed")), _MODES.get((self._word, None), Mode.APPEND)
        )

    @property
    def rewrites(self) -> bool:
        """Return whether it rewrites earlier rows."""
        return self._word in _REWRITING

    @property
    def _word(self) -> str:
        return str(self.target.get("mode") or self.target.get("overwrite")).lower()

    def before(self, counts: Statistics) -> Before:
        """Return the known state of the target before the write."""
        if self.mode not in (Mode.APPEND, Mode.OVERWRITE) or self.rewrites:
            return Before.UNKNOWN
        return self.source.before(counts.files, counts.size_bytes, has_partitions=bool(self.partitions))

    @property
    def is_partial(self) -> bool:
        """Return whether an overwrite keeps earlier rows."""
        named = any(self.target.get(fact) for fact in _PARTIAL)
        is_dynamic = self.mode is Mode.OVERWRITE and self.source.keeps_partitions()
        return bool(self.node.partial or named or is_dynamic)

    @property
    def partitions(self) -> tuple[str, ...]:
        """Return the partition columns; for a transform such as `bucket(4, id)`, its column."""
        columns = [str(column) for column in self.target.get("partition_columns") or ()]
        bare = (column.rpartition("(")[2].rstrip(")").rpartition(",")[2].strip() for column in columns)
        return tuple(bare) or self.node.partitions

    @property
    def deciding_partitions(self) -> tuple[str, ...]:
        """Return the partition columns whose values decide which rows an overwrite removes.

        In Spark's static mode, these are the columns with a value in the statement, which come first.
        """
        if any(self.target.get(fact) for fact in _BY_OPTION):
            return ()
        is_static = self.node.relation == _INTO_FILES and not self.target.get("dynamic_partitions")
        count = int(self.target.get("static_partitions") or 0) if is_static else 0
        return self.partitions[: count or None]

    def was_skipped(self, statistics: Statistics, *, ran: bool) -> bool:
        """Return whether it was skipped because its target existed: IF NOT EXISTS or the mode `ignore`.

        A wrapping command that wrote rows ran an execution inside, which reports them. Spark Connect does not
        show executions inside, but there the probe knows that the target did not exist.
        """
        if not (self.target.get("if_not_exists") or str(self.target.get("mode")).lower() == "ignore"):
            return False
        # A view is created without a job, so only the probe knows whether it existed.
        existed = self.target.get("existed")
        return statistics.files == 0 or not ran or existed is True or (self.wraps and existed is not False)

    def was_written_before(self, jobs: int | None) -> bool:
        """Return whether a stream's batch was skipped because its folder already has a batch with this id.

        Spark repeated the batch, or another stream writes into the same folder. A batch that is written
        starts a job, even if it is empty.
        """
        return jobs == 0 and self.is_into_file_sink

    def reading(self, scan: Scan, **changes: Any) -> TableWrite:
        """Return this write with one more scan and other changes."""
        return replace(self, written=replace(self.written, scans=(*self.written.scans, scan), **changes))


Leaves = dict[Scan, Leaf]
"""The leaves of a plan's scans."""


def completed(writes: Iterable[TableWrite]) -> tuple[list[TableWrite], Leaves]:
    """Return the completed writes, and the leaves of the scans that were added."""
    results, leaves = [], Leaves()
    for write in writes:
        copying, copied = _with_what_it_copies(write)
        replacing, replaced = _with_what_it_replaces(copying)
        results.append(_with_its_partition(replacing))
        leaves |= copied | replaced
    return results, leaves


def _with_what_it_copies(write: TableWrite) -> tuple[TableWrite, Leaves]:
    """Complete a write that copies the rows of another dataset."""
    if not write.node.copied:
        return write, {}
    fields = recorded_fields(write.target)
    columns = tuple(Attribute(index, field.name, field.type) for index, field in enumerate(fields))
    scan = Scan((), columns, write.node.label, relation=write.node.relation)
    copied = tuple((column, column_of(scan, column.id)) for column in columns)
    return write.reading(scan, columns=copied), {
        scan: relation_leaf(scan, source_of(copied_from(write.target)))
    }


def _with_what_it_replaces(write: TableWrite) -> tuple[TableWrite, Leaves]:
    """Add FILTER edges from the table's columns that decide which rows an option replaces."""
    written, label = write.written, write.node.label
    names = write.source.replaced_by()
    if names is None:
        gap = PlanGap(label, of_plans.REPLACED_BY())
        return replace(write, written=replace(written, gaps=(*written.gaps, gap))), {}
    if not names:
        return write, {}
    written_columns = {column.name.lower(): column for column, _ in written.columns}
    columns = tuple(
        replace(written_columns.get(name.lower(), Attribute(0, name, "")), id=index)
        for index, name in enumerate(names)
    )
    scan = Scan((), columns, label, relation=write.node.relation)
    rows = written.rows | {((scan, column.id, ()), Transformation(Kind.FILTER)) for column in columns}
    leaf = relation_leaf(scan, write.source)
    # Not counted: Spark's counts are for the query. Without version: the facts have the written version.
    leaf = replace(leaf.of_now(), is_counted=False)
    return write.reading(scan, rows=rows), {scan: leaf}


def _with_its_partition(write: TableWrite) -> TableWrite:
    """Add the columns of the partition that a statement names: each has the same value in all rows."""
    named = recorded_fields({"schema": write.target.get("partition_schema", "")})
    return _with_columns(write, ((Attribute(-1, field.name, field.type), NOTHING) for field in named))


def with_what_its_table_adds(write: TableWrite, part: Evaluation) -> TableWrite:
    """Add the columns that a table adds, generated ones for example.

    They are not in the query's plan, but in the plan of the execution inside, which wrote the rows.
    """
    types = {column.name: column.type for column in write.node.table}
    added = (
        (replace(column, type=types.get(column.name, column.type)), value) for column, value in part.output
    )
    return _with_columns(write, added)


def _with_columns(write: TableWrite, added: Iterable[tuple[Attribute, ColumnValue]]) -> TableWrite:
    """Add the columns that the write does not have yet."""
    columns = write.written.columns
    names = {column.name.lower() for column, _ in columns}
    new = [(column, value) for column, value in added if column.name.lower() not in names]
    return write if not new else replace(write, written=replace(write.written, columns=(*columns, *new)))


def gaps_of_failed(write: TableWrite) -> Iterator[Gap]:
    """Yield the gaps of a failed write: an overwrite removes the earlier rows before it writes.

    Rows appended to files exist once the job has succeeded; rows sent to a server exist at once.
    """
    target, label = write.target, write.node.label
    if write.source.is_atomic:
        return
    for identity in write.source.identities:
        if write.mode is Mode.OVERWRITE and not target.get("dynamic_partitions"):
            yield Gap(label, of_plans.REMOVED_ROWS(), identity.id)
        elif not identity.storage_layer:
            yield Gap(label, of_plans.SOME_ROWS(), identity.id)
