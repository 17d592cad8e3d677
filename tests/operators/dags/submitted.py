"""A job of `spark-submit` with users' settings; `SUBMIT_OPERATOR` names the operator that runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pendulum
from airflow.sdk import dag

HOME = Path(os.environ["SUBMIT_HOME"])

if os.environ.get("SUBMIT_OPERATOR") == "airflow":
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator as Operator
else:
    from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator as Operator


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def submitted() -> None:
    job = {
        "conn_id": "cluster",
        "application": str(HOME / "app.py"),
        "conf": {"spark.ui.enabled": "false", "spark.executor.memory": "512m", "spark.cores.max": "1"},
        "py_files": str(HOME / "library.zip"),
        "verbose": False,
    }
    whole = Operator(task_id="whole", application_args=[str(HOME), "{{ task.task_id }}"], **job)
    parts = Operator.partial(task_id="parts", **job).expand(
        application_args=[[str(HOME), "part one"], [str(HOME), "part two"]]
    )
    whole >> parts >> Operator(task_id="killed", application_args=[str(HOME), "killed"], **job)


submitted()
