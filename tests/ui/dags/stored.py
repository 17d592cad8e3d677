"""Tasks of every kind whose lineage is stored for the viewer, and one that has none."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pendulum
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import dag, task

from airflow_provider_spark_lineage.operators.lineage_policy import LineagePolicyOperator

HOME = Path(os.environ["STORED_HOME"])
ORDERS = str(HOME / "orders")
SPARK = {"spark.ui.enabled": "false", "spark.master": "local[1]"}
LINEAGE = {"conn_id": "machine", "config_kwargs": SPARK}


@task.pyspark_lineage(**LINEAGE)
def orders(spark: Any) -> None:
    """Write what the other tasks read."""
    frame = spark.createDataFrame([(1, 2.5), (2, 3.5)], "customer int, amount double")
    frame.write.mode("overwrite").parquet(ORDERS)


@task.pyspark_lineage(**LINEAGE)
def own(spark: Any) -> None:
    """A task of this package's operator."""
    rows = spark.read.parquet(ORDERS).where("customer > 1").selectExpr("amount * 2 as twice")
    rows.write.mode("overwrite").parquet(str(HOME / "own"))


def copy() -> None:
    """A function that opens its own session."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    session.read.parquet(ORDERS).write.mode("overwrite").parquet(str(HOME / "captured"))
    session.stop()


@task.pyspark_lineage(**LINEAGE)
def fails(spark: Any) -> None:
    """Reads, and fails before it writes."""
    spark.read.parquet(ORDERS).selectExpr("raise_error('no <b>luck</b>')").collect()


@task.pyspark_lineage(retries=1, retry_delay=timedelta(0), **LINEAGE)
def retried(spark: Any, ti: Any = None) -> None:
    """Reads one column in its first try, which fails, and another one in its second."""
    column = "customer" if ti.try_number == 1 else "amount"
    spark.read.parquet(ORDERS).select(column).write.mode("overwrite").parquet(str(HOME / "retried"))
    if ti.try_number == 1:
        msg = "The first try fails on purpose"
        raise RuntimeError(msg)


@task.pyspark_lineage(map_index_template="customer {{ task.op_kwargs['number'] }}", **LINEAGE)
def mapped(number: int, spark: Any) -> None:
    """One instance for each number."""
    rows = spark.read.parquet(ORDERS).where(f"customer = {number}")
    rows.write.mode("overwrite").parquet(str(HOME / f"mapped_{number}"))


@task
def plain() -> int:
    """Does nothing on Spark."""
    return 1


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1), catchup=False)
def stored() -> None:
    """Each task has an XCom `spark_lineage` but `plain` and the gates."""
    first, copied, instances, nothing = orders(), own(), mapped.expand(number=[1, 2]), plain()
    captured = PythonOperator(task_id="captured", python_callable=copy)
    first >> [copied, captured, fails(), retried(), instances, nothing]
    for severity in ("warn", "error"):
        gate = LineagePolicyOperator(task_id=f"gate_{severity}", policy="policy.yaml", severity=severity)
        [copied, instances, nothing] >> gate


DAG = stored()
