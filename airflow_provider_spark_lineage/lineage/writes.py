"""Completes the writes of a plan by what is known of their targets: each a value that never changes.

A plan does not say which columns a table adds, what a copy holds, or which rows an option replaces; the facts
of the target do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from airflow_provider_spark_lineage.lineage.columns import Evaluation, Hole, Value, Written, field_of
from airflow_provider_spark_lineage.lineage.leaves import Leaf, recorded_fields, relation_leaf
from airflow_provider_spark_lineage.lineage.model import Gap, Mode
from airflow_provider_spark_lineage.plan.algebra import Attribute, Kind, Scan, Transformation, Write
from airflow_provider_spark_lineage.sources import copied_from, identify, is_atomic, replaced_by
from airflow_provider_spark_lineage.sources.dataset import Facts

_REWRITING = frozenset(
    {"deletecommand", "deletefromtable", "mergeintocommand", "replacedata", "updatecommand", "writedelta"}
)
"""Modes of UPDATE, DELETE and MERGE, which give a table its rows anew."""

_MODES: Mapping[tuple[str, bool | None], Mode] = {
    ("append", None): Mode.APPEND,
    ("complete", None): Mode.OVERWRITE,
    ("overwrite", None): Mode.OVERWRITE,
    ("errorifexists", None): Mode.CREATE,
    ("ignore", None): Mode.CREATE,
    # The flag of a Hive insert.
    ("true", None): Mode.OVERWRITE,
    ("false", None): Mode.APPEND,
    # Writes to a V2 table say it by their class.
    ("appenddata", None): Mode.APPEND,
    ("overwritebyexpression", None): Mode.OVERWRITE,
    ("overwritepartitionsdynamic", None): Mode.OVERWRITE,
    ("deltadynamicpartitionoverwritecommand", None): Mode.OVERWRITE,
    ("deltainsertreplaceonorusingcommand", None): Mode.OVERWRITE,
    ("createtableasselect", None): Mode.CREATE,
    ("replacetableasselect", None): Mode.OVERWRITE,
    ("replacetableasselect", False): Mode.CREATE,
    **dict.fromkeys(((word, None) for word in _REWRITING), Mode.OVERWRITE),
    ("restoretablecommand", None): Mode.OVERWRITE,
    # So do views.
    ("createviewcommand", None): Mode.CREATE,
    ("createviewcommand", True): Mode.OVERWRITE,
    ("alterviewascommand", None): Mode.ALTER,
}
"""A probed mode in lower case -> what it means, and with whether the target was there, where that matters."""

_PARTIAL = ("static_partitions", "dynamic_partitions", "replace_on", "replace_using", "replace_where")
"""Facts of overwrites that leave some of the rows."""


@dataclass(frozen=True)
class TableWrite:
    """One write of an execution, and the facts of what it writes to."""

    written: Written
    target: Facts

    @property
    def node(self) -> Write:
        """Return the plan's node."""
        return self.written.write

    @property
    def mode(self) -> Mode:
        """Return what the write does to its target."""
        return _MODES.get(
            (self._word, self.target.get("existed")), _MODES.get((self._word, None), Mode.APPEND)
        )

    @property
    def rewrites(self) -> bool:
        """Return whether it gives rows of before anew."""
        return self._word in _REWRITING

    @property
    def _word(self) -> str:
        return str(self.target.get("mode") or self.target.get("overwrite")).lower()

    @property
    def is_partial(self) -> bool:
        """Return whether an overwrite leaves rows that were there before."""
        dynamic = str(self.target.get("partition_overwrite")).lower() == "dynamic"
        return bool(self.node.partial or dynamic or any(self.target.get(fact) for fact in _PARTIAL))

    @property
    def partitions(self) -> tuple[str, ...]:
        """Return the columns that say which partition a row is in: bare names, or as in `bucket(4, id)`."""
        columns = [str(column) for column in self.target.get("partition_columns") or ()]
        bare = (column.rpartition("(")[2].rstrip(")").rpartition(",")[2].strip() for column in columns)
        return tuple(bare) or self.node.partitions

    def reading(self, scan: Scan, **changes: Any) -> TableWrite:
        """Return this write with changes for which it reads one more scan."""
        return replace(self, written=replace(self.written, scans=(*self.written.scans, scan), **changes))


Leaves = dict[Scan, Leaf]
"""The leaves of a plan's scans."""


def completed(writes: Iterable[TableWrite]) -> tuple[list[TableWrite], Leaves]:
    """Return writes with all that their facts say, and the scans that this adds."""
    found, leaves = [], Leaves()
    for write in writes:
        copying, copied = _with_what_it_copies(write)
        replacing, replaced = _with_what_it_replaces(copying)
        found.append(_with_its_partition(replacing))
        leaves |= copied | replaced
    return found, leaves


def _with_what_it_copies(write: TableWrite) -> tuple[TableWrite, Leaves]:
    """Complete a write that takes the rows of another dataset as they are."""
    if not write.node.copied:
        return write, {}
    fields = recorded_fields(write.target)
    columns = tuple(Attribute(index, one.name, one.type) for index, one in enumerate(fields))
    scan = Scan((), columns, write.node.label, relation=write.node.relation)
    copied = tuple((column, field_of(scan, column.name)) for column in columns)
    return write.reading(scan, columns=copied), {scan: relation_leaf(scan, copied_from(write.target))}


def _with_what_it_replaces(write: TableWrite) -> tuple[TableWrite, Leaves]:
    """Let a write's rows depend on those columns of its table by which an option replaces rows."""
    written = write.written
    names = replaced_by(write.target)
    if names is None:
        reason = "the columns by which it replaces rows of its table are not recorded"
        holes = (*written.holes, Hole(written.write.label, reason))
        return replace(write, written=replace(written, holes=holes)), {}
    if not names:
        return write, {}
    known = {column.name.lower(): column for column, _ in written.columns}
    columns = tuple(
        replace(known.get(name.lower(), Attribute(0, name, "")), id=index) for index, name in enumerate(names)
    )
    scan = Scan((), columns, written.write.label, relation=written.write.relation)
    step = Transformation(Kind.FILTER)
    rows = written.rows | {((scan, column.name, ()), step) for column in columns}
    leaf = relation_leaf(scan, write.target)
    # What Spark counted it read for the rows, and the version is the one that was written.
    leaf = replace(leaf, counted=False, datasets=tuple(one.at("") for one in leaf.datasets))
    return write.reading(scan, rows=rows), {scan: leaf}


def _with_its_partition(write: TableWrite) -> TableWrite:
    """Add the columns of the partition that a statement names: each has one value in all rows."""
    known = {column.name.lower() for column, _ in write.written.columns}
    named = recorded_fields({"schema": write.target.get("partition_schema", "")})
    added = ((Attribute(-1, one.name, one.type), Value()) for one in named if one.name.lower() not in known)
    return _with_columns(write, added)


def with_what_its_table_adds(write: TableWrite, part: Evaluation) -> TableWrite:
    """Add the columns that a table adds, generated ones for example.

    The query does not have them, and the execution that wrote the rows has.
    """
    types = {column.name: column.type for column in write.node.table}
    known = {column.name.lower() for column, _ in write.written.columns}
    return _with_columns(
        write,
        (
            (replace(column, type=types.get(column.name, column.type)), value)
            for column, value in part.output
            if column.name.lower() not in known
        ),
    )


def _with_columns(write: TableWrite, added: Iterable[tuple[Attribute, Value]]) -> TableWrite:
    return replace(write, written=replace(write.written, columns=(*write.written.columns, *added)))


def undone(write: TableWrite) -> Iterator[Gap]:
    """Yield what nobody knows of a failed write: Spark removes what is overwritten before it writes.

    What it adds to files is there when the job has succeeded; what it gives to a server, at once.
    """
    target, label = write.target, write.node.label
    if is_atomic(target):
        return
    for identity in identify(target):
        if write.mode is Mode.OVERWRITE and not target.get("dynamic_partitions"):
            reason = "the write failed; whether what was there before is still there is not recorded"
            yield Gap(label, reason, identity.id)
        elif not identity.storage_layer:
            reason = "the write failed; which of its rows are there all the same is not recorded"
            yield Gap(label, reason, identity.id)
