"""A pipeline on a Spark Connect server whose client never asks it: the module on this path does nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pendulum
from airflow.sdk import dag

from airflow_provider_spark_lineage.operators.spark_pipelines import SparkPipelinesLineageOperator

HOME = Path(os.environ["PIPELINES_HOME"])


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def pipelines_on_server() -> None:
    pipeline = {
        "pipeline_spec": str(HOME / "shop.yml"),
        "conn_id": "server",
        "env_vars": {"PYTHONPATH": os.environ["PIPELINES_CLIENT"]},
    }
    run = SparkPipelinesLineageOperator(task_id="run", **pipeline)
    run >> SparkPipelinesLineageOperator(task_id="check", pipeline_command="dry-run", **pipeline)


pipelines_on_server()
