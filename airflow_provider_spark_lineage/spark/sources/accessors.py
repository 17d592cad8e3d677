"""Accessor paths and names of commands shared by the probes of several sources."""

from __future__ import annotations

from typing import Dict

SESSION_CATALOG = "$session.sessionState.catalog"
"""The session catalog of Spark's V1 API; Delta's catalog also stores its tables there."""

WAREHOUSE = "$session.sessionState.conf.warehousePath"
"""The folder of the session's managed tables."""

FILE_SYSTEM = "$session.sparkContext.hadoopConfiguration.get('fs.defaultFS')"
"""Hadoop's default file system, for paths without one."""

CHILD = "$session.sessionState.sqlParser.parseTableIdentifier(child.identifier.toString)"
"""Name of a V2 command's table, as a `TableIdentifier` of the session's catalog."""

MADE_NAME = "$session.sessionState.sqlParser.parseTableIdentifier(name.identifier.toString)"
"""Name of the table of a CREATE or REPLACE, as a `TableIdentifier` of the session's catalog."""

DROPPED = "child.catalog.loadTable(child.identifier)"
"""The table that a DROP will drop."""

DROPPED_EXISTS = "child.catalog.tableExists(child.identifier)"
"""Existence of a DROP's table."""

MADE = "name.catalog.loadTable(name.identifier)"
"""The table created by a CREATE or REPLACE, after the command."""

MADE_EXISTS = "name.catalog.tableExists(name.identifier)"
"""Existence of a CREATE's table before the command."""

COLUMN_CHANGES: Dict[str, Dict[str, str]] = {
    **{node: {} for node in ("AddColumns", "AlterColumn", "AlterColumns", "ReplaceColumns")},
    "DropColumns": {
        "dropped_columns": "columnsToDrop[].name.head[]",
        "dropped_depths": "columnsToDrop[].name.size[]",
    },
    "RenameColumn": {"renamed_column": "column.name[]", "new_column": "newName"},
}
"""Spark's commands that change columns of a catalog's table -> accessors of renamed or dropped columns."""

V2_WRITES = ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic")
"""Writes of a query to a V2 table, which is at `table.table`."""

V2_CHANGES = (
    ("ReplaceData", "originalTable"),
    ("WriteDelta", "originalTable"),
    ("DeleteFromTable", "collectLeaves.head"),
)
"""UPDATE, DELETE and MERGE of a V2 table, each with the path to the table's relation."""

IF_NOT_EXISTS = {"if_not_exists": "ignoreIfExists"}
"""Accessor of a CREATE; REPLACE has no such clause."""

SCHEMA = {"schema": "query.schema.json"}
"""Accessor of the columns that a query writes."""

BY_CLASS = {"mode": "getClass.getSimpleName", **SCHEMA}
"""Accessors of a query's write whose class decides the mode."""

BY_MODE = {"mode": "mode", **SCHEMA}
"""Accessors of a query's write with a save mode."""

BY_OUTPUT_MODE = {"mode": "outputMode", **SCHEMA}
"""Accessors of a batch of a stream."""

SET_LOCATION = "AlterTableSetLocationCommand"
"""The command that lets a table's name refer to other files."""

# Settings of a session's builder are only here, not in the context's settings.
_HADOOP = "$session.sharedState.hadoopConf"
_CONF = "$session.sharedState.conf"

SETTINGS: Dict[str, str] = {
    "warehouse": WAREHOUSE,
    "catalog_kind": f"{_CONF}.get('spark.sql.catalogImplementation', 'in-memory')",
    "metastore_uris": f"{_HADOOP}.get('hive.metastore.uris')",
    "metastore_client": f"{_HADOOP}.get('hive.metastore.client.factory.class')",
    "glue_catalog": f"{_HADOOP}.get('hive.metastore.glue.catalogid')",
    "glue_account": f"{_CONF}.getOption('spark.glue.accountId')?",
    "aws_region": f"{_CONF}.getenv('AWS_REGION')",
    "aws_default_region": f"{_CONF}.getenv('AWS_DEFAULT_REGION')",
}
"""Accessors of the session's settings that name its catalog; the keys of `facts.Facts`."""

NAMED = {"table": "catalogTable?.identifier.nameParts[]", **SETTINGS}
"""Accessors of a V1 relation's table in the session's catalog, and of the catalog."""

PARTITION_OVERWRITE = "$setting(spark.sql.sources.partitionOverwriteMode)"
"""Mode of an overwrite without the option `partitionOverwriteMode`: `static` or `dynamic`."""


def table_facts(metadata: str) -> Dict[str, str]:
    """Return accessors for a `CatalogTable`, the session catalog's description of a table."""
    return {
        "location": f"{metadata}.storage.locationUri?",
        "format": f"{metadata}.provider?",
        "table_type": f"{metadata}.tableType.name",
        "options": f"$options({metadata}.storage.properties)",
    }
