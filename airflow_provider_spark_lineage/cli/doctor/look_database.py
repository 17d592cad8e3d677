"""Asks Airflow's metadata database for DAGs and connections, in the process that `probe` starts.

It reads only, and what raises becomes a word for the reason: the message may quote a password.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

EMPTY = "empty"
"""The reason where there is no database yet, or one without Airflow's tables."""

SILENT = "silent"
"""The reason where the database did not answer in time."""


def look_database() -> dict[str, Any]:
    """Return DAGs with their tasks, and the connections that configure OpenLineage's Java listener."""
    from airflow_provider_spark_lineage.cli.doctor.spark import LISTENER

    try:
        from airflow.models import Connection
        from airflow.models.serialized_dag import SerializedDagModel
        from airflow.utils.session import create_session
        from sqlalchemy import func, inspect, select

        with create_session() as session:
            # SQLite would create the file.
            if _is_missing_file(session.get_bind().url):
                return {"database_error": EMPTY}
            if not inspect(session.connection()).has_table(SerializedDagModel.__tablename__):
                return {"database_error": EMPTY}
            # Airflow keeps a row for each version of a DAG.
            dag_id, created_at = SerializedDagModel.dag_id, SerializedDagModel.created_at
            newest = select(dag_id, func.max(created_at).label("at")).group_by(dag_id).subquery()
            is_newest = (dag_id == newest.c.dag_id) & (created_at == newest.c.at)
            rows = session.scalars(select(SerializedDagModel).join(newest, is_newest))
            dags = {row.dag_id: _tasks(row.data) for row in rows}
            connections = session.scalars(select(Connection))
            found = [str(each.conn_id) for each in connections if LISTENER in str(each.extra or "")]
    except BaseException as error:  # A database of another version, or one that refuses.
        return {"database_error": type(error).__name__}
    return {"dags": dags, "connections_with_listener": sorted(found)}


def _is_missing_file(url: Any) -> bool:
    is_file = url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:"
    return bool(is_file) and not Path(url.database).exists()


def _tasks(data: Any) -> list[str]:
    """Return the task ids in the serialized form of a DAG."""
    tasks = ((data or {}).get("dag") or {}).get("tasks") or []
    return [str(task.get("__var", task).get("task_id", "")) for task in tasks]
