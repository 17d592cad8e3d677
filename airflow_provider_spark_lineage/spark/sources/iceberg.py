"""Iceberg tables of any catalog, or by path: named by their location, at a snapshot.

Branches and tags are states of the table, not datasets of their own: the version says which state. A
metadata table (`t.snapshots`) is a dataset beside its table, named as Iceberg names it in paths:
`<location>#snapshots`.
"""

from __future__ import annotations

import re
from typing import FrozenSet, Optional, Tuple

from airflow_provider_spark_lineage.spark.records.plan_json import simple_name
from airflow_provider_spark_lineage.spark.sources.catalogs import is_session_table
from airflow_provider_spark_lineage.spark.sources.databases import place
from airflow_provider_spark_lineage.spark.sources.dataset import Before, Catalog, DatasetId, Identity, Symlink
from airflow_provider_spark_lineage.spark.sources.facts import is_of_execution
from airflow_provider_spark_lineage.spark.sources.iceberg_facts import PROBES, IcebergFacts
from airflow_provider_spark_lineage.spark.sources.paths import split_location, uri_of
from airflow_provider_spark_lineage.spark.sources.source import Source

_METADATA_TABLE = re.compile(r"(?!Base|Serializable|Transaction|CommitCallback)(\w+)Table")
_LOCATION = re.compile(r"/|[A-Za-z][\w+.-]*:/")
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_ABOUT_ROWS = frozenset(
    {"_deleted", "_file", "_last_updated_sequence_number", "_partition", "_pos", "_row_id", "_spec_id"}
)

_STATE = re.compile(r"\.(?:branch|tag)_.+")

_NO_METADATA = re.compile(r"metadata\.json#")
"""Part of the name of a metadata table that an Iceberg procedure reads for its own purpose."""


class Iceberg(Source[IcebergFacts]):
    """Tables of Iceberg, and names of its tables in catalogs."""

    probes = PROBES
    is_atomic = True

    def knows(self) -> bool:
        """Return whether the facts name a table, or a command's table in a catalog without its location."""
        is_name = (
            "identifier" in self.facts and "v2_catalog" in self.facts and not is_session_table(self.facts)
        )
        is_of_command = is_name and "provider" not in self.facts and "paths" not in self.facts
        return is_of_command or bool(self.identities) or self.is_internal()

    def identify(self) -> Tuple[Identity, ...]:
        """Return the table that a relation reads or a command writes, with its snapshot and its catalog."""
        location = str(self.facts.get("iceberg_location") or _place(self.facts))
        # Iceberg's session catalog also has tables of other formats.
        if not location or is_session_table(self.facts):
            return ()
        namespace, name = split_location(location)
        kind = _metadata_table(self.facts)
        return (
            Identity(
                id=DatasetId(namespace, f"{name}#{kind}" if kind else name),
                storage_layer="iceberg",
                file_format="" if kind else "parquet",
                symlinks=_symlinks(self.facts),
                version="" if kind else _snapshot(self.facts),
                is_chosen=_is_chosen(self.facts),
                catalog=_catalog_of(self.facts),
            ),
        )

    def about_rows(self) -> FrozenSet[str]:
        """Return the names of Iceberg's metadata columns, which describe the storage of a row."""
        return _ABOUT_ROWS if self.facts.get("iceberg_location") else frozenset()

    def is_internal(self) -> bool:
        """Return whether an Iceberg procedure reads metadata for its own purpose."""
        return bool(_NO_METADATA.search(str(self.facts.get("v2_table") or "")))

    def entries_without_data(self) -> Tuple[Identity, ...]:
        """Return the table's entry in its catalog."""
        catalog = _catalog_of(self.facts)
        entries = tuple(Identity(link.id, type="TABLE", catalog=catalog) for link in _symlinks(self.facts))
        return entries or super().entries_without_data()

    def previous(self) -> Tuple[DatasetId, ...]:
        """Return the old name of a renamed table in its catalog; its location does not change."""
        if not self.facts.get("new_name"):
            return ()
        before: IcebergFacts = {**self.facts, "new_name": []}
        return tuple(link.id for link in _symlinks(before))

    def before(self, files: Optional[int], size_bytes: Optional[int], *, has_partitions: bool) -> Before:
        """Return `EMPTY` if an append's rows are all that the table has."""
        added, total = self.facts.get("added_records"), self.facts.get("total_records")
        is_alone = self.facts.get("mode") == "AppendData" and added is not None and added == total
        return Before.EMPTY if is_alone else Before.UNKNOWN

    def reaches_data(self, change: str) -> Optional[bool]:
        """Return whether a command changes an Iceberg table, or only its catalog entry.

        Only a catalog of folders removes a table's files by DROP without PURGE.
        """
        if change == "dropped":
            return bool(self.facts.get("purge")) or self.facts.get("catalog_type") == "hadoop"
        return change != "renamed"


def _snapshot(facts: IcebergFacts) -> str:
    """Return the id of the snapshot that was read or written; empty where a later commit hides it."""
    read_or_last = facts["written_snapshot"] if "written_snapshot" in facts else _read_snapshot(facts)
    snapshot = facts.get("branch_snapshot", read_or_last)
    return "" if snapshot is None or not is_of_execution(facts) else str(snapshot)


def _read_snapshot(facts: IcebergFacts) -> Optional[int]:
    """Return the id of the snapshot that was read; None if commits since the table was loaded hide it."""
    loaded, last = facts.get("snapshot"), facts.get("last_snapshot")
    committed_at, started_at = facts.get("last_commit_at"), facts.get("started_at")
    is_last = facts.get("is_refreshed") and "loaded_snapshot" in facts
    if not is_last or committed_at is None or "time_travel" in facts or "branch" in facts:
        return loaded
    # The query of an RDD has no start: its facts are read when the RDD is made.
    if started_at is None or committed_at <= started_at:
        return last
    # The only commit since then was made during the read, by the same execution for example, or later.
    return loaded if loaded in (last, facts.get("last_parent")) else None


def _is_chosen(facts: IcebergFacts) -> bool:
    """Return whether the query chose the snapshot: before Spark 4.1, only such tables have one."""
    return "time_travel" in facts or (facts.get("snapshot") is not None and "loaded_snapshot" not in facts)


def _place(facts: IcebergFacts) -> str:
    """Return the folder of a dropped table: a catalog of type `hadoop` has tables in folders by name."""
    if facts.get("catalog_type") != "hadoop" or not facts.get("identifier"):
        return ""
    return "/".join((_warehouse(facts), *str(facts["identifier"]).replace("`", "").split(".")))


def _metadata_table(facts: IcebergFacts) -> str:
    """Return the name of a metadata table, as queries write it; empty for a table with data."""
    match = _METADATA_TABLE.fullmatch(str(facts.get("iceberg_kind") or ""))
    name = _CAPITAL.sub("_", match[1]).lower() if match else ""
    return "entries" if name == "manifest_entries" else name


def _catalog_of(facts: IcebergFacts) -> Optional[Catalog]:
    name = str(facts.get("v2_catalog") or "")
    if not name or not facts.get("identifier"):
        return None
    implementation = simple_name(str(facts.get("catalog_catalog-impl") or ""))
    return Catalog(
        framework="iceberg",
        # Iceberg's default is Hive.
        type=str(facts.get("catalog_type") or implementation.removesuffix("Catalog").lower() or "hive"),
        name=name,
        metadata_uri=str(facts.get("catalog_uri") or ""),
        warehouse_uri=_warehouse(facts),
    )


def _warehouse(facts: IcebergFacts) -> str:
    """Return the URI of a catalog's folder, or the server's name of its warehouse."""
    warehouse = str(facts.get("catalog_warehouse") or "")
    return uri_of(*split_location(warehouse)) if _LOCATION.match(warehouse) else warehouse


def _symlinks(facts: IcebergFacts) -> Tuple[Symlink, ...]:
    """Return the table's name in its catalog; the namespace is the server's address or the warehouse."""
    identifier = _identifier(facts)
    catalog = _catalog_of(facts)
    if catalog is None or "/" in identifier:
        return ()
    # A write to a branch has `table.branch_name` as its identifier; a table may be called `branch_offices`.
    table = str(facts.get("v2_table") or "").replace("`", "").removeprefix(catalog.name + ".")
    if table and _STATE.fullmatch(identifier[len(table) :]) and identifier.startswith(table):
        identifier = table
    namespace = _address(catalog) or catalog.warehouse_uri or catalog.metadata_uri
    return (Symlink(namespace=namespace, name=identifier),) if namespace else ()


def _identifier(facts: IcebergFacts) -> str:
    """Return a table's name in its catalog; a new name without a namespace keeps the old namespace."""
    identifier = str(facts.get("identifier") or "").replace("`", "")
    new = tuple(facts.get("new_name") or ())
    if len(new) == 1:
        new = (*identifier.split(".")[:-1], *new)
    return ".".join(new) or identifier


def _address(catalog: Catalog) -> str:
    """Return the address of a catalog's server; empty for a catalog of folders."""
    if catalog.type == "hive":
        return re.sub(r"^thrift://", "hive://", catalog.metadata_uri.split(",")[0])
    if catalog.type == "jdbc":
        database = place(catalog.metadata_uri, {})
        return database.uri if database else ""
    return catalog.metadata_uri if catalog.type in ("rest", "nessie") else ""
