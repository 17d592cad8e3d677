"""A job whose driver never starts: `spark-submit` on this PATH does nothing."""

from __future__ import annotations

import os

import pendulum
from airflow.sdk import dag

from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def planned() -> None:
    SparkSubmitLineageOperator(
        task_id="job",
        conn_id="machine",
        application=os.environ["PLANNED_APPLICATION"],
        application_args=["{{ task.task_id }}"],
    )


planned()
