"""Accessor paths and names of commands that the probes of several sources share."""

from __future__ import annotations

from typing import Dict

SESSION_CATALOG = "$session.sessionState.catalog"
"""The session catalog of Spark's V1 API; Delta's catalog stores its tables there, too."""

WAREHOUSE = "$session.sessionState.conf.warehousePath"
"""The folder of the session's managed tables."""

FILE_SYSTEM = "$session.sparkContext.hadoopConfiguration.get('fs.defaultFS')"
"""Hadoop's default file system, for paths that name none."""

CHILD = "$session.sessionState.sqlParser.parseTableIdentifier(child.identifier.toString)"
"""Name of the table that a V2 command acts on, as a `TableIdentifier` of the session's catalog."""

DROPPED = "child.catalog.loadTable(child.identifier)"
"""The table that a DROP is about to drop."""

DROPPED_EXISTS = "child.catalog.tableExists(child.identifier)"
"""Whether the table that a DROP names exists."""

MADE_EXISTS = "name.catalog.tableExists(name.identifier)"
"""Whether the table that a CREATE names exists already."""

COLUMN_CHANGES = (
    "AddColumns",
    "AlterColumn",
    "AlterColumns",
    "DropColumns",
    "RenameColumn",
    "ReplaceColumns",
)
"""Spark's commands that change the columns of a catalog's table."""

# Settings given to a session's builder are here only, not in the context's settings.
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
"""Accessors of the session's settings that name its catalog; the keys of `catalogs.CatalogFacts`."""


PARTITION_OVERWRITE = "$setting(spark.sql.sources.partitionOverwriteMode)"
"""What an overwrite without the option `partitionOverwriteMode` replaces: `static` or `dynamic`."""


def table_facts(metadata: str) -> Dict[str, str]:
    """Return accessors for a `CatalogTable`, the session catalog's description of a table."""
    return {
        "location": f"{metadata}.storage.locationUri?",
        "format": f"{metadata}.provider?",
        "table_type": f"{metadata}.tableType.name",
        "options": f"$options({metadata}.storage.properties)",
    }


def if_not_exists(node: str) -> Dict[str, str]:
    """Return the accessor for IF NOT EXISTS of a CREATE; nothing for REPLACE, which has no such clause."""
    return {"if_not_exists": "ignoreIfExists"} if node.startswith("Create") else {}
