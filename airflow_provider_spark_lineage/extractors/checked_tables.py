"""Names of the tables that a check reads over a connection whose hook does not name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from airflow_provider_spark_lineage.lineage.model import Lineage
from airflow_provider_spark_lineage.planned.lineage import Planner
from airflow_provider_spark_lineage.planned.program import Access, Program, Unread

NOT_LOCATED = "a table on a Spark Thrift server has the name of its connection: its location is not known"


def checked_tables(operator: Any) -> Lineage | None:
    """Return the tables in an operator's SQL by the row of its connection; None if there is no row."""
    hook = operator.get_db_hook()
    read = CONNECTIONS.get(str(getattr(hook, "conn_type", "")))
    if read is None:
        return None
    connection = hook.get_connection(getattr(hook, hook.conn_name_attr))
    return read(operator, connection)


def _by_url(subprotocol: str, port: int, gap: str = "") -> Callable[[Any, Any], Lineage]:
    """Return the function that names tables as a Spark job does that reads them by JDBC."""

    def tables(operator: Any, connection: Any) -> Lineage:
        database = getattr(operator, "database", None) or connection.schema or "default"
        url = f"jdbc:{subprotocol}://{connection.host}:{connection.port or port}/{database}"
        program = Program()
        for option, text in _texts(operator):
            program.add([Access(1, format="jdbc", options=(("url", url), (option, text)))])
        if gap:
            program.add([Unread(0, gap)])
        return Planner({}, "").lineage(program)

    return tables


def _texts(operator: Any) -> list[tuple[str, str]]:
    """Return what an operator reads: its table, or its statements."""
    table = getattr(operator, "table", None)
    if table:
        return [("dbtable", str(table))]
    sql = getattr(operator, "sql", None) or ()
    return [("query", text.strip().rstrip(";")) for text in ([sql] if isinstance(sql, str) else sql)]


CONNECTIONS: Mapping[str, Callable[[Any, Any], Lineage]] = {
    "hiveserver2": _by_url("hive2", 10000, NOT_LOCATED),
    "databricks": _by_url("databricks", 443),
}
"""Kind of connection -> how its SQL becomes datasets; for all others, only the provider's own parser does."""
