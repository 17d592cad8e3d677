"""Probes of Delta's live relations, tables and commands, and their facts.

Delta runs executions of its own inside its commands: it reads its transaction log, searches the files
that a condition matches, and writes by a query whose plan does not name the target. All of these read
through file indexes that no user's query has.
"""

from __future__ import annotations

from typing import List, Mapping

from airflow_provider_spark_lineage.sources.accessors import (
    CHILD,
    COLUMN_CHANGES,
    DROPPED,
    DROPPED_EXISTS,
    FILE_SYSTEM,
    MADE_EXISTS,
    PARTITION_OVERWRITE,
    SESSION_CATALOG,
    SETTINGS,
    if_not_exists,
    table_facts,
)
from airflow_provider_spark_lineage.sources.facts import DURATION, Facts
from airflow_provider_spark_lineage.sources.probe import Probe


class DeltaFacts(Facts, total=False):
    """Facts of a Delta table, or of a read for Delta's own purpose."""

    delta_path: str
    """The table's folder as a Hadoop path."""

    delta_location: str
    """The table's folder as the session's catalog has it: a URI."""

    version: int
    """The version that was read, or the version before a command."""

    version_before: int
    """The table's version when UPDATE, DELETE or MERGE was analyzed."""

    written_version: int
    """The table's last version after a write: the write's own if `committed_at` is within the execution."""

    delta_index: str
    """Simple class name of the file index or relation that reads a change feed."""

    delta_action: str
    """Purpose of Delta's read of files: `streaming`, or an action of its own such as `delete`."""

    replace_where: bool
    """The write has the option `replaceWhere`."""

    replace_using: bool
    """The write has the option `replaceUsing`."""

    replace_on: bool
    """The write has the option `replaceOn`."""

    partition_overwrite: str
    """The option `partitionOverwriteMode`: `dynamic` or `static`."""

    partition_overwrite_setting: str
    """The setting that applies if the option is not given."""

    condition_columns: List[str]
    """Columns in the condition of `replaceWhere`, each as Spark prints an unresolved column: `'age`."""

    place_existed: bool
    """Read before a CREATE: there was data at the table's location already."""

    copied_delta_path: str
    """The folder of the table that is cloned or restored."""

    copied_version: int
    """The version that is cloned or restored."""


_INTERNAL_INDEXES = (
    "CdcAddFileIndex",
    "DeltaLogFileIndex",
    "TahoeBatchFileIndex",
    "TahoeChangeFileIndex",
    "TahoeRemoveFileIndex",
)

_OF_COMMANDS = frozenset({"CdcAddFileIndex", "TahoeBatchFileIndex"})
"""File indexes with the purpose of Delta's read."""

_RENAMED = f"{CHILD}.copy(newName.last, {CHILD}.database, {CHILD}.catalog)"
"""The new name, which a command may give without its database."""

_PARSER = "$session.sessionState.sqlParser"
"""Parses a condition in text, for the columns that it names; its literals are not recorded."""

_NOW = "unsafeVolatileSnapshot"
"""The last snapshot known to this process."""

_LOG_OF_PATH = (
    "dataSource.$object('org.apache.spark.sql.delta.DeltaLog').forTable($session, options.get('path')?)"
)
"""The log of a table in a folder, from Delta's cache: the write has just used it."""


def _commit(log: str) -> Mapping[str, str]:
    """Return accessors for a `DeltaLog` after a write: its last version, and when that was committed."""
    return {
        "written_version": f"{log}.{_NOW}.version",
        "committed_at": f"{log}.{_NOW}.timestamp",
        **DURATION,
    }


def _table(table: str) -> Mapping[str, str]:
    """Return accessors for a `DeltaTableV2` that was written."""
    return {
        "delta_path": f"{table}.deltaLog.dataPath",
        **_commit(f"{table}.deltaLog"),
        "table": f"{table}.catalogTable?.identifier.nameParts[]",
        **SETTINGS,
    }


_MADE = "name.catalog.loadTable(name.identifier)"
"""The table created by a CREATE or REPLACE."""

_REPLACED = {
    "replace_where": "writeOptions.contains('replaceWhere')",
    "replace_using": "writeOptions.contains('replaceUsing')",
    "replace_on": "writeOptions.contains('replaceOn')",
    "condition_columns": f"{_PARSER}.parseExpression(writeOptions.get('replaceWhere')?).references[]",
    "partition_overwrite": "writeOptions.get('partitionOverwriteMode')?",
    "partition_overwrite_setting": PARTITION_OVERWRITE,
    "partition_columns": f"{_MADE}.deltaLog.{_NOW}.metadata.partitionColumns[]",
}
"""Accessors of `saveAsTable`, whose options may replace a part of the table only."""


def _changed(relation: str) -> Mapping[str, str]:
    """Return accessors for the relation of a table that UPDATE, DELETE or MERGE changes."""
    return {
        "delta_path": f"{relation}.relation.location.path",
        "version_before": f"{relation}.relation.location.snapshotAtAnalysis.version",
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
                **({"delta_action": "relation.location.actionType"} if index in _OF_COMMANDS else {}),
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
            "file_system": FILE_SYSTEM,
            "replace_where": "options.contains('replaceWhere')",
            "replace_using": "options.contains('replaceUsing')",
            "replace_on": "options.contains('replaceOn')",
            "condition_columns": f"{_PARSER}.parseExpression(options.get('replaceWhere')?).references[]",
            "partition_overwrite": "options.get('partitionOverwriteMode')?",
            "partition_overwrite_setting": PARTITION_OVERWRITE,
            "partition_columns": f"{_LOG_OF_PATH}.{_NOW}.metadata.partitionColumns[]",
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
            "file_system": FILE_SYSTEM,
            "mode": "outputMode",
            "schema": "query.schema.json",
            "table": "catalogTable?.identifier.nameParts[]",
            **SETTINGS,
        },
    ),
    # The table of a CREATE or REPLACE that is still running: the probe of that command has its location.
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
                **_table(_MADE),
                **if_not_exists(node),
                **(_REPLACED if node.startswith("Replace") else {}),
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
    # Delta's session catalog creates tables of other formats, too.
    *(
        Probe(
            node=node,
            target=True,
            of="name.catalog",
            relation="DeltaCatalog",
            accessors={
                **_table(_MADE),
                **table_facts(f"{_MADE}.v1Table"),
                **if_not_exists(node),
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
            "location": f"{SESSION_CATALOG}.getTableMetadata(table.identifier).location",
            "table": "table.identifier.nameParts[]",
            "copied_delta_path": "query?.sourceTable.dataPath",
            "copied_version": "query?.sourceTable.snapshot?.version",
            "schema": "query?.sourceTable.schema.json",
            "mode": "mode",
            **SETTINGS,
        },
    ),
)
