"""Probes of Iceberg's live tables and commands, and their facts."""

from __future__ import annotations

from functools import partial
from typing import Mapping, TypedDict

from airflow_provider_spark_lineage.spark.sources.accessors import (
    COLUMN_CHANGES,
    DROPPED,
    DROPPED_EXISTS,
    IF_NOT_EXISTS,
    MADE,
    SCHEMA,
    SETTINGS,
    V2_CHANGES,
)
from airflow_provider_spark_lineage.spark.sources.facts import DURATION, Facts
from airflow_provider_spark_lineage.spark.sources.probe import read, write

_Implementation = TypedDict("_Implementation", {"catalog_catalog-impl": str}, total=False)
"""Full class name of the catalog's implementation; not a valid name for an attribute of `IcebergFacts`."""


class IcebergFacts(Facts, _Implementation, total=False):
    """Facts of an Iceberg table or one of its metadata tables."""

    iceberg_location: str
    """The table's folder."""

    iceberg_kind: str
    """Simple class name of Iceberg's table: `BaseTable`, `SnapshotsTable`, ..."""

    snapshot: int
    """Id of the snapshot that was read, or of the last one when the table was loaded."""

    is_refreshed: bool
    """Spark reads the last snapshot instead (4.1 and newer), unless the query travels in time."""

    loaded_snapshot: int
    """The same as `snapshot`, where each loaded table has one: elsewhere only time travel has a snapshot."""

    time_travel: str
    """Class of the option that chose the snapshot, if any did."""

    branch: str
    """The branch that is read, if it is not the main one."""

    last_snapshot: int
    """Id of the main branch's last snapshot after a read."""

    last_parent: int
    """Id of the snapshot before that."""

    last_commit_at: int
    """When the last snapshot was committed, in milliseconds since 1970."""

    written_snapshot: int
    """Id of the last snapshot that was committed during the execution."""

    branch_snapshot: int
    """Id of the written branch's snapshot."""

    added_records: str
    """Number of rows that the written snapshot added, as its summary has it."""

    total_records: str
    """Number of rows in all of its data files."""

    catalog_type: str
    """The catalog's setting `type`: `hadoop`, `hive`, `rest`, ..."""

    catalog_warehouse: str
    """The catalog's setting `warehouse`: a folder, or a name on a server."""

    catalog_uri: str
    """The catalog's setting `uri`."""

    purge: bool
    """DROP TABLE ... PURGE."""


_SETTINGS = ("type", "catalog-impl", "warehouse", "uri")


def _catalog(catalog: str) -> Mapping[str, str]:
    """Return accessors for a table's catalog: its name, and the session's settings for it."""
    return {
        "v2_catalog": f"{catalog}.name",
        **{f"catalog_{key}": f"$conf(spark.sql.catalog.{{{catalog}.name}}.{key})" for key in _SETTINGS},
    }


def _read(node: str, table: str) -> Mapping[str, str]:
    """Return accessors for a `SparkTable` that is read; its snapshot is the one at loading time."""
    last = f"{table}.table.currentSnapshot"
    return {
        "iceberg_location": f"{table}.table.location",
        "iceberg_kind": f"{table}.table.getClass.getSimpleName",
        "snapshot": f"{table}.snapshotId",
        "is_refreshed": f"{node}timeTravelSpec.isEmpty",
        "loaded_snapshot": f"{table}.snapshot!.snapshotId",
        "time_travel": f"{table}.timeTravel!.getClass.getSimpleName",
        "branch": f"{table}.branch",
        "last_snapshot": f"{last}.snapshotId",
        "last_parent": f"{last}.parentId",
        "last_commit_at": f"{last}.timestampMillis",
        **DURATION,
        "identifier": f"{node}identifier?.toString",
        "v2_table": f"{table}.name",
        "provider": f"{table}.getClass.getName",
        **_catalog(f"{node}catalog?"),
    }


def _written(table: str) -> Mapping[str, str]:
    """Return accessors for a `SparkTable` that was written: the new snapshot of the table or the branch."""
    branch = f"{table}.table.snapshot({table}.branch)"
    last = f"{table}.table.history.$during('timestampMillis').snapshotId"
    return {
        "iceberg_location": f"{table}.table.location",
        "written_snapshot": last,
        "branch_snapshot": f"{branch}.snapshotId",
        "added_records": f"{table}.table.snapshot({last}).summary.get('added-records')",
        "total_records": f"{table}.table.snapshot({last}).summary.get('total-records')",
        "committed_at": f"{branch}.timestampMillis",
        **DURATION,
        "v2_table": f"{table}.name",
        "provider": f"{table}.getClass.getName",
        "mode": "getClass.getSimpleName",
    }


def _command(resolved: str, schema: str = "", location: str = "") -> Mapping[str, str]:
    """Return accessors for a command on a table; `resolved` has the catalog and the identifier."""
    return {
        "iceberg_location": location or f"{resolved}.table.table.location",
        "identifier": f"{resolved}.identifier.toString",
        "schema": schema or f"{resolved}.table.schema.json",
        **_catalog(f"{resolved}.catalog"),
    }


_CREATED = _command("name", f"{MADE}.schema.json", f"{MADE}.table.location")

_FROM_QUERY = {
    **_written(MADE),
    "identifier": "name.identifier.toString",
    **SCHEMA,
    **_catalog("name.catalog"),
}

_WRITE = {
    **_written("table.table"),
    "identifier": "table.identifier?.toString",
    **SCHEMA,
    **_catalog("table.catalog?"),
}

_TABLES = ("SparkTable", "StagedSparkTable")
_write_in_catalog = partial(write, relation=("SparkCatalog", "SparkSessionCatalog"))

PROBES = (
    *read("DataSourceV2Relation", _read("", "table"), of="table", relation="SparkTable"),
    # Below UPDATE, DELETE and MERGE.
    *read("DataSourceV2Relation", _read("", "table.table"), of="table.table", relation="SparkTable"),
    *write(("AppendData", "OverwriteByExpression"), _WRITE, of="table.table", relation=_TABLES),
    *write(
        "OverwritePartitionsDynamic",
        {**_WRITE, "partition_columns": "table.table.partitioning[]"},
        of="table.table",
        relation=_TABLES,
    ),
    *(
        probe
        for node, relation in V2_CHANGES
        for probe in write(
            node,
            of=f"{relation}.table",
            relation="SparkTable",
            accessors={
                **_written(f"{relation}.table"),
                "identifier": f"{relation}.identifier?.toString",
                **_catalog(f"{relation}.catalog?"),
            },
        )
    ),
    *_write_in_catalog("CreateTableAsSelect", {**_FROM_QUERY, **IF_NOT_EXISTS}, of="name.catalog"),
    *_write_in_catalog("ReplaceTableAsSelect", _FROM_QUERY, of="name.catalog"),
    *_write_in_catalog("CreateTable", {**_CREATED, **IF_NOT_EXISTS}, of="name.catalog"),
    *_write_in_catalog("ReplaceTable", _CREATED, of="name.catalog"),
    *(
        probe
        for node, changed in COLUMN_CHANGES.items()
        for probe in _write_in_catalog(
            node,
            {**_command("table", "table.catalog.loadTable(table.identifier).schema.json"), **changed},
            of="table.catalog",
        )
    ),
    *_write_in_catalog("RenameTable", {**_command("child"), "new_name": "newName[]"}, of="child.catalog"),
    *_write_in_catalog("TruncateTable", _command("table"), of="table.catalog"),
    *_write_in_catalog(
        "DropTable",
        of="child.catalog",
        accessors={
            "identifier": "child.identifier.toString",
            "if_exists": "ifExists",
            "purge": "purge",
            "table_text": "child.identifier.toString",
            "catalog": "child.catalog.name",
            **SETTINGS,
            **_catalog("child.catalog"),
        },
    ),
    *read(
        "DropTable",
        before=True,
        of=DROPPED,
        relation="SparkTable",
        accessors={"existed": DROPPED_EXISTS, "iceberg_location": f"{DROPPED}.table.location"},
    ),
)
