"""Locations of tables that a running command makes: the catalog has them only when the command has ended."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from airflow_provider_spark_lineage.spark.capture.connect.actions import Action
from airflow_provider_spark_lineage.spark.capture.connect.parameters import (
    NoLiteralError,
    relation_of,
    with_text,
)
from airflow_provider_spark_lineage.spark.capture.connect.server import RefusedError, Server
from airflow_provider_spark_lineage.spark.capture.connect.statements import created_table, is_query
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets

_OF_FOLDERS = frozenset({"avro", "csv", "delta", "json", "orc", "parquet", "text"})
"""Providers of tables whose rows are in the folder that the session's catalog chooses."""

_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_PLAIN = re.compile(r"\w+")
_WHOLE_PATH = re.compile(r"/|[A-Za-z][\w+.-]*:")

_SETTING = "spark.sql.catalog.{}"
_SESSION_CATALOGS = (None, "org.apache.spark.sql.delta.catalog.DeltaCatalog")
_ICEBERG = "org.apache.iceberg.spark.SparkCatalog"


class Making(NamedTuple):
    """A table that a command makes from a query, as the command's text describes it."""

    provider: str
    location: str
    """Empty if the catalog chooses it."""

    query: str
    """In SQL; empty for a frame, whose plan has the types of its columns."""

    replaces: bool


def making(action: Action, settings: Mapping[str, str]) -> Optional[Making]:
    """Return the table that a command makes; None without one, or if its text lacks the place."""
    default = settings.get("spark.sql.sources.default", "parquet")
    command = action.command
    location: Optional[str]
    if action.sql:
        created = created_table(action.sql)
        if created is None or not is_query(created.query):
            return None
        location = created.location
        making = Making(created.format or default, "", created.query, created.replaces)
    else:
        is_table = command.get("kind") == "write" and not command.get("insert")
        if not is_table and "create" not in str(command.get("mode")):
            return None
        location = None if command.get("is_placed") else str((command.get("options") or {}).get("path") or "")
        making = Making(str(command.get("format") or default), "", "", replaces=False)
    if location is None or ".." in location or not (_WHOLE_PATH.match(location) or not location):
        return None
    return making._replace(provider=making.provider.lower(), location=without_secrets(location))


def new_table(server: Server, name: str, making: Making) -> Dict[str, Any]:
    """Return the description that a new table will have, as `tables.described`, without its columns.

    Empty if only the catalog knows its place; `name` is written as in the program. Raise `RefusedError` if
    the server does not answer.
    """
    catalog, database, table = _full_name(server, name)
    of_catalog = _SETTING.format(catalog)
    settings = server.settings((of_catalog, f"{of_catalog}.type", "spark.sql.caseSensitive"))
    is_plain = all(map(_PLAIN.fullmatch, (*database, table)))
    if not is_plain or settings.get("spark.sql.caseSensitive") == "true":
        return {}
    if catalog != "spark_catalog":
        if making.location or (settings.get(of_catalog), settings.get(f"{of_catalog}.type")) != (
            _ICEBERG,
            "hadoop",
        ):
            return {}
        # Such a catalog has its tables in folders with their names.
        return {"name": ".".join((catalog, *database, table)), "provider": "iceberg", "type": "MANAGED"}
    if (
        settings.get(of_catalog) not in _SESSION_CATALOGS
        or making.provider not in _OF_FOLDERS
        or len(database) != 1
    ):
        return {}
    described = {
        "catalog": catalog,
        "database": database[0].lower(),
        "table": table.lower(),
        "provider": making.provider,
    }
    if making.location:
        return {**described, "type": "EXTERNAL", "location": making.location}
    rows = server.statement(f"DESCRIBE DATABASE `spark_catalog`.`{database[0]}`")
    folder = next((str(row["info_value"]) for row in rows if row["info_name"] == "Location"), "")
    location = without_secrets(f"{folder.rstrip('/')}/{table.lower()}")
    return {**described, "type": "MANAGED", "location": location} if folder else {}


def columns_of(server: Server, action: Action, table: Making) -> List[List[str]]:
    """Return names and types of the columns of a statement's query; empty for a frame."""
    if not table.query:
        return []
    with contextlib.suppress(RefusedError, NoLiteralError):
        from pyspark.sql.types import StructType

        query = relation_of(with_text(action.statement, table.query))
        schema = StructType.fromJson(json.loads(server.schema(query)))
        return [[field.name, field.dataType.simpleString()] for field in schema]
    return []


def _full_name(server: Server, name: str) -> Tuple[str, Tuple[str, ...], str]:
    """Return catalog, namespace and name of a table."""
    *namespace, table = [quoted.replace("``", "`") or plain.strip() for quoted, plain in _PART.findall(name)]
    if namespace and (namespace[0] == "spark_catalog" or _is_catalog(server, namespace[0])):
        return namespace[0], tuple(namespace[1:]), table
    [current] = server.statement("SELECT current_catalog() AS catalog, current_database() AS database")
    return current["catalog"], tuple(namespace or [current["database"]]), table


def _is_catalog(server: Server, name: str) -> bool:
    setting = _SETTING.format(name)
    return setting in server.settings((setting,))
