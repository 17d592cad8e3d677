"""Jobs whose drivers never start: the commands of Spark on this PATH write down how they were called."""

from __future__ import annotations

import os

import pendulum
from airflow.providers.apache.spark.operators.spark_jdbc import SparkJDBCOperator
from airflow.providers.apache.spark.operators.spark_pipelines import SparkPipelinesOperator
from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import chain, dag
from company import HooklessOperator, HookOperator, NightlySubmitOperator, OwnHookOperator

HOME = os.environ["JOBS_HOME"]


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def jobs() -> None:
    application = {"conn_id": "machine", "application": f"{HOME}/job.py"}
    copy = "insert overwrite directory 's3://lake/sql' using parquet select * from parquet.`s3://lake/orders`"
    chain(
        SparkSubmitOperator(task_id="submit", **application),
        NightlySubmitOperator(task_id="nightly", **application),
        OwnHookOperator(task_id="own_hook", **application),
        SparkJDBCOperator(
            task_id="jdbc",
            spark_conn_id="machine",
            jdbc_conn_id="shop",
            cmd_type="spark_to_jdbc",
            metastore_table="orders",
            jdbc_table="orders",
        ),
        SparkSqlOperator(task_id="sql", conn_id="machine", sql=copy),
        SparkPipelinesOperator(task_id="pipeline", conn_id="machine", pipeline_spec=f"{HOME}/shop.yml"),
        HookOperator(task_id="hook", application=f"{HOME}/job.py"),
        HooklessOperator(task_id="hookless"),
    )


jobs()
