"""A batch of Livy."""

from __future__ import annotations

import os

import pendulum
from airflow.providers.apache.livy.operators.livy import LivyOperator
from airflow.sdk import dag

RECORDS = os.environ.get("BATCHES_RECORDS", "")


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def batches() -> None:
    recorded = LivyOperator(
        task_id="recorded",
        file="s3://jobs/orders.py",
        args=["--day", "{{ ds or '' }}", "--password", "hunter2"],
        conf={"spark.lineage.records": f"{RECORDS}/{{{{ task.task_id }}}}/{{{{ run_id }}}}"},
        polling_interval=1,
        livy_conn_id="server",
    )
    fails = LivyOperator(
        task_id="fails",
        file="s3://jobs/fails.jar",
        class_name="org.example.Fails",
        polling_interval=1,
        livy_conn_id="server",
    )
    recorded >> fails


batches()
