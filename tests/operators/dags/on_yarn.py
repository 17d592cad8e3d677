"""One application on YARN: its driver on the worker, on the cluster, and on the cluster where it fails."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path

import pendulum
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import chain, dag

from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator

HOME = Path(os.environ["YARN_HOME"])


def submitted(task_id: str, place: str) -> SparkSubmitLineageOperator:
    """Return a task whose Hadoop is configured for it alone; `place` is where its driver runs."""
    how = {
        "worker": {"conn_id": "worker"},
        "cluster": {"conn_id": "yarn", "deploy_mode": "cluster", "durable": False},
    }[place]
    # Older providers do not know it.
    if "durable" not in inspect.signature(SparkSubmitOperator.__init__).parameters:
        how.pop("durable", None)
    return SparkSubmitLineageOperator(
        task_id=task_id,
        application=str(HOME / "app.py"),
        application_args=["/data", task_id],
        py_files=str(HOME / "library.zip"),
        conf=json.loads(os.environ["YARN_CONF"]),
        env_vars={"HADOOP_CONF_DIR": os.environ["YARN_CONF_DIR_OF_TASK"], "SPARK_LOCAL_IP": "127.0.0.1"},
        driver_memory="512m",
        executor_memory="512m",
        num_executors=1,
        verbose=False,
        **how,
    )


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def on_yarn() -> None:
    tasks = [submitted(name, place) for name, place in json.loads(os.environ["YARN_TASKS"]).items()]
    chain(*tasks)


on_yarn()
