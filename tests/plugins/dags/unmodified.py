"""Every way to run Spark with Airflow's own operators, and not a line about lineage."""

from __future__ import annotations

import os
from pathlib import Path

import pendulum
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import chain, dag, task
from company import CopyOperator, NightlyOperator, ReportingOperator, copy

HOME = Path(os.environ["UNMODIFIED_HOME"])
ORDERS = str(HOME / "orders")
COPY = """insert overwrite directory 'file:{target}' using parquet
    select amount as sql from parquet.`file:{source}`"""
SPARK = {"spark.ui.enabled": "false"}


def session(spark) -> None:
    orders = spark.createDataFrame([(1, 2.5)], "customer int, amount double")
    orders.write.mode("overwrite").parquet(ORDERS)
    spark.read.parquet(ORDERS).select("customer").write.parquet(str(HOME / "session"))


def nightly(spark) -> None:
    spark.read.parquet(ORDERS).select("amount").write.parquet(str(HOME / "nightly"))


@task.pyspark(conn_id="machine", config_kwargs=SPARK)
def decorated(spark) -> None:
    spark.read.parquet(ORDERS).selectExpr("amount * 2 as twice").write.parquet(str(HOME / "decorated"))


def function() -> None:
    copy(ORDERS, str(HOME / "function"), "function")


@task
def mapped(number: int) -> None:
    copy(ORDERS, str(HOME / f"mapped_{number}"), "mapped")


@task
def plain() -> int:
    return sum(range(10))


@task
def looks() -> str:
    """Import pyspark, and open no session."""
    import pyspark.sql

    return pyspark.__version__


@task
def left_out() -> None:
    copy(ORDERS, str(HOME / "left_out"), "left_out")


@task
def fails() -> None:
    copy(ORDERS, str(HOME / "fails"), "fails")
    raise ValueError("after all")


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def unmodified() -> None:
    own = {"conn_id": "machine", "config_kwargs": SPARK}
    chain(
        PySparkOperator(task_id="session", python_callable=session, **own),
        NightlyOperator(task_id="nightly", python_callable=nightly, **own),
        decorated(),
        PythonOperator(task_id="function", python_callable=function),
        mapped.expand(number=[1, 2]),
        plain(),
        looks(),
        CopyOperator(task_id="copies", source=ORDERS, target=str(HOME / "copies")),
        ReportingOperator(task_id="reports", source=ORDERS, target=str(HOME / "reports")),
        left_out(),
        SparkSubmitOperator(
            task_id="submit",
            conn_id="machine",
            application=str(HOME / "job.py"),
            application_args=[ORDERS, str(HOME / "submit")],
            conf=SPARK,
        ),
        SparkSqlOperator(
            task_id="sql",
            conn_id="machine",
            sql=COPY.format(target=HOME / "sql", source=ORDERS),
            conf={
                **SPARK,
                "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:{HOME}/metastore;create=true",
                "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={HOME}/derby.log",
            },
            verbose=False,
        ),
        fails(),
    )


unmodified()
