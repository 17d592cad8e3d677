"""Where a running command makes a table: the catalog describes it only when the command has ended."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any, Dict, List, Mapping, Optional, Tuple

from airflow_provider_spark_lineage.capture.connect.actions import Action
from airflow_provider_spark_lineage.capture.connect.parameters import AS, NoLiteralError, query_of
from airflow_provider_spark_lineage.capture.connect.server import RefusedError, Server
from airflow_provider_spark_lineage.capture.connect.session import Session

_OF_FOLDERS = frozenset({"avro", "csv", "delta", "json", "orc", "parquet", "text"})
"""Providers of tables whose rows are in the folder that the session's catalog chooses."""

_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_PLAIN = re.compile(r"\w+")
_LOCATION = re.compile(r"(?i)\blocation\s+'([^'\\]+)'")
_PROVIDER = re.compile(r"(?i)\busing\s+`?(\w+)")
_ICEBERG = "org.apache.iceberg.spark.SparkCatalog"


def new_table(
    session: Session, server: Server, name: str, action: Action, settings: Mapping[str, str]
) -> Dict[str, Any]:
    """Return the description that a new table will have, as `tables.described`.

    It has columns if the plan's text has no types, as that of a statement. Empty if only the catalog knows
    its place; `name` is written as in the program. Raise `RefusedError` if the server does not answer.
    """
    provider, place = _kind(action, settings)
    catalog, database, table = _full_name(server, name)
    if place is None or not all(map(_PLAIN.fullmatch, (*database, table))):
        return {}
    if catalog != "spark_catalog":
        prefix = f"spark.sql.catalog.{catalog}"
        of_catalog = server.settings((prefix, f"{prefix}.type"))
        if place or of_catalog.get(prefix) != _ICEBERG or of_catalog.get(f"{prefix}.type") != "hadoop":
            return {}
        # Such a catalog has its tables in folders with their names.
        name = ".".join((catalog, *database, table))
        return {"name": name, "provider": "iceberg", "type": "MANAGED", "columns": _columns(server, action)}
    if provider not in _OF_FOLDERS or len(database) != 1:
        return {}
    described = {
        "catalog": catalog,
        "database": database[0],
        "table": table.lower(),
        "provider": provider,
        "columns": _columns(server, action),
    }
    if place:
        return {**described, "type": "EXTERNAL", "location": session.complete(server, place)}
    rows = server.statement(f"DESCRIBE DATABASE `{database[0]}`")
    folder = next((str(row["info_value"]) for row in rows if row["info_name"] == "Location"), "")
    location = f"{folder.rstrip('/')}/{table.lower()}"
    return {**described, "type": "MANAGED", "location": location} if folder else {}


def _columns(server: Server, action: Action) -> List[List[str]]:
    """Return names and types of the columns of a statement's query; empty for a frame."""
    if not action.sql:
        return []
    with contextlib.suppress(RefusedError, NoLiteralError):
        from pyspark.sql.types import StructType

        schema = StructType.fromJson(json.loads(server.schema(query_of(action.statement))))
        return [[field.name, field.dataType.simpleString()] for field in schema]
    return []


def _kind(action: Action, settings: Mapping[str, str]) -> Tuple[str, Optional[str]]:
    """Return provider and location of a command's new table.

    The location is empty if the command has none, and None if it may have one in a form that is not read.
    """
    default = settings.get("spark.sql.sources.default", "parquet")
    if not action.sql:
        options = action.command.get("options") or {}
        return str(action.command.get("format") or default).lower(), str(options.get("path") or "")
    head = AS.split(action.sql, maxsplit=1)[0]
    given = _PROVIDER.search(head)
    location = _LOCATION.search(head)
    is_unread = re.search(r"(?i)\b(?:location|options|stored)\b", head) is not None
    place = location[1] if location else None if is_unread else ""
    return (given[1] if given else default).lower(), place


def _full_name(server: Server, name: str) -> Tuple[str, Tuple[str, ...], str]:
    """Return catalog, namespace and name of a table."""
    *namespace, table = [quoted.replace("``", "`") or plain.strip() for quoted, plain in _PART.findall(name)]
    if namespace and (namespace[0] == "spark_catalog" or _is_catalog(server, namespace[0])):
        return namespace[0], tuple(namespace[1:]), table
    [current] = server.statement("SELECT current_catalog() AS catalog, current_database() AS database")
    return current["catalog"], tuple(namespace or [current["database"]]), table


def _is_catalog(server: Server, name: str) -> bool:
    setting = f"spark.sql.catalog.{name}"
    return setting in server.settings((setting,))
