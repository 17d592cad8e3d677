"""Descriptions of tables by the server's catalog: DESCRIBE, once for each name until a command runs."""

from __future__ import annotations

import re
from typing import Any, Dict, List

from airflow_provider_spark_lineage.spark.capture.connect.relations import wanted
from airflow_provider_spark_lineage.spark.capture.connect.server import RefusedError, Server, local_server
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets

_INFO = {
    "Catalog": "catalog",
    "Database": "database",
    "Location": "location",
    "Name": "name",
    "Namespace": "database",
    "Provider": "provider",
    "Serde Library": "serde",
    "Table": "table",
    "Type": "type",
    "View Text": "",
}
"""Recorded rows of DESCRIBE TABLE EXTENDED -> their names in a record."""

_IN_PLANS = (
    # A V2 relation, with its columns and its name; since Spark 4.0 the name may be followed by options.
    re.compile(r"RelationV2\[[^\]]*\]\s+(?P<name>(?:`[^`]*`|[\w$.-])+)"),
    # A table of files: its path is in the plan only if Spark planned a scan.
    re.compile(r"\bRelation (?P<name>[\w$-]+(?:\.[\w$-]+)+)\["),
    re.compile(r"HiveTableRelation \[(?P<name>(?:`[^`]*`\.?)+)"),
)
"""Tables in the text of a plan, which may not have their location."""

_FULL = re.compile(r"(?:`(?:[^`]|``)+`\.){2}`(?:[^`]|``)+`")
"""Catalog, database and table in a plan: the same table for any current database."""

_INSERT = re.compile(rf"InsertIntoHadoopFsRelationCommand [^\n]*, (?P<name>{_FULL.pattern}), ")
_OF_FILES = frozenset({"avro", "csv", "json", "orc", "parquet", "text"})
"""Providers of tables whose columns no write changes."""

_PROPERTY = re.compile(r"(?:^\[|, )([\w.]+)=(.*?)(?=, [\w.]+=|\]$)")

_MAX_TABLES = 20
"""Limit of described tables of one plan."""


class ConnectTables:
    """The described tables of one session."""

    def __init__(self) -> None:
        self._known: Dict[str, Dict[str, Any]] = {}

    def forget(self, *, moves_rows: bool = False) -> None:
        """Forget all tables, which a command may have changed.

        A command that only moves rows does not change tables of Spark's own files, known by full name.
        """
        self._known = {
            name: table
            for name, table in self._known.items()
            if moves_rows and _FULL.fullmatch(name) and table.get("provider", "").lower() in _OF_FILES
        }

    def all(self) -> List[Dict[str, Any]]:
        """Return all known descriptions."""
        return [table for table in tuple(self._known.values()) if table]

    def described(self, server: Server, name: str) -> Dict[str, Any]:
        """Return the catalog's description of a table; empty if the table does not exist."""
        if name not in self._known:
            self._known[name] = described(server, name)
        return self._known[name]


def names_in_plan(text: str) -> List[str]:
    """Return the names of the tables to describe in an explained plan."""
    names = dict.fromkeys(
        match["name"].rstrip(".") for pattern in _IN_PLANS for match in pattern.finditer(text)
    )
    return list(names)[:_MAX_TABLES]


def inserted_table(text: str) -> str:
    """Return the full name of the table of files that a plan inserts into; empty if there are several."""
    names = {match["name"] for match in _INSERT.finditer(text)}
    return names.pop() if len(names) == 1 else ""


def described(server: Server, name: str) -> Dict[str, Any]:
    """Return columns, partition columns, location and kind of a table; empty if the table does not exist.

    Raise `RefusedError` if the server does not answer.
    """
    if local_server() is not None and not server.has("table", name):
        return {}
    try:
        return described_by(server.statement(f"DESCRIBE TABLE EXTENDED {name}"))
    except RefusedError as refusal:
        if "TABLE_OR_VIEW_NOT_FOUND" in str(refusal) or "cannot be found" in str(refusal):
            return {}
        raise


def described_by(rows: List[Dict[str, Any]]) -> Dict[str, Any]:
    """Parse the rows of DESCRIBE TABLE EXTENDED: columns, then sections that begin with `#`."""
    columns: List[List[str]] = []
    partitions: List[str] = []
    table: Dict[str, Any] = {"columns": columns, "partition_columns": partitions}
    section = ""
    for row in rows:
        name, value = str(row.get("col_name") or ""), str(row.get("data_type") or "")
        if name.startswith("# ") and not value:
            section = name[2:]
        elif not name or name == "# col_name":
            continue
        elif not section:
            # Spark 4.3 names the default collation of a column that a function in Python filled.
            columns.append([name, value.replace(" collate UTF8_BINARY", "")])
        elif section == "Partition Information":
            partitions.append(name)
        elif section == "Partitioning":
            partitions.append(value)
        elif section.startswith("Detailed Table Information") and name == "Storage Properties":
            table["options"] = wanted(dict(_PROPERTY.findall(value)))
        elif section.startswith("Detailed Table Information") and _INFO.get(name):
            table[_INFO[name]] = without_secrets(value)
    return table
