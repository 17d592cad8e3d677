"""Names of tables in catalogs: in the session's warehouse, a Hive metastore, or AWS Glue."""

from __future__ import annotations

import re
from typing import List, Optional, Tuple

from airflow_provider_spark_lineage.spark.sources.dataset import Catalog, Facts, Identity, Symlink
from airflow_provider_spark_lineage.spark.sources.paths import split_location, uri_of

_GLUE_CLIENT = "AWSGlueDataCatalogHiveClientFactory"
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


def parts_of(name: str) -> List[str]:
    """Return the parts of a name in Spark's notation: parts with special characters are in backticks.

    >>> parts_of("sales.`odd.name`")
    ['sales', 'odd.name']
    """
    return [quoted.replace("``", "`") or plain for quoted, plain in _PART.findall(name)]


def table_name(facts: Facts) -> Tuple[str, ...]:
    """Return the parts of a table's name, without `spark_catalog`, which has no meaning outside Spark.

    Return nothing for a name without its database, which is not unique.
    """
    # Spark writes an identifier as text without its catalog.
    from_text = parts_of(facts.get("table_text") or "")
    written: List[str] = from_text or list(facts.get("table") or facts.get("command_table") or ())
    parts = tuple(part for part in written if part)
    if len(parts) > 2 and parts[0] == "spark_catalog":
        parts = parts[1:]
    return parts if len(parts) > 1 else ()


def symlinks(facts: Facts) -> Tuple[Symlink, ...]:
    """Return the table's name in the namespace of its catalog; empty for a relation without a catalog."""
    parts = table_name(facts)
    if not parts:
        return ()
    is_of_hive = facts.get("catalog_kind") == "hive" and len(parts) == 2
    kind, address = _server(facts) if is_of_hive else ("", "")
    if kind == "glue":
        return (Symlink(address, "table/" + "/".join(parts)),)
    folder = uri_of(*split_location(str(facts.get("warehouse") or "/")))
    return (Symlink(address or folder, ".".join(parts)),)


def entries(facts: Facts) -> Tuple[Identity, ...]:
    """Return the table's entry in the session's catalog, independent of the place of its data."""
    if facts.get("catalog", "spark_catalog") != "spark_catalog":
        return ()
    return tuple(Identity(link.id, type="TABLE", catalog=metastore(facts)) for link in symlinks(facts))


def metastore(facts: Facts) -> Optional[Catalog]:
    """Return the session's catalog, for one of its tables or a directory that SQL writes.

    None for a catalog in memory, which ends with the session.
    """
    is_of_catalog = len(table_name(facts)) == 2 or "directory" in facts
    if facts.get("catalog_kind") != "hive" or not is_of_catalog:
        return None
    kind, address = _server(facts)
    return Catalog("hive", kind, "default", metadata_uri=address, warehouse_uri=warehouse_uri(facts))


def warehouse_uri(facts: Facts) -> str:
    """Return the URI of the session's warehouse; empty if it was not recorded."""
    warehouse = str(facts.get("warehouse") or "")
    return uri_of(*split_location(warehouse)) if warehouse else ""


def is_session_table(facts: Facts) -> bool:
    """Return whether the session's catalog described the table, as it does its own (`CatalogTable`).

    A session's catalog of Iceberg, or a JDBC catalog, holds tables that Spark does not know this way.
    """
    return "table_type" in facts


def _server(facts: Facts) -> Tuple[str, str]:
    """Return the kind and the address of a Hive catalog; one inside the driver has no address."""
    region = facts.get("aws_region") or facts.get("aws_default_region")
    account = facts.get("glue_catalog") or facts.get("glue_account")
    if str(facts.get("metastore_client")).endswith(_GLUE_CLIENT) and region and account:
        return "glue", f"arn:aws:glue:{region}:{account}"
    # The first of a list of metastores: `thrift://one:9083,thrift://two:9083`.
    first = re.match(
        r"\s*\w+://(?:[^@/,]*@)?(\[[^\]]+\]|[^:/,\s]+)(:\d+)?", str(facts.get("metastore_uris") or "")
    )
    return "hive", f"hive://{first[1]}{first[2] or ':9083'}" if first else ""
