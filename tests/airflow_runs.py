"""DAG runs of tests: they copy metadata that were made once for all of them."""

from __future__ import annotations

import fcntl
import json
import sqlite3
from pathlib import Path
from typing import Any

from providers import AIRFLOW

from airflow_provider_spark_lineage import testing
from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.testing import DagRun

_FOLDER = Path(__file__).resolve().parents[1] / ".cache" / f"airflow-{AIRFLOW}"


def metadata() -> Path:
    """Return the migrated SQLite file of this Airflow; it is made if it is not there."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with (_FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return testing.make_metadata(_FOLDER)


def run_dag(dag: Any, **options: Any) -> DagRun:
    """Run a DAG as the harness does, with these metadata unless `options` have others."""
    return testing.run_dag(dag, **{"metadata": metadata(), **options})


def stored_of(home: Path) -> dict[tuple[str, int], stored_form.Stored]:
    """Return what task instances of an Airflow have stored for the viewer, by task and map index."""
    query = "select task_id, map_index, value from xcom where key = ?"
    with sqlite3.connect(home / "airflow.db") as database:
        rows = database.execute(query, [stored_form.XCOM_KEY]).fetchall()
    return {(task, index): stored_form.unpack(json.loads(text)) for task, index, text in rows}
