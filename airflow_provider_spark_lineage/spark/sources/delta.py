"""Delta Lake tables, by path or behind a catalog table: named by their location, at a version."""

from __future__ import annotations

from typing import FrozenSet, Optional, Tuple
from urllib.parse import unquote

from airflow_provider_spark_lineage.spark.gaps import of_datasets
from airflow_provider_spark_lineage.spark.sources.catalogs import parts_of, symlinks, warehouse_uri
from airflow_provider_spark_lineage.spark.sources.dataset import Before, Catalog, DatasetId, Identity
from airflow_provider_spark_lineage.spark.sources.delta_facts import PROBES, DeltaFacts
from airflow_provider_spark_lineage.spark.sources.facts import is_of_execution
from airflow_provider_spark_lineage.spark.sources.paths import completed, is_complete, split_location
from airflow_provider_spark_lineage.spark.sources.source import Source

_OF_CHANGES = ("CdcAddFileIndex", "DeltaCDFRelation", "TahoeChangeFileIndex", "TahoeRemoveFileIndex")
"""File indexes and relations that read a change feed."""

_ABOUT_CHANGES = frozenset({"_change_type", "_commit_timestamp", "_commit_version"})
"""Columns that a change feed adds to the table's."""


_CLOCKS_DIFFER = 60_000
"""Milliseconds: the clock of a file system may be this far behind."""

_SECOND = 1_000
"""Milliseconds of a second: object stores tell the time of a commit in whole seconds."""


class Delta(Source[DeltaFacts]):
    """Tables of Delta Lake, and what Delta reads for its own purpose."""

    probes = PROBES
    parts = frozenset({"deltaTransactionalWrite"})
    is_atomic = True

    def knows(self) -> bool:
        """Return whether the facts name a table, or are of a read of Delta's log or a partial overwrite."""
        return bool(self.identities) or "delta_action" in self.facts or "replace_where" in self.facts

    def identify(self) -> Tuple[Identity, ...]:
        """Return the table that a relation reads or a command writes, with its version and its catalog."""
        facts = self.facts if self.facts.get("delta_path") else _being_made(self.facts)
        path = str(facts.get("delta_path") or unquote(facts.get("delta_location") or ""))
        if not path:
            return ()
        note = None if is_complete(path) or path.startswith("/") else of_datasets.RELATIVE()
        path = completed(path, str(facts.get("file_system") or ""))
        # The whole path is the name, even if its last folder looks like a partition.
        namespace, name = split_location(path)
        return (
            Identity(
                id=DatasetId(namespace, name),
                note=note,
                storage_layer="delta",
                file_format="parquet",
                symlinks=symlinks(facts),
                version=_version(facts),
                catalog=_catalog(facts),
            ),
        )

    def about_rows(self) -> FrozenSet[str]:
        """Return the names of columns that a change feed shows and its table does not have."""
        return _ABOUT_CHANGES if self.facts.get("delta_index") in _OF_CHANGES else frozenset()

    def is_internal(self) -> bool:
        """Return whether Delta read its log, or files for one of its own commands."""
        return self.facts.get("delta_action") not in (None, "streaming") and not self.facts.get("is_stream")

    def is_noop(self) -> bool:
        """Return whether UPDATE, DELETE or MERGE found no row to change, so that Delta committed nothing."""
        before = self.facts.get("version_before")
        if before is None:
            return False
        # A `DeltaTable` that was made earlier has an older version before the command.
        facts = self.facts
        is_older = "committed_at" in facts and facts["committed_at"] + _CLOCKS_DIFFER < facts["started_at"]
        return is_older or before == facts.get("written_version")

    def replaced_by(self) -> Optional[Tuple[str, ...]]:
        """Return the columns in the condition of `replaceWhere`; a field of a struct counts as its column."""
        if not self.facts.get("replace_where"):
            return ()
        names = self.facts.get("condition_columns")
        if names is None:
            return None
        # Spark prints an unresolved name with a quote before it.
        return tuple(dict.fromkeys(parts_of(name.lstrip("'"))[0] for name in names))

    def keeps_partitions(self) -> bool:
        """Return whether an option or a setting makes an overwrite dynamic.

        A table without partitions is replaced.
        """
        if not self.facts.get("partition_columns", True):
            return False
        mode = self.facts.get("partition_overwrite") or self.facts.get("partition_overwrite_setting") or ""
        return mode.lower() == "dynamic"

    def before(self, files: Optional[int], size_bytes: Optional[int], *, has_partitions: bool) -> Before:
        """Return `ABSENT` for the table's first version, `EMPTY` if Delta knew of no data file."""
        first: DeltaFacts = {**self.facts, "committed_at": self.facts.get("first_commit_at", 0)}
        if "first_commit_at" in self.facts and is_of_execution(first):
            return Before.ABSENT
        return Before.EMPTY if self.facts.get("files_before") == 0 else Before.UNKNOWN

    def reaches_data(self, change: str) -> Optional[bool]:
        """Return whether a command changes a Delta table, or only its catalog entry."""
        is_managed = self.facts.get("table_type") == "MANAGED"
        if change == "created":
            # CREATE over a folder that holds a table already writes nothing.
            return is_managed or self.facts.get("place_existed") is False
        # Delta keeps the columns in its own log, so altering them is a commit.
        return change == "altered" or is_managed


def _being_made(facts: DeltaFacts) -> DeltaFacts:
    """Return facts with place and name of the Delta table that a running command makes, if they are known."""
    given = str(facts.get("new_location") or facts.get("new_location_property") or "")
    is_whole = given.startswith("/") or is_complete(given)
    if str(facts.get("new_provider") or "").lower() != "delta" or (given and not is_whole) or ".." in given:
        return facts
    place = given or unquote(facts.get("new_default_location") or "")
    # As Spark's catalog has the names, unless `spark.sql.caseSensitive` is set.
    name = [part.lower() for part in facts.get("new_table", ())]
    # The table of a folder (delta.`/path`) has no name in the catalog.
    return {**facts, "delta_path": place, "table": [] if any("/" in part for part in name) else name}


def is_log(path: str) -> bool:
    """Return whether a file is in the log of a Delta table."""
    return "/_delta_log/" in path


def _version(facts: DeltaFacts) -> str:
    """Return the version that was read or written; empty where a later commit hides it."""
    # Commands such as UPDATE also have `version`, the one before them.
    version = facts["written_version"] if "written_version" in facts else _read_version(facts)
    return "" if version is None or not is_of_execution(facts) else str(version)


def _read_version(facts: DeltaFacts) -> Optional[int]:
    """Return the version that was read; None if commits since the analysis hide it.

    A frame that was made before a write reads that write's rows, unless it travels in time.
    """
    version, last = facts.get("version"), facts.get("last_version")
    committed_at, started_at = facts.get("last_commit_at"), facts.get("started_at")
    if version is None or last is None or committed_at is None or facts.get("is_time_travel", True):
        return version
    # The query of an RDD has no start: its facts are read when the RDD is made.
    if version == last or started_at is None:
        return last
    if committed_at > started_at:
        # The only commit since then was made during the read, by the same execution for example, or later.
        return version if last == version + 1 else None
    may_be_during = committed_at % _SECOND == 0 and committed_at + _SECOND > started_at
    return None if may_be_during else last


def _catalog(facts: DeltaFacts) -> Optional[Catalog]:
    table = facts.get("table") or ()
    if not table:
        return None
    name = str(table[0]) if len(table) > 2 else "spark_catalog"
    return Catalog("delta", "delta", name, warehouse_uri=warehouse_uri(facts))
