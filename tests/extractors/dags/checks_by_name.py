"""A Spark job writes files and a table of PostgreSQL; three kinds of operators check what it wrote."""

from __future__ import annotations

import os

import pendulum
from airflow.providers.common.sql.operators.sql import SQLColumnCheckOperator
from airflow.sdk import dag, task

from airflow_provider_spark_lineage.operators.checks import SparkColumnCheckOperator

FILES, URL, JAR = (os.environ[f"CHECKS_{name}"] for name in ("FILES", "URL", "JAR"))
CHECKS = {
    "id": {"null_check": {"equal_to": 0}, "unique_check": {"equal_to": 0}},
    "amount": {"min": {"geq_to": 0}, "max": {"leq_to": 15}},
}


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def checks_by_name() -> None:
    @task.pyspark_lineage(config_kwargs={"spark.jars": JAR})
    def writes(spark):
        orders = spark.createDataFrame([(1, 10), (2, 20)], "id int, amount int").coalesce(1)
        orders.write.mode("overwrite").parquet(FILES)
        orders.write.jdbc(URL, "public.orders", properties={"driver": "org.postgresql.Driver"})

    given = {"column_mapping": CHECKS, "retries": 0}
    checks = [
        SparkColumnCheckOperator(task_id="ours", path=FILES, format="parquet", **given),
        SQLColumnCheckOperator(task_id="thrift", conn_id="server", table="shop.orders", **given),
        SQLColumnCheckOperator(task_id="postgres", conn_id="database", table="public.orders", **given),
    ]
    writes() >> checks


checks_by_name()
