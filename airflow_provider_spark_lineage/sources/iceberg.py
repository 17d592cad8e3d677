"""Iceberg tables of any catalog, or by path: named by their location, at a snapshot.

Branches and tags are states of the table, not datasets of their own: the version says which state. A
metadata table (`t.snapshots`) is a dataset beside its table, named as Iceberg names it in paths:
`<location>#snapshots`.
"""

from __future__ import annotations

import re
from typing import FrozenSet, Mapping, Optional, Tuple

from airflow_provider_spark_lineage.sources.catalogs import SETTINGS
from airflow_provider_spark_lineage.sources.databases import place
from airflow_provider_spark_lineage.sources.dataset import (
    DROPPED,
    DROPPED_EXISTS,
    DURATION,
    Catalog,
    DatasetId,
    Facts,
    Identity,
    Probe,
    Source,
    Symlink,
    is_of_execution,
)
from airflow_provider_spark_lineage.sources.jdbc import COLUMN_CHANGES
from airflow_provider_spark_lineage.sources.paths import split_location, uri_of

_CATALOGS = ("SparkCatalog", "SparkSessionCatalog")
_SETTINGS = ("type", "catalog-impl", "warehouse", "uri")


def _catalog(catalog: str) -> Mapping[str, str]:
    """What to ask of a table's catalog: what the session was told about it."""
    return {
        "v2_catalog": f"{catalog}.name",
        **{f"catalog_{one}": f"$conf(spark.sql.catalog.{{{catalog}.name}}.{one})" for one in _SETTINGS},
    }


def _read(node: str, table: str) -> Mapping[str, str]:
    """What to ask a `SparkTable` that is read: it holds the snapshot that it had when it was found."""
    return {
        "iceberg_location": f"{table}.table.location",
        "iceberg_kind": f"{table}.table.getClass.getSimpleName",
        "snapshot": f"{table}.snapshotId",
        "identifier": f"{node}identifier?.toString",
        "v2_table": f"{table}.name",
        "provider": f"{table}.getClass.getName",
        **_catalog(f"{node}catalog?"),
    }


def _written(table: str) -> Mapping[str, str]:
    """What to ask a `SparkTable` that was written: the snapshot that it, or its branch, has then."""
    branch = f"{table}.table.snapshot({table}.branch)"
    return {
        "iceberg_location": f"{table}.table.location",
        "written_snapshot": f"{table}.table.history.$during('timestampMillis').snapshotId",
        "branch_snapshot": f"{branch}.snapshotId",
        "committed_at": f"{branch}.timestampMillis",
        **DURATION,
        "v2_table": f"{table}.name",
        "provider": f"{table}.getClass.getName",
        "mode": "getClass.getSimpleName",
    }


PROBES = (
    Probe(node="DataSourceV2Relation", of="table", relation="SparkTable", accessors=_read("", "table")),
    # Below UPDATE, DELETE and MERGE.
    Probe(
        node="DataSourceV2Relation",
        of="table.table",
        relation="SparkTable",
        accessors=_read("", "table.table"),
    ),
    *(
        Probe(
            node=node,
            target=True,
            of="table.table",
            relation=relation,
            accessors={
                **_written("table.table"),
                "identifier": "table.identifier?.toString",
                "schema": "query.schema.json",
                **({"partition_columns": "table.table.partitioning[]"} if node.endswith("Dynamic") else {}),
                **_catalog("table.catalog?"),
            },
        )
        for node in ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic")
        for relation in ("SparkTable", "StagedSparkTable")
    ),
    *(
        Probe(
            node=node,
            target=True,
            of=f"{relation}.table",
            relation="SparkTable",
            accessors={
                **_written(f"{relation}.table"),
                "identifier": f"{relation}.identifier?.toString",
                **_catalog(f"{relation}.catalog?"),
            },
        )
        for node, relation in (
            ("ReplaceData", "originalTable"),
            ("WriteDelta", "originalTable"),
            ("DeleteFromTable", "collectLeaves.head"),
        )
    ),
    *(
        Probe(
            node=node,
            target=True,
            of="name.catalog",
            relation=catalog,
            accessors={
                **_written("name.catalog.loadTable(name.identifier)"),
                "identifier": "name.identifier.toString",
                "if_not_exists": "ignoreIfExists",
                "schema": "query.schema.json",
                **_catalog("name.catalog"),
            },
        )
        for node in ("CreateTableAsSelect", "ReplaceTableAsSelect")
        for catalog in _CATALOGS
    ),
    *(
        Probe(
            node=node,
            target=True,
            of="name.catalog",
            relation=catalog,
            accessors={
                "iceberg_location": "name.catalog.loadTable(name.identifier).table.location",
                "if_not_exists": "ignoreIfExists",
                "identifier": "name.identifier.toString",
                "schema": "name.catalog.loadTable(name.identifier).schema.json",
                **_catalog("name.catalog"),
            },
        )
        for node in ("CreateTable", "ReplaceTable")
        for catalog in _CATALOGS
    ),
    *(
        Probe(
            node=node,
            target=True,
            of="table.catalog",
            relation=catalog,
            accessors={
                "iceberg_location": "table.table.table.location",
                "identifier": "table.identifier.toString",
                "schema": "table.catalog.loadTable(table.identifier).schema.json",
                **_catalog("table.catalog"),
            },
        )
        for node in COLUMN_CHANGES
        for catalog in _CATALOGS
    ),
    *(
        Probe(
            node=node,
            target=True,
            of=f"{resolved}.catalog",
            relation=catalog,
            accessors={
                "iceberg_location": f"{resolved}.table.table.location",
                "identifier": f"{resolved}.identifier.toString",
                "schema": f"{resolved}.table.schema.json",
                **more,
                **_catalog(f"{resolved}.catalog"),
            },
        )
        for node, resolved, more in (
            ("RenameTable", "child", {"new_name": "newName[]"}),
            ("TruncateTable", "table", {}),
        )
        for catalog in _CATALOGS
    ),
    *(
        Probe(
            node="DropTable",
            target=True,
            of="child.catalog",
            relation=catalog,
            accessors={
                "identifier": "child.identifier.toString",
                "if_exists": "ifExists",
                "purge": "purge",
                "table_text": "child.identifier.toString",
                "catalog": "child.catalog.name",
                **SETTINGS,
                **_catalog("child.catalog"),
            },
        )
        for catalog in _CATALOGS
    ),
    Probe(
        node="DropTable",
        before=True,
        of=DROPPED,
        relation="SparkTable",
        accessors={"existed": DROPPED_EXISTS, "iceberg_location": f"{DROPPED}.table.location"},
    ),
)

_METADATA_TABLE = re.compile(r"(?!Base|Serializable|Transaction|CommitCallback)(\w+)Table")
_LOCATION = re.compile(r"/|[A-Za-z][\w+.-]*:/")
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_ABOUT_ROWS = frozenset(
    {
        "_deleted",
        "_file",
        "_last_updated_sequence_number",
        "_partition",
        "_pos",
        "_row_id",
        "_spec_id",
    }
)

_STATE = re.compile(r"\.(?:branch|tag)_.+")

_NO_METADATA = re.compile(r"metadata\.json#")
"""In the name of a metadata table that a procedure of Iceberg's reads for itself."""


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name the table that a relation reads or a command writes, with its snapshot and its catalog."""
    location = str(facts.get("iceberg_location") or _place(facts))
    # A session's catalog has tables of other formats as well.
    if not location or "table_type" in facts:
        return ()
    namespace, name = split_location(location)
    kind = _metadata_table(facts)
    snapshot = facts.get("snapshot")
    if "mode" in facts:
        written = facts.get("branch_snapshot", facts.get("written_snapshot"))
        snapshot = written if is_of_execution(facts) else None
    return (
        Identity(
            id=DatasetId(namespace, f"{name}#{kind}" if kind else name),
            storage_layer="iceberg",
            file_format="" if kind else "parquet",
            symlinks=_symlinks(facts),
            version="" if snapshot is None or kind else str(snapshot),
            catalog=_catalog_of(facts),
        ),
    )


def entries(facts: Facts) -> Tuple[Identity, ...]:
    """Return the table that facts speak of as an entry of its catalog."""
    return tuple(
        Identity(DatasetId(link.namespace, link.name), type="TABLE", catalog=_catalog_of(facts))
        for link in (() if "table_type" in facts else _symlinks(facts))
    )


def _place(facts: Facts) -> str:
    """Return where a table lies that can not be asked any more; only a catalog of folders tells."""
    if facts.get("catalog_type") != "hadoop" or not facts.get("identifier"):
        return ""
    return "/".join((_warehouse(facts), *str(facts["identifier"]).replace("`", "").split(".")))


def _metadata_table(facts: Facts) -> str:
    """Return the name of a metadata table, as queries write it; empty for a table with data."""
    match = _METADATA_TABLE.fullmatch(str(facts.get("iceberg_kind") or ""))
    if not match:
        return ""
    name = _CAPITAL.sub("_", match[1]).lower()
    return "entries" if name == "manifest_entries" else name


def _catalog_of(facts: Facts) -> Catalog | None:
    name = str(facts.get("v2_catalog") or "")
    if not name or not facts.get("identifier"):
        return None
    kind = str(facts.get("catalog_type") or "")
    implementation = str(facts.get("catalog_catalog-impl") or "").rsplit(".", 1)[-1]
    if not kind and implementation:
        kind = implementation.removesuffix("Catalog").lower()
    return Catalog(
        framework="iceberg",
        # What Iceberg takes where nothing is said.
        type=kind or "hive",
        name=name,
        metadata_uri=str(facts.get("catalog_uri") or ""),
        warehouse_uri=_warehouse(facts),
    )


def _warehouse(facts: Facts) -> str:
    """Return where a catalog keeps its tables; a server may be asked for a warehouse by a name of its own."""
    given = str(facts.get("catalog_warehouse") or "")
    return uri_of(*split_location(given)) if _LOCATION.match(given) else given


def _symlinks(facts: Facts) -> Tuple[Symlink, ...]:
    """Name the table in its catalog: by the address of the catalog's server, or by the warehouse."""
    identifier = _identifier(facts)
    catalog = _catalog_of(facts)
    if catalog is None or "/" in identifier:
        return ()
    # A branch is written as if it were a table of its own; a table may be called `branch_offices`.
    table = str(facts.get("v2_table") or "").replace("`", "").removeprefix(catalog.name + ".")
    if table and _STATE.fullmatch(identifier[len(table) :]) and identifier.startswith(table):
        identifier = table
    namespace = _address(catalog) or catalog.warehouse_uri or catalog.metadata_uri
    return (Symlink(namespace=namespace, name=identifier),) if namespace else ()


def _identifier(facts: Facts) -> str:
    """Return what a catalog calls a table; a new name is in the old namespace unless it says another."""
    given = str(facts.get("identifier") or "").replace("`", "")
    new = tuple(facts.get("new_name") or ())
    if len(new) == 1:
        new = (*given.split(".")[:-1], *new)
    return ".".join(new) or given


def previous(facts: Facts) -> Tuple[DatasetId, ...]:
    """Return what a renamed table was called before: by its catalog, because it lies where it was."""
    if not facts.get("new_name"):
        return ()
    before = {name: value for name, value in facts.items() if name != "new_name"}
    return tuple(DatasetId(link.namespace, link.name) for link in _symlinks(before))


def _address(catalog: Catalog) -> str:
    """Return the address of the server that keeps a catalog's names; empty where the warehouse does."""
    if catalog.type == "hive":
        return re.sub(r"^thrift://", "hive://", catalog.metadata_uri.split(",")[0])
    if catalog.type == "jdbc":
        database = place(catalog.metadata_uri, {})
        return database.uri if database else ""
    return catalog.metadata_uri if catalog.type in ("rest", "nessie") else ""


def is_internal(facts: Facts) -> bool:
    """Say whether a procedure of Iceberg's reads metadata for itself."""
    return bool(_NO_METADATA.search(str(facts.get("v2_table") or "")))


def about_rows(facts: Facts) -> FrozenSet[str]:
    """Return the names of columns that say where a row lies; Iceberg keeps them from being those of data."""
    return _ABOUT_ROWS if facts.get("iceberg_location") else frozenset()


def reaches_data(change: str, facts: Facts) -> Optional[bool]:
    """Return whether a command changes an Iceberg table, or the catalog's entry of it alone.

    Only a catalog of folders removes a table's files by DROP without PURGE.
    """
    if not (facts.get("iceberg_location") or facts.get("v2_catalog")):
        return None
    if "table_type" in facts:
        return None
    if change == "dropped":
        return bool(facts.get("purge")) or facts.get("catalog_type") == "hadoop"
    return change != "renamed"


SOURCE = Source(
    name="iceberg",
    probes=PROBES,
    identify=identify,
    entries=entries,
    reaches_data=reaches_data,
    is_atomic=lambda facts: bool(identify(facts)),
    is_internal=is_internal,
)
