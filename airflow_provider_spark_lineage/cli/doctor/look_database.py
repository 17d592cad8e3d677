"""Reads DAGs and connections from Airflow's metadata database, in the process that `probe` starts.

An exception is reported by its class only: its message may quote a password.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

EMPTY = "empty"
"""The reason if there is no database yet, or it lacks Airflow's tables."""

SILENT = "silent"
"""The reason if the database did not answer in time."""


def look_database() -> dict[str, Any]:
    """Return DAGs with their tasks, and the connections that configure OpenLineage's Java listener."""
    from airflow_provider_spark_lineage.cli.doctor.spark import LISTENER

    try:
        from airflow.models import Connection
        from airflow.models.serialized_dag import SerializedDagModel
        from airflow.utils.session import create_session

        with create_session() as session:
            # SQLite would create the file.
            engine, table = session.get_bind(), SerializedDagModel.__tablename__
            if _is_missing_file(engine.url) or not engine.dialect.has_table(session.connection(), table):
                return {"database_error": EMPTY}
            # Airflow keeps a row for each version of a DAG.
            names = [name for (name,) in session.query(SerializedDagModel.dag_id).distinct()]
            rows = SerializedDagModel.get_latest_serialized_dags(dag_ids=names, session=session)
            dags = {row.dag_id: _tasks(row.data) for row in rows}
            connections = session.query(Connection).all()
            with_listener = [str(each.conn_id) for each in connections if LISTENER in str(each.extra or "")]
    except BaseException as error:  # For example a database of another version, or without permission.
        return {"database_error": type(error).__name__}
    return {"dags": dags, "connections_with_listener": sorted(with_listener)}


def _is_missing_file(url: Any) -> bool:
    is_file = url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:"
    return bool(is_file) and not Path(url.database).exists()


def _tasks(data: Any) -> list[str]:
    """Return the task ids in the serialized form of a DAG."""
    tasks = ((data or {}).get("dag") or {}).get("tasks") or []
    return [str(task.get("__var", task).get("task_id", "")) for task in tasks]
