"""An application on YARN whose driver is on the cluster, and fails."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pendulum
from airflow.sdk import dag

from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator

HOME = Path(os.environ["YARN_HOME"])


@dag(
    schedule=None,
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    # Older providers, which do not know it, ignore it here.
    default_args={"durable": False},
)
def on_yarn() -> None:
    SparkSubmitLineageOperator(
        task_id="fails",
        application=str(HOME / "app.py"),
        py_files=str(HOME / "library.zip"),
        conn_id="yarn",
        deploy_mode="cluster",
        # Hadoop and Spark are configured for this task alone.
        env_vars=json.loads(os.environ["YARN_VARIABLES"]),
        conf={"spark.sql.shuffle.partitions": "1"},
    )


on_yarn()
