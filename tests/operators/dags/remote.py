"""Tasks whose session is one of Spark Connect, by a connection of that kind."""

from __future__ import annotations

import os

import pendulum
from airflow.sdk import dag, task

from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator

HOME = os.environ["REMOTE_HOME"]


def make(spark):
    spark.range(10).selectExpr("id % 3 AS customer", "id AS amount").write.parquet(f"{HOME}/orders")


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def remote() -> None:
    made = PySparkLineageOperator(task_id="make", python_callable=make, conn_id="server")

    @task.pyspark_lineage(conn_id="server")
    def totals(spark):
        spark.read.parquet(f"{HOME}/orders").createOrReplaceTempView("orders")
        spark.sql("SELECT customer, sum(amount) AS total FROM orders GROUP BY customer").write.saveAsTable(
            "totals"
        )

    @task.pyspark_lineage(conn_id="server")
    def fails(spark):
        spark.table("totals").write.parquet(f"{HOME}/kept")
        spark.sql("SELECT raise_error('no more') AS x").collect()

    made >> totals() >> fails()


remote()
