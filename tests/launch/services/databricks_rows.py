"""Runs of Databricks: connection and tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from launch.services.row import (
    BROKEN,
    COPIES,
    COPY,
    JAR_NOT_READ,
    NO_TEXT,
    NOTEBOOK_NOT_READ,
    SECRET,
    Row,
    copies,
    jar,
    python,
    records,
)
from launch.services.service import Service
from servers.databricks import databricks

PROVIDER = "airflow.providers.databricks.operators.databricks"
_OPERATORS = "databricks.operators.databricks"
_CLUSTER = {"spark_version": "17.3.x-scala2.13", "node_type_id": "small", "num_workers": 1}
_LOAD = {"main_class_name": "org.example.Load"}
_HERE = {"databricks_conn_id": "service", "polling_period_seconds": 1}


@contextlib.contextmanager
def serve(driver: Callable[[Any], bool], folder: Path) -> Iterator[Service]:
    """Serve the Jobs API; `driver` acts as the driver of a run, and decides how it ends."""
    with databricks(driver) as server:
        connection = {"conn_type": "databricks", "host": "127.0.0.1", "port": server.port, "schema": "http"}
        yield Service(server.ids, server.port, {"service": {**connection, "extra": {"token": "local"}}})


ROWS = [
    copies(
        f"{_OPERATORS}.DatabricksSubmitRunOperator",
        {
            **_HERE,
            "new_cluster": _CLUSTER,
            "spark_python_task": {"python_file": f"file:{COPY}", "parameters": [*COPIES]},
        },
        f"file:{COPY}",
    ),
    Row(
        "text",
        f"{_OPERATORS}.DatabricksSubmitRunOperator",
        {
            **_HERE,
            "json": '{"spark_jar_task": {"main_class_name": "org.example.{{ task.task_id }}"},'
            ' "run_name": "text"}',
        },
        (jar(name="text", mainClass="org.example.text"),),
        gaps=(JAR_NOT_READ,),
    ),
    Row(
        "recorded",
        f"{_OPERATORS}.DatabricksSubmitRunOperator",
        {
            **_HERE,
            "json": {
                "tasks": [
                    {
                        "task_key": "load",
                        "new_cluster": {**_CLUSTER, "spark_conf": records()},
                        "spark_jar_task": _LOAD,
                    },
                    {"task_key": "models", "dbt_task": {}},
                ]
            },
        },
        (jar(name="load", mainClass="org.example.Load"),),
        is_recorded=True,
    ),
    Row(
        "fails",
        f"{_OPERATORS}.DatabricksSubmitRunOperator",
        {
            **_HERE,
            "new_cluster": _CLUSTER,
            "spark_submit_task": {"parameters": ["--class", "org.example.Fails", "dbfs:/jobs/fails.jar"]},
        },
        (jar("dbfs:/jobs/fails.jar", mainClass="org.example.Fails"),),
        state="failed",
        gaps=(JAR_NOT_READ,),
    ),
    Row(
        "deferred",
        f"{_OPERATORS}.DatabricksSubmitRunOperator",
        {
            **_HERE,
            "new_cluster": {**_CLUSTER, "spark_conf": records()},
            "spark_jar_task": _LOAD,
            "deferrable": True,
        },
        (jar(mainClass="org.example.Load"),),
        link="http://127.0.0.1:{port}/#job/1/run/{id}",
        is_recorded=True,
    ),
    Row(
        "malformed",
        f"{_OPERATORS}.DatabricksSubmitRunOperator",
        {**_HERE, "json": "{'spark_jar_task': "},
        state="failed",
        has_id=False,
        gaps=(BROKEN,),
        warnings=1,
    ),
    Row(
        "unconnected",
        f"{_OPERATORS}.DatabricksSubmitRunOperator",
        {**_HERE, "databricks_conn_id": "nowhere", "new_cluster": _CLUSTER, "spark_jar_task": _LOAD},
        (jar(mainClass="org.example.Load"),),
        state="failed",
        has_id=False,
        gaps=(JAR_NOT_READ,),
    ),
    Row(
        "notebook",
        f"{_OPERATORS}.DatabricksNotebookOperator",
        {
            **_HERE,
            "databricks_task_key": "notebook",
            "notebook_path": "/Shared/notebook",
            "source": "WORKSPACE",
            "notebook_params": {"day": "{{ dag.dag_id }}", "password": SECRET},
            "new_cluster": _CLUSTER,
        },
        ({"type": "notebook", "main": "/Shared/notebook", "arguments": "day=services password=***"},),
        gaps=(NOTEBOOK_NOT_READ,),
    ),
    Row(
        "notebook_fails_deferred",
        f"{_OPERATORS}.DatabricksNotebookOperator",
        {
            **_HERE,
            "databricks_task_key": "notebook_fails_deferred",
            "notebook_path": "/Shared/fails",
            "source": "WORKSPACE",
            "new_cluster": _CLUSTER,
            "deferrable": True,
        },
        ({"type": "notebook", "main": "/Shared/fails"},),
        state="failed",
        # Its trigger gets the task's own run.
        id_of="notebook_fails_deferred/task",
        gaps=(NOTEBOOK_NOT_READ,),
    ),
    Row(
        "task",
        f"{_OPERATORS}.DatabricksTaskOperator",
        {
            **_HERE,
            "databricks_task_key": "task",
            "task_config": {"spark_python_task": {"python_file": "dbfs:/{{ task.task_id }}.py"}},
            "new_cluster": _CLUSTER,
        },
        (python("dbfs:/task.py"),),
        gaps=(NO_TEXT,),
    ),
    Row(
        "task_fails",
        f"{_OPERATORS}.DatabricksTaskOperator",
        {
            **_HERE,
            "databricks_task_key": "task_fails",
            "task_config": {"spark_python_task": {"python_file": "dbfs:/fails.py"}},
            "new_cluster": _CLUSTER,
        },
        (python("dbfs:/fails.py"),),
        state="failed",
        gaps=(NO_TEXT,),
    ),
]
