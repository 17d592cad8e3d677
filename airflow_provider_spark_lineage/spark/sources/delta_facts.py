"""Probes of Delta's live relations, tables and commands, and their facts.

Delta runs executions of its own inside its commands: it reads its transaction log, searches the files
that a condition matches, and writes by a query whose plan does not name the target. All of these read
through file indexes that no user's query has.
"""

from __future__ import annotations

from functools import partial
from typing import List, Mapping

from airflow_provider_spark_lineage.spark.sources.accessors import (
    BY_CLASS,
    BY_MODE,
    BY_OUTPUT_MODE,
    CHILD,
    COLUMN_CHANGES,
    DROPPED,
    DROPPED_EXISTS,
    FILE_SYSTEM,
    IF_NOT_EXISTS,
    MADE,
    MADE_EXISTS,
    MADE_NAME,
    NAMED,
    PARTITION_OVERWRITE,
    SESSION_CATALOG,
    SETTINGS,
    V2_WRITES,
    table_facts,
)
from airflow_provider_spark_lineage.spark.sources.facts import DURATION, Facts
from airflow_provider_spark_lineage.spark.sources.probe import read, write


class DeltaFacts(Facts, total=False):
    """Facts of a Delta table, or of a read for Delta's own purpose."""

    delta_path: str
    """The table's folder as a Hadoop path."""

    delta_location: str
    """The table's folder as the session's catalog has it: a URI."""

    new_provider: str
    """The provider of a table that a command makes from a query."""

    new_table: List[str]
    """Parts of its name."""

    new_location: str
    """Its location in the command, as the user wrote it; absent for a managed table."""

    new_location_property: str
    """The same, given as a property of the table."""

    new_default_location: str
    """The catalog's default location of a managed table with its name; a URI."""

    version: int
    """The table's version when the read or the command was analyzed."""

    is_time_travel: bool
    """The query asks for this version. Without, Delta reads the last one, whenever the query was analyzed."""

    last_version: int
    """The table's last version after a read."""

    last_commit_at: int
    """When that was committed, in milliseconds since 1970."""

    version_before: int
    """The table's version when UPDATE, DELETE or MERGE was analyzed."""

    written_version: int
    """The table's last version after a write: the write's own if `committed_at` is within the execution.

    Spark's bus reports the end with a delay: by then, the table may have a later commit.
    """

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

    first_commit_at: int
    """When the table's first version was committed, in milliseconds since 1970."""

    files_before: int
    """Number of the table's data files before the write, where Delta knows it."""

    place_existed: bool
    """Read before a CREATE: there was data at the table's location already."""

    copied_delta_path: str
    """The folder of the table that is cloned or restored."""

    copied_version: int
    """The version that is cloned or restored."""


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
    return {"written_version": f"{log}.{_NOW}.version", "committed_at": f"{log}.{_NOW}.timestamp", **DURATION}


def _first_commit(folder: str) -> Mapping[str, str]:
    """Return accessors for the time of a table's first version."""
    return {"first_commit_at": f"$modified({folder}, '_delta_log/00000000000000000000.json')", **DURATION}


def _table(table: str) -> Mapping[str, str]:
    """Return accessors for a `DeltaTableV2` that was written."""
    return {
        "delta_path": f"{table}.deltaLog.dataPath",
        **_commit(f"{table}.deltaLog"),
        "table": f"{table}.catalogTable?.identifier.nameParts[]",
        **SETTINGS,
    }


_NEW_TABLE = {**_table(MADE), **table_facts(f"{MADE}.v1Table"), "schema": f"{MADE}.schema.json"}
"""Accessors of a table that is created without rows."""


_FROM_QUERY = {
    **_table(MADE),
    "new_provider": "tableSpec.provider?",
    "new_location": "tableSpec.location?",
    "new_location_property": "tableSpec.properties.get('location')?",
    "new_default_location": f"{SESSION_CATALOG}.defaultTablePath({MADE_NAME})",
    "new_table": f"{MADE_NAME}.nameParts[]",
    "file_system": FILE_SYSTEM,
    **BY_CLASS,
}
"""Accessors of a table made from a query; while the query runs, the catalog may not know it."""


def _replaced(options: str, log: str) -> Mapping[str, str]:
    """Return accessors of a write whose options may replace only a part of the table."""
    return {
        "replace_where": f"{options}.contains('replaceWhere')",
        "replace_using": f"{options}.contains('replaceUsing')",
        "replace_on": f"{options}.contains('replaceOn')",
        "condition_columns": f"{_PARSER}.parseExpression({options}.get('replaceWhere')?).references[]",
        "partition_overwrite": f"{options}.get('partitionOverwriteMode')?",
        "partition_overwrite_setting": PARTITION_OVERWRITE,
        "partition_columns": f"{log}.{_NOW}.metadata.partitionColumns[]",
    }


_INDEX = {
    "delta_path": "relation.location.path",
    "delta_index": "relation.location.getClass.getSimpleName",
    "is_stream": "isStreaming",
}
"""Accessors of a read by one of Delta's own file indexes."""

_CHANGED = "target.collectLeaves.head"
"""The relation of a table that UPDATE, DELETE or MERGE changes."""

_SESSION_TABLE = f"{SESSION_CATALOG}.getTableMetadata({_RENAMED})"

_read_by_index = partial(read, "LogicalRelation", of="relation.location")
_write_in_catalog = partial(write, relation="DeltaCatalog")

PROBES = (
    *_read_by_index(
        {
            "delta_path": "relation.location.path",
            "version": "relation.location.snapshotAtAnalysis.version",
            "is_time_travel": "relation.location.isTimeTravelQuery",
            "last_version": f"relation.location.deltaLog.{_NOW}.version",
            "last_commit_at": f"relation.location.deltaLog.{_NOW}.timestamp",
            **DURATION,
            **NAMED,
        },
        relation="TahoeLogFileIndex",
    ),
    *_read_by_index(
        {**_INDEX, "delta_action": "relation.location.actionType"},
        relation=("CdcAddFileIndex", "TahoeBatchFileIndex"),
    ),
    *_read_by_index(_INDEX, relation=("TahoeChangeFileIndex", "TahoeRemoveFileIndex")),
    *_read_by_index(
        {"delta_action": "relation.location.getClass.getSimpleName"}, relation="DeltaLogFileIndex"
    ),
    *read(
        "LogicalRelation",
        relation="CDCReader$DeltaCDFRelation",
        accessors={
            "delta_path": "relation.snapshotWithSchemaMode.snapshot.deltaLog.dataPath",
            "delta_index": "relation.getClass.getSimpleName",
            "table": "relation.catalogTableOpt?.identifier.nameParts[]",
            **SETTINGS,
        },
    ),
    *read(
        "DataSourceV2Relation",
        of="table",
        relation="DeltaTableV2",
        accessors={
            "delta_path": "table.deltaLog.dataPath",
            "version": "table.initialSnapshot.version",
            "table": "table.catalogTable?.identifier.nameParts[]",
            **SETTINGS,
        },
    ),
    *write(
        "SaveIntoDataSourceCommand",
        of="dataSource",
        relation="DeltaDataSource",
        accessors={
            "delta_path": "options.get('path')?",
            **_commit(_LOG_OF_PATH),
            **_first_commit("options.get('path')?"),
            "file_system": FILE_SYSTEM,
            **_replaced("options", _LOG_OF_PATH),
            **BY_MODE,
        },
    ),
    *write(
        V2_WRITES,
        of="table.table",
        relation="DeltaTableV2",
        accessors={
            **_table("table.table"),
            "files_before": "table.table.initialSnapshot.numOfFilesIfKnown?",
            **BY_CLASS,
        },
    ),
    *write(
        "DeltaDynamicPartitionOverwriteCommand",
        {
            **_table("deltaTable"),
            "partition_columns": "deltaTable.initialSnapshot.metadata.partitionColumns[]",
            **BY_CLASS,
        },
    ),
    *write("DeltaInsertReplaceOnOrUsingCommand", {**_table("deltaTable"), **BY_CLASS}),
    *write(
        "WriteToMicroBatchDataSourceV1",
        of="sink",
        relation="DeltaSink",
        accessors={
            "delta_path": "sink.path",
            **_first_commit("sink.path"),
            "file_system": FILE_SYSTEM,
            **NAMED,
            **BY_OUTPUT_MODE,
        },
    ),
    # The table of a CREATE or REPLACE that is still running: the probe of that command has its location.
    *write(
        ("AppendData", "OverwriteByExpression"),
        of="table.table",
        relation=("AbstractDeltaCatalog$StagedDeltaTableV2", "DeltaCatalog$StagedDeltaTableV2"),
        accessors=BY_CLASS,
    ),
    *_write_in_catalog("CreateTableAsSelect", {**_FROM_QUERY, **IF_NOT_EXISTS}, of="name.catalog"),
    *_write_in_catalog(
        "ReplaceTableAsSelect",
        {**_FROM_QUERY, **_replaced("writeOptions", f"{MADE}.deltaLog")},
        of="name.catalog",
    ),
    *write(
        ("MergeIntoCommand", "UpdateCommand", "DeleteCommand"),
        {
            "delta_path": f"{_CHANGED}.relation.location.path",
            "version_before": f"{_CHANGED}.relation.location.snapshotAtAnalysis.version",
            **_commit(f"{_CHANGED}.relation.location.deltaLog"),
            "table": f"{_CHANGED}.catalogTable?.identifier.nameParts[]",
            "mode": "getClass.getSimpleName",
            **SETTINGS,
        },
    ),
    # Delta's session catalog creates tables of other formats, too.
    *_write_in_catalog("CreateTable", {**_NEW_TABLE, **IF_NOT_EXISTS}, of="name.catalog"),
    *_write_in_catalog("ReplaceTable", _NEW_TABLE, of="name.catalog"),
    *(
        probe
        for node, changed in COLUMN_CHANGES.items()
        for probe in _write_in_catalog(
            node,
            of="table.catalog",
            accessors={
                **_table("table.table"),
                "schema": "table.catalog.loadTable(table.identifier).schema.json",
                **changed,
            },
        )
    ),
    *read(
        "DropTable",
        before=True,
        of=DROPPED,
        relation="DeltaTableV2",
        accessors={
            "existed": DROPPED_EXISTS,
            "delta_path": f"{DROPPED}.deltaLog.dataPath",
            "table_type": f"{DROPPED}.catalogTable?.tableType.name",
        },
    ),
    *read(
        "CreateTable",
        {"existed": MADE_EXISTS, "place_existed": "$exists(tableSpec.location?)"},
        before=True,
        of="name.catalog",
        relation="DeltaCatalog",
    ),
    *write("TruncateDeltaTableCommand", {**_table("child.table"), "schema": "child.table.schema.json"}),
    *_write_in_catalog(
        "RenameTable",
        of="child.catalog",
        accessors={
            "delta_location": f"{_SESSION_TABLE}.location",
            **table_facts(_SESSION_TABLE),
            "default_location": f"{SESSION_CATALOG}.defaultTablePath({_RENAMED})",
            "schema": f"{_SESSION_TABLE}.schema.json",
            "table": f"{_SESSION_TABLE}.identifier.nameParts[]",
            "previous_table": f"{CHILD}.nameParts[]",
            "previous_location": f"{SESSION_CATALOG}.defaultTablePath({CHILD})",
            **SETTINGS,
        },
    ),
    *write(
        "RestoreTableCommand",
        {
            **_table("sourceTable"),
            "copied_delta_path": "sourceTable.deltaLog.dataPath",
            "copied_version": "sourceTable.initialSnapshot.version",
            "schema": "sourceTable.schema.json",
            "mode": "getClass.getSimpleName",
        },
    ),
    *write(
        "CreateDeltaTableCommand",
        {
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
