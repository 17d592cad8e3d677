"""The names that catalogs give to tables: by the session's warehouse, a Hive metastore, or AWS Glue."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple

from airflow_provider_spark_lineage.sources.dataset import Catalog, DatasetId, Facts, Identity, Symlink
from airflow_provider_spark_lineage.sources.paths import split_location, uri_of

# What a session's builder was given is here alone, not in the context's settings.
_HADOOP = "$session.sharedState.hadoopConf"
_CONF = "$session.sharedState.conf"

SETTINGS: Dict[str, str] = {
    "warehouse": "$session.sessionState.conf.warehousePath",
    "catalog_kind": f"{_CONF}.get('spark.sql.catalogImplementation', 'in-memory')",
    "metastore_uris": f"{_HADOOP}.get('hive.metastore.uris')",
    "metastore_client": f"{_HADOOP}.get('hive.metastore.client.factory.class')",
    "glue_catalog": f"{_HADOOP}.get('hive.metastore.glue.catalogid')",
    "glue_account": f"{_CONF}.getOption('spark.glue.accountId')?",
    "aws_region": f"{_CONF}.getenv('AWS_REGION')",
    "aws_default_region": f"{_CONF}.getenv('AWS_DEFAULT_REGION')",
}
"""What a probe of a table asks of the session, besides the table's name."""

SET_LOCATION = "AlterTableSetLocationCommand"
"""The command after which a table's name stands for other files."""


def table_facts(metadata: str) -> Dict[str, str]:
    """What to ask a `CatalogTable`, the description that the session's catalog has of a table."""
    return {
        "location": f"{metadata}.storage.locationUri?",
        "format": f"{metadata}.provider?",
        "table_type": f"{metadata}.tableType.name",
        "options": f"$options({metadata}.storage.properties)",
    }


SESSION_CATALOG = "$session.sessionState.catalog"
"""The way to the catalog of Spark's first API, which Delta's keeps its tables in, too."""

CHILD = "$session.sessionState.sqlParser.parseTableIdentifier(child.identifier.toString)"
"""The way to the name of the table that a command of the second API acts on, as that catalog takes names."""

_GLUE_CLIENT = "AWSGlueDataCatalogHiveClientFactory"
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


def parts_of(name: str) -> List[str]:
    """Return the parts of a name as Spark writes it: those with odd letters stand between backticks.

    >>> parts_of("sales.`odd.name`")
    ['sales', 'odd.name']
    """
    return [quoted.replace("``", "`") or plain for quoted, plain in _PART.findall(name)]


def table_name(facts: Facts) -> Tuple[str, ...]:
    """Return the parts of a table's name without the session catalog's own, which says nothing outside Spark.

    Empty for a name without its database, which is not this table's alone.
    """
    # Spark writes an identifier as text without its catalog.
    text = parts_of(facts.get("table_text") or "")
    given: List[str] = text or list(facts.get("table") or facts.get("command_table") or ())
    parts = tuple(part for part in given if part)
    if len(parts) > 2 and parts[0] == "spark_catalog":
        parts = parts[1:]
    return parts if len(parts) > 1 else ()


def symlinks(facts: Facts, name: Tuple[str, ...] = ()) -> Tuple[Symlink, ...]:
    """Name the table that facts speak of, if it is one of a catalog: in that catalog's namespace."""
    parts = name or table_name(facts)
    return (_symlink(facts, parts),) if parts else ()


def entries(facts: Facts) -> Tuple[Identity, ...]:
    """Return the entry of the session's catalog for the table that facts speak of, wherever its data are."""
    if facts.get("catalog", "spark_catalog") != "spark_catalog":
        return ()
    return tuple(
        Identity(DatasetId(link.namespace, link.name), type="TABLE", catalog=metastore(facts))
        for link in symlinks(facts)
    )


def metastore(facts: Facts) -> Optional[Catalog]:
    """Return the catalog of a table of the session's, or of a directory that SQL writes.

    None for a catalog in memory, which ends with the session.
    """
    is_of_catalog = len(table_name(facts)) == 2 or "directory" in facts
    if facts.get("catalog_kind") != "hive" or not is_of_catalog:
        return None
    kind, address = _server(facts)
    given = str(facts.get("warehouse") or "")
    warehouse = uri_of(*split_location(given)) if given else ""
    return Catalog("hive", kind, "default", metadata_uri=address, warehouse_uri=warehouse)


def _symlink(facts: Facts, parts: Tuple[str, ...]) -> Symlink:
    kind, address = _server(facts) if facts.get("catalog_kind") == "hive" and len(parts) == 2 else ("", "")
    if kind == "glue":
        return Symlink(address, "table/" + "/".join(parts))
    if address:
        return Symlink(address, ".".join(parts))
    return Symlink(uri_of(*split_location(str(facts.get("warehouse") or "/"))), ".".join(parts))


def _server(facts: Facts) -> Tuple[str, str]:
    """Return the kind and the address of a Hive catalog; one inside of the driver has no address."""
    region = facts.get("aws_region") or facts.get("aws_default_region")
    account = facts.get("glue_catalog") or facts.get("glue_account")
    if str(facts.get("metastore_client")).endswith(_GLUE_CLIENT) and region and account:
        return "glue", f"arn:aws:glue:{region}:{account}"
    address = _first_address(str(facts.get("metastore_uris") or ""))
    return "hive", f"hive://{address}" if address else ""


def _first_address(uris: str) -> str:
    """Return host and port of the first of a list of metastores: `thrift://one:9083,thrift://two:9083`."""
    match = re.match(r"\s*\w+://(?:[^@/,]*@)?(\[[^\]]+\]|[^:/,\s]+)(:\d+)?", uris)
    return match[1] + (match[2] or ":9083") if match else ""
