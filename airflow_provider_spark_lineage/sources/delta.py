"""Delta Lake tables, by path or behind a catalog table: named by their location, at a version.

Delta runs executions of its own inside its commands: it reads its transaction log, looks for the files
that a condition touches, and writes by a query that says nothing of the target. All of these read
through file indexes that no user's query has.
"""

from __future__ import annotations

from typing import FrozenSet, Mapping, Optional, Tuple
from urllib.parse import unquote

from airflow_provider_spark_lineage.sources.catalogs import (
    CHILD,
    SESSION_CATALOG,
    SETTINGS,
    parts_of,
    symlinks,
    table_facts,
)
from airflow_provider_spark_lineage.sources.dataset import (
    DROPPED,
    DROPPED_EXISTS,
    DURATION,
    MADE_EXISTS,
    Catalog,
    DatasetId,
    Facts,
    Identity,
    Probe,
    Source,
    is_of_execution,
)
from airflow_provider_spark_lineage.sources.jdbc import COLUMN_CHANGES
from airflow_provider_spark_lineage.sources.paths import (
    RELATIVE,
    completed,
    is_complete,
    split_location,
    uri_of,
)

_INTERNAL_INDEXES = (
    "CdcAddFileIndex",
    "DeltaLogFileIndex",
    "TahoeBatchFileIndex",
    "TahoeChangeFileIndex",
    "TahoeRemoveFileIndex",
)
_LOG = "/_delta_log"

_OF_CHANGES = frozenset(
    {"CdcAddFileIndex", "DeltaCDFRelation", "TahoeChangeFileIndex", "TahoeRemoveFileIndex"}
)
"""What a change feed is read through: rows as they came and went."""

_ABOUT_CHANGES = frozenset({"_change_type", "_commit_timestamp", "_commit_version"})

_RENAMED = f"{CHILD}.copy(newName.last, {CHILD}.database, {CHILD}.catalog)"
"""The new name, which a command may give without its database."""

_PARSER = "$session.sessionState.sqlParser"
"""Knows the columns of a condition that is text, whose literals are nobody's concern."""


_NOW = "unsafeVolatileSnapshot"
"""The snapshot that the process knows to be the last."""

_LOG_OF_PATH = (
    "dataSource.$object('org.apache.spark.sql.delta.DeltaLog').forTable($session, options.get('path')?)"
)
"""The log of a table in a folder, which the write has just used: nothing is read for it."""


def _commit(log: str) -> Mapping[str, str]:
    """What to ask a `DeltaLog` after a write: which version it made, unless there was one more by now."""
    return {
        "written_version": f"{log}.{_NOW}.version",
        "committed_at": f"{log}.{_NOW}.timestamp",
        **DURATION,
    }


def _table(table: str) -> Mapping[str, str]:
    """What to ask a `DeltaTableV2` that was written."""
    return {
        "delta_path": f"{table}.deltaLog.dataPath",
        **_commit(f"{table}.deltaLog"),
        "table": f"{table}.catalogTable?.identifier.nameParts[]",
        **SETTINGS,
    }


def _changed(relation: str) -> Mapping[str, str]:
    """What to ask the relation of a table that a command changes."""
    return {
        "delta_path": f"{relation}.relation.location.path",
        **_commit(f"{relation}.relation.location.deltaLog"),
        "table": f"{relation}.catalogTable?.identifier.nameParts[]",
        "mode": "getClass.getSimpleName",
        **SETTINGS,
    }


PROBES = (
    Probe(
        node="LogicalRelation",
        of="relation.location",
        relation="TahoeLogFileIndex",
        accessors={
            "delta_path": "relation.location.path",
            "version": "relation.location.snapshotAtAnalysis.version",
            "table": "catalogTable?.identifier.nameParts[]",
            **SETTINGS,
        },
    ),
    *(
        Probe(
            node="LogicalRelation",
            of="relation.location",
            relation=index,
            accessors={
                "delta_path": "relation.location.path",
                "delta_action": "relation.location.actionType",
                "delta_index": "relation.location.getClass.getSimpleName",
                "is_stream": "isStreaming",
            },
        )
        for index in _INTERNAL_INDEXES
        if index != "DeltaLogFileIndex"
    ),
    Probe(
        node="LogicalRelation",
        of="relation.location",
        relation="DeltaLogFileIndex",
        accessors={"delta_action": "relation.location.getClass.getSimpleName"},
    ),
    Probe(
        node="LogicalRelation",
        relation="CDCReader$DeltaCDFRelation",
        accessors={
            "delta_path": "relation.snapshotWithSchemaMode.snapshot.deltaLog.dataPath",
            "delta_index": "relation.getClass.getSimpleName",
            "table": "relation.catalogTableOpt?.identifier.nameParts[]",
            **SETTINGS,
        },
    ),
    Probe(
        node="DataSourceV2Relation",
        of="table",
        relation="DeltaTableV2",
        accessors={
            "delta_path": "table.deltaLog.dataPath",
            "version": "table.initialSnapshot.version",
            "table": "table.catalogTable?.identifier.nameParts[]",
            **SETTINGS,
        },
    ),
    Probe(
        node="SaveIntoDataSourceCommand",
        target=True,
        of="dataSource",
        relation="DeltaDataSource",
        accessors={
            "delta_path": "options.get('path')?",
            **_commit(_LOG_OF_PATH),
            "file_system": "$session.sparkContext.hadoopConfiguration.get('fs.defaultFS')",
            "replace_where": "options.contains('replaceWhere')",
            "replace_using": "options.contains('replaceUsing')",
            "replace_on": "options.contains('replaceOn')",
            "condition_columns": f"{_PARSER}.parseExpression(options.get('replaceWhere')?).references[]",
            "partition_overwrite": "options.get('partitionOverwriteMode')?",
            "mode": "mode",
            "schema": "query.schema.json",
        },
    ),
    *(
        Probe(
            node=node,
            target=True,
            of="table.table",
            relation="DeltaTableV2",
            accessors={
                **_table("table.table"),
                "schema": "query.schema.json",
                "mode": "getClass.getSimpleName",
            },
        )
        for node in ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic")
    ),
    Probe(
        node="DeltaDynamicPartitionOverwriteCommand",
        target=True,
        accessors={
            **_table("deltaTable"),
            "partition_columns": "deltaTable.initialSnapshot.metadata.partitionColumns[]",
            "schema": "query.schema.json",
            "mode": "getClass.getSimpleName",
        },
    ),
    Probe(
        node="DeltaInsertReplaceOnOrUsingCommand",
        target=True,
        accessors={
            **_table("deltaTable"),
            "schema": "query.schema.json",
            "mode": "getClass.getSimpleName",
        },
    ),
    Probe(
        node="WriteToMicroBatchDataSourceV1",
        target=True,
        of="sink",
        relation="DeltaSink",
        accessors={
            "delta_path": "sink.path",
            "file_system": "$session.sparkContext.hadoopConfiguration.get('fs.defaultFS')",
            "mode": "outputMode",
            "schema": "query.schema.json",
            "table": "catalogTable?.identifier.nameParts[]",
            **SETTINGS,
        },
    ),
    # A table that is being made: the command that makes it says where it lies.
    *(
        Probe(
            node=node,
            target=True,
            of="table.table",
            relation=staged,
            accessors={"schema": "query.schema.json", "mode": "getClass.getSimpleName"},
        )
        for node in ("AppendData", "OverwriteByExpression")
        for staged in ("AbstractDeltaCatalog$StagedDeltaTableV2", "DeltaCatalog$StagedDeltaTableV2")
    ),
    *(
        Probe(
            node=node,
            target=True,
            of="name.catalog",
            relation="DeltaCatalog",
            accessors={
                **_table("name.catalog.loadTable(name.identifier)"),
                "if_not_exists": "ignoreIfExists",
                "schema": "query.schema.json",
                "mode": "getClass.getSimpleName",
            },
        )
        for node in ("CreateTableAsSelect", "ReplaceTableAsSelect")
    ),
    *(
        Probe(node=node, target=True, accessors=_changed("target.collectLeaves.head"))
        for node in ("MergeIntoCommand", "UpdateCommand", "DeleteCommand")
    ),
    # The catalog of Delta's session makes tables of other formats, too.
    *(
        Probe(
            node=node,
            target=True,
            of="name.catalog",
            relation="DeltaCatalog",
            accessors={
                **_table("name.catalog.loadTable(name.identifier)"),
                **table_facts("name.catalog.loadTable(name.identifier).v1Table"),
                "if_not_exists": "ignoreIfExists",
                "schema": "name.catalog.loadTable(name.identifier).schema.json",
            },
        )
        for node in ("CreateTable", "ReplaceTable")
    ),
    *(
        Probe(
            node=node,
            target=True,
            of="table.catalog",
            relation="DeltaCatalog",
            accessors={
                **_table("table.table"),
                "schema": "table.catalog.loadTable(table.identifier).schema.json",
            },
        )
        for node in COLUMN_CHANGES
    ),
    Probe(
        node="DropTable",
        before=True,
        of=DROPPED,
        relation="DeltaTableV2",
        accessors={
            "existed": DROPPED_EXISTS,
            "delta_path": f"{DROPPED}.deltaLog.dataPath",
            "table_type": f"{DROPPED}.catalogTable?.tableType.name",
        },
    ),
    Probe(
        node="CreateTable",
        before=True,
        of="name.catalog",
        relation="DeltaCatalog",
        accessors={
            "existed": MADE_EXISTS,
            "place_existed": "$exists(tableSpec.location?)",
        },
    ),
    Probe(
        node="TruncateDeltaTableCommand",
        target=True,
        accessors={**_table("child.table"), "schema": "child.table.schema.json"},
    ),
    Probe(
        node="RenameTable",
        target=True,
        of="child.catalog",
        relation="DeltaCatalog",
        accessors={
            "delta_location": f"{SESSION_CATALOG}.getTableMetadata({_RENAMED}).location",
            **table_facts(f"{SESSION_CATALOG}.getTableMetadata({_RENAMED})"),
            "default_location": f"{SESSION_CATALOG}.defaultTablePath({_RENAMED})",
            "schema": f"{SESSION_CATALOG}.getTableMetadata({_RENAMED}).schema.json",
            "table": f"{SESSION_CATALOG}.getTableMetadata({_RENAMED}).identifier.nameParts[]",
            "previous_table": f"{CHILD}.nameParts[]",
            "previous_location": f"{SESSION_CATALOG}.defaultTablePath({CHILD})",
            **SETTINGS,
        },
    ),
    Probe(
        node="RestoreTableCommand",
        target=True,
        accessors={
            **_table("sourceTable"),
            "copied_delta_path": "sourceTable.deltaLog.dataPath",
            "copied_version": "sourceTable.initialSnapshot.version",
            "schema": "sourceTable.schema.json",
            "mode": "getClass.getSimpleName",
        },
    ),
    Probe(
        node="CreateDeltaTableCommand",
        target=True,
        accessors={
            "delta_path": "query?.targetPath",
            "location": "$session.sessionState.catalog.getTableMetadata(table.identifier).location",
            "table": "table.identifier.nameParts[]",
            "copied_delta_path": "query?.sourceTable.dataPath",
            "copied_version": "query?.sourceTable.snapshot?.version",
            "schema": "query?.sourceTable.schema.json",
            "mode": "mode",
            **SETTINGS,
        },
    ),
)


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name the table that a relation reads or a command writes, with its version and its catalog."""
    path = str(facts.get("delta_path") or unquote(facts.get("delta_location") or ""))
    if not path:
        return ()
    note = "" if is_complete(path) or path.startswith("/") else RELATIVE
    path = completed(path, str(facts.get("file_system") or ""))
    version = facts.get("version")
    if "written_version" in facts:
        version = facts["written_version"] if is_of_execution(facts) else None
    table = facts.get("table") or ()
    catalog = None
    if table:
        given = str(facts.get("warehouse") or "")
        name = str(table[0]) if len(table) > 2 else "spark_catalog"
        warehouse = uri_of(*split_location(given)) if given else ""
        catalog = Catalog("delta", "delta", name, warehouse_uri=warehouse)
    # A table is its folder, also where that is called like a partition.
    namespace, name = split_location(path)
    return (
        Identity(
            id=DatasetId(namespace, name),
            note=note,
            storage_layer="delta",
            file_format="parquet",
            symlinks=symlinks(facts),
            version="" if version is None else str(version),
            catalog=catalog,
        ),
    )


def about_rows(facts: Facts) -> FrozenSet[str]:
    """Return the names of columns that a change feed shows and its table does not have."""
    return _ABOUT_CHANGES if facts.get("delta_index") in _OF_CHANGES else frozenset()


def replaced_by(facts: Facts) -> Optional[Tuple[str, ...]]:
    """Return the columns of the condition by which an option replaces rows; None where they are not known.

    A part of a struct is its column here.
    """
    if not facts.get("replace_where"):
        return ()
    named = facts.get("condition_columns")
    # Spark writes a name that it has not looked up with a quote before it.
    return None if named is None else tuple(dict.fromkeys(parts_of(one.lstrip("'"))[0] for one in named))


def is_internal(facts: Facts) -> bool:
    """Say whether Delta read its log, or files that one of its own commands chose."""
    if facts.get("delta_action") not in (None, "streaming") and not facts.get("is_stream"):
        return True
    origins = facts.get("origins") or ()
    paths = [path for origin in origins for path in origin.get("paths") or ()]
    return bool(paths) and all(_LOG + "/" in path for path in paths)


def reaches_data(change: str, facts: Facts) -> Optional[bool]:
    """Return whether a command changes a Delta table, or the catalog's entry of it alone."""
    if not identify(facts):
        return None
    is_managed = facts.get("table_type") == "MANAGED"
    if change == "created":
        # Over a table that is there already, CREATE writes nothing.
        return is_managed or facts.get("place_existed") is False
    # Columns are part of what a Delta table keeps about itself.
    return change == "altered" or is_managed


SOURCE = Source(
    name="delta",
    probes=PROBES,
    identify=identify,
    reaches_data=reaches_data,
    is_atomic=lambda facts: bool(identify(facts)),
    is_internal=is_internal,
    parts=frozenset({"deltaTransactionalWrite"}),
)
