"""Jobs and batches of Dataproc: connection and tasks."""

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
    PLANNED,
    Row,
    copies,
    jar,
    python,
    records,
)
from launch.services.service import Service
from servers.dataproc import PROJECT, REGION, connection, dataproc, settings

PROVIDER = "airflow.providers.google.cloud.operators.dataproc"
_JOB = "google.cloud.operators.dataproc.DataprocSubmitJobOperator"
_BATCH = "google.cloud.operators.dataproc.DataprocCreateBatchOperator"
_PLACE = {"project_id": PROJECT, "region": REGION, "gcp_conn_id": "service"}
_CONSOLE = "https://console.cloud.google.com/dataproc"
_JOB_PAGE = f"{_CONSOLE}/jobs/{{id}}?region={REGION}&project={PROJECT}"
_BATCH_PAGE = f"{_CONSOLE}/batches/{REGION}/{{id}}/monitoring?project={PROJECT}"
_LOAD = {"main_class": "org.example.Load", "jar_file_uris": ["gs://jobs/load.jar"]}
_COPY = "insert overwrite directory 's3://lake/{{ task.task_id }}' using parquet select * from parquet.`s3://lake/orders`"


@contextlib.contextmanager
def serve(driver: Callable[[Any], bool], folder: Path) -> Iterator[Service]:
    """Serve jobs and batches; `driver` acts as the driver of a job, and decides how it ends."""
    with dataproc(folder, driver) as server:
        yield Service(
            server.ids,
            server.port,
            {"service": connection(folder, server.port)},
            settings(folder, server.port),
        )


def _job(**job: Any) -> dict[str, Any]:
    """Return the arguments for a job, labelled with its task."""
    labels = {"task": "{{ task.task_id }}"}
    return {**_PLACE, "job": {"placement": {"cluster_name": "small"}, "labels": labels, **job}}


def _batch(task_id: str, **batch: Any) -> dict[str, Any]:
    labels = {"task": "{{ task.task_id }}"}
    return {**_PLACE, "batch_id": task_id.replace("_", "-"), "batch": {"labels": labels, **batch}}


ROWS = [
    copies(
        _JOB,
        _job(pyspark_job={"main_python_file_uri": f"file://{COPY}", "args": [*COPIES]}),
        f"file://{COPY}",
        link=_JOB_PAGE,
    ),
    Row(
        "statements",
        _JOB,
        {**_job(spark_sql_job={"query_list": {"queries": [_COPY]}}), "asynchronous": True},
        ({"type": "sql"},),
        link=_JOB_PAGE,
        at_start="orders -> statements",
        at_end="orders -> statements",
        gaps=(PLANNED,),
    ),
    Row(
        "recorded_deferred",
        _JOB,
        {
            **_job(spark_job={**_LOAD, "properties": records()}),
            "deferrable": True,
            "polling_interval_seconds": 1,
        },
        (jar(mainClass="org.example.Load"),),
        link=_JOB_PAGE,
        is_recorded=True,
    ),
    Row(
        "job_fails",
        _JOB,
        {**_job(spark_job={"main_jar_file_uri": "gs://jobs/fails.jar"}), "deferrable": True},
        (jar("gs://jobs/fails.jar"),),
        link=_JOB_PAGE,
        state="failed",
        gaps=(JAR_NOT_READ,),
    ),
    Row(
        "malformed",
        _JOB,
        {**_PLACE, "job": {"pyspark_job": "gs://jobs/load.py"}},
        state="failed",
        has_id=False,
        gaps=(BROKEN,),
        warnings=1,
    ),
    Row(
        "batch_recorded",
        _BATCH,
        _batch(
            "batch_recorded",
            spark_batch={"main_class": "org.example.Load", "args": ["{{ dag.dag_id }}"]},
            runtime_config={"properties": records()},
        ),
        (jar(mainClass="org.example.Load", arguments="services"),),
        link=_BATCH_PAGE,
        is_recorded=True,
    ),
    Row(
        "batch_deferred",
        _BATCH,
        {
            **_batch("batch_deferred", pyspark_batch={"main_python_file_uri": "gs://jobs/load.py"}),
            "deferrable": True,
            "polling_interval_seconds": 1,
        },
        (python("gs://jobs/load.py"),),
        link=_BATCH_PAGE,
        gaps=(NO_TEXT,),
    ),
    Row(
        "batch_fails",
        _BATCH,
        _batch("batch_fails", pyspark_batch={"main_python_file_uri": "gs://jobs/fails.py"}),
        (python("gs://jobs/fails.py"),),
        link=_BATCH_PAGE,
        state="failed",
        gaps=(NO_TEXT,),
    ),
    Row(
        "batch_unconnected",
        _BATCH,
        {**_batch("batch_unconnected", pyspark_batch={"main_python_file_uri": "gs://a.py"})}
        | {"gcp_conn_id": "nowhere"},
        (python("gs://a.py"),),
        state="failed",
        has_id=False,
        gaps=(NO_TEXT,),
    ),
]
