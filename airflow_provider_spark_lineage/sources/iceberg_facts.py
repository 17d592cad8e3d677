"""Probes of Iceberg's live tables and commands, and their facts."""

from __future__ import annotations

from typing import Mapping, TypedDict

from airflow_provider_spark_lineage.sources.accessors import (
    COLUMN_CHANGES,
    DROPPED,
    DROPPED_EXISTS,
    SETTINGS,
    if_not_exists,
)
from airflow_provider_spark_lineage.sources.facts import DURATION, Facts
from airflow_provider_spark_lineage.sources.probe import Probe

_Implementation = TypedDict("_Implementation", {"catalog_catalog-impl": str}, total=False)
"""Full class name of the catalog's implementation; not a valid name for an attribute of `IcebergFacts`."""


class IcebergFacts(Facts, _Implementation, total=False):
    """Facts of an Iceberg table or one of its metadata tables."""

    iceberg_location: str
    """The table's folder."""

    iceberg_kind: str
    """Simple class name of Iceberg's table: `BaseTable`, `SnapshotsTable`, ..."""

    snapshot: int
    """Id of the snapshot that was read."""

    written_snapshot: int
    """Id of the last snapshot that was committed during the execution."""

    branch_snapshot: int
    """Id of the written branch's snapshot."""

    catalog_type: str
    """The catalog's setting `type`: `hadoop`, `hive`, `rest`, ..."""

    catalog_warehouse: str
    """The catalog's setting `warehouse`: a folder, or a name on a server."""

    catalog_uri: str
    """The catalog's setting `uri`."""

    purge: bool
    """DROP TABLE ... PURGE."""


_CATALOGS = ("SparkCatalog", "SparkSessionCatalog")
_SETTINGS = ("type", "catalog-impl", "warehouse", "uri")


def _catalog(catalog: str) -> Mapping[str, str]:
    """Return accessors for a table's catalog: its name, and the session's settings for it."""
    return {
        "v2_catalog": f"{catalog}.name",
        **{f"catalog_{key}": f"$conf(spark.sql.catalog.{{{catalog}.name}}.{key})" for key in _SETTINGS},
    }


def _read(node: str, table: str) -> Mapping[str, str]:
    """Return accessors for a `SparkTable` that is read; its snapshot is the one at loading time."""
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
    """Return accessors for a `SparkTable` that was written: the new snapshot of the table or the branch."""
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
                **if_not_exists(node),
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
                **if_not_exists(node),
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
