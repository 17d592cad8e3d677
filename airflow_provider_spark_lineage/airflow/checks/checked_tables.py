"""Names of the tables that a check reads over a connection whose hook does not name them.

A Spark Thrift server is asked where a table is: a Spark job names it by its files. That happens in the task's
process (`described_tables`); the provider's forked child only reads the result (`checked_tables`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.airflow.submitted.planned import certain
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark import GapKind, Lineage, ServerTables, harmless

_MOST_TABLES = 20
"""Each is one more statement on the server."""


def checked_tables(operator: Any) -> Lineage | None:
    """Return the tables in an operator's SQL by the row of its connection; None without a row."""
    hook = operator.get_db_hook()
    read = CONNECTIONS.get(str(getattr(hook, "conn_type", "")))
    if read is None:
        return None
    lineage = read(operator, _connection_of(hook))
    # The operator runs just this text, so there is no gap between the two.
    return replace(lineage, gaps=tuple(gap for gap in lineage.gaps if gap.kind is not GapKind.PLANNED))


def tables_at_start(operator: Any) -> Lineage | None:
    """Return the tables if all of their names are certain: the server tells more when the task has ended."""
    tables = checked_tables(operator)
    return tables if tables is not None and certain(tables) else None


def _connection_of(hook: Any) -> Any:
    return hook.get_connection(getattr(hook, hook.conn_name_attr))


# --- A Spark Thrift server


def described_tables(operator: Any) -> Mapping[tuple[str, ...], Any]:
    """Return the facts of a check's tables from its server; empty if it is not a Spark Thrift server.

    Talks to the server: only for the task's own process, after its `execute`.
    """
    hook = operator.get_db_hook()
    if getattr(hook, "conn_type", "") != "hiveserver2":
        return {}
    described: dict[tuple[str, ...], Any] = {}
    descriptions = _tables(operator, _connection_of(hook)).descriptions()
    with closing(hook.get_conn()) as connection, closing(connection.cursor()) as cursor:
        settings = {key: _setting(cursor, names) for key, names in _SETTINGS.items()}
        for name, statement in [*descriptions.items()][:_MOST_TABLES]:
            with harmless("the location of a checked table is not known"):
                cursor.execute(statement)
                described[name] = ServerTables.facts(dict(_details(cursor.fetchall())), settings)
    return described


_SETTINGS = {
    "warehouse": ("spark.sql.warehouse.dir",),
    "catalog_kind": ("spark.sql.catalogImplementation",),
    "metastore_uris": ("spark.hadoop.hive.metastore.uris", "hive.metastore.uris"),
}
"""Fact of a session -> settings that have it, the first wins."""


def _setting(cursor: Any, names: tuple[str, ...]) -> str:
    for name in names:
        cursor.execute(f"SET {name}")
        value = next((row[1] for row in cursor.fetchall() if len(row) > 1), "")
        if value and value != "<undefined>":
            return str(value)
    return ""


def _details(rows: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the properties in the rows of DESCRIBE FORMATTED, which begins with the columns."""
    is_detail = False
    for row in rows:
        key = str(row[0] or "").strip().rstrip(":")
        if key.startswith("# Detailed Table"):
            is_detail = True
        elif is_detail and key and not key.startswith("#"):
            yield key, str(row[1] or "").strip()


def _of_thrift_server(operator: Any, connection: Any) -> Lineage:
    """Return tables as a Spark job names them; one that was not described, by its name on the server."""
    return _tables(operator, connection).lineage(TASK.described, _url("hive2", connection, 10000, "default"))


def _tables(operator: Any, connection: Any) -> ServerTables:
    """Return the tables in the statements of an operator."""
    # Column and Table checks call `get_records`, for which the hook uses the database `default`.
    is_of_records = hasattr(operator, "column_mapping") or hasattr(operator, "checks")
    database = "default" if is_of_records else connection.schema or "default"
    texts = (f"TABLE {text}" if kind == "dbtable" else text for kind, text in _texts(operator))
    return ServerTables(texts, database)


# --- Others


def _by_url(subprotocol: str, port: int) -> Callable[[Any, Any], Lineage]:
    """Return the function that names tables as a Spark job does that reads them by JDBC."""

    def tables(operator: Any, connection: Any) -> Lineage:
        url = _url(subprotocol, connection, port, getattr(operator, "database", None) or "default")
        return ServerTables.by_jdbc(url, _texts(operator))

    return tables


def _url(subprotocol: str, connection: Any, port: int, database: str) -> str:
    database = connection.schema or database
    return f"jdbc:{subprotocol}://{connection.host}:{connection.port or port}/{database}"


def _texts(operator: Any) -> list[tuple[str, str]]:
    """Return what an operator reads, as an option of JDBC: its table, or its statements."""
    table = getattr(operator, "table", None)
    if table:
        return [("dbtable", str(table))]
    sql = getattr(operator, "sql", None) or ()
    return [("query", text.strip().rstrip(";")) for text in ([sql] if isinstance(sql, str) else sql)]


CONNECTIONS: Mapping[str, Callable[[Any, Any], Lineage]] = {
    "hiveserver2": _of_thrift_server,
    "databricks": _by_url("databricks", 443),
}
"""Kind of connection -> how its SQL becomes datasets; for all others, only the provider's own parser does."""
