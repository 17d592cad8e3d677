"""The names that catalogs give to tables: by the session's warehouse, a Hive metastore, or AWS Glue."""

from __future__ import annotations

import re
from typing import Dict, List, Tuple

from airflow_provider_spark_lineage.sources.dataset import Facts, Symlink
from airflow_provider_spark_lineage.sources.paths import split_location, uri_of

_HADOOP = "$session.sparkContext.hadoopConfiguration"
_CONF = "$session.sparkContext.conf"

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

_GLUE_CLIENT = "AWSGlueDataCatalogHiveClientFactory"
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


def table_name(facts: Facts) -> Tuple[str, ...]:
    """Return the parts of a table's name without the session catalog's own, which says nothing outside Spark.

    Empty for a name without its database, which is not this table's alone.
    """
    # Spark writes an identifier as text without its catalog, parts with odd letters between backticks.
    text = [
        quoted.replace("``", "`") or plain for quoted, plain in _PART.findall(facts.get("table_text") or "")
    ]
    given: List[str] = text or list(facts.get("table") or facts.get("command_table") or ())
    parts = tuple(part for part in given if part)
    if len(parts) > 2 and parts[0] == "spark_catalog":
        parts = parts[1:]
    return parts if len(parts) > 1 else ()


def symlinks(facts: Facts, name: Tuple[str, ...] = ()) -> Tuple[Symlink, ...]:
    """Name the table that facts speak of, if it is one of a catalog: in that catalog's namespace."""
    parts = name or table_name(facts)
    return (_symlink(facts, parts),) if parts else ()


def _symlink(facts: Facts, parts: Tuple[str, ...]) -> Symlink:
    if facts.get("catalog_kind") == "hive" and len(parts) == 2:
        region = facts.get("aws_region") or facts.get("aws_default_region")
        account = facts.get("glue_catalog") or facts.get("glue_account")
        if str(facts.get("metastore_client")).endswith(_GLUE_CLIENT) and region and account:
            return Symlink(f"arn:aws:glue:{region}:{account}", "table/" + "/".join(parts))
        address = _first_address(str(facts.get("metastore_uris") or ""))
        if address:
            return Symlink(f"hive://{address}", ".".join(parts))
    return Symlink(uri_of(*split_location(str(facts.get("warehouse") or "/"))), ".".join(parts))


def _first_address(uris: str) -> str:
    """Return host and port of the first of a list of metastores: `thrift://one:9083,thrift://two:9083`."""
    match = re.match(r"\s*\w+://(?:[^@/,]*@)?(\[[^\]]+\]|[^:/,\s]+)(:\d+)?", uris)
    return match[1] + (match[2] or ":9083") if match else ""
