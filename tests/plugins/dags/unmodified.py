"""Every way to run Spark with Airflow's own operators, and not a line about lineage."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

import pendulum
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.standard.operators.python import BranchPythonOperator, PythonOperator
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.sdk import TaskGroup, chain, dag, task
from company import CopyOperator, DeferringOperator, NightlyOperator, ReportingOperator, copy

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


@task(retries=1, retry_delay=timedelta(0))
def retries(ti) -> None:
    copy(ORDERS, str(HOME / f"retries_{ti.try_number}"), "retries")
    if ti.try_number == 1:
        raise ValueError("at first")


@task
def grouped() -> None:
    copy(ORDERS, str(HOME / "grouped"), "grouped")


def sensor() -> bool:
    copy(ORDERS, str(HOME / "sensor"), "sensor")
    return True


@task.sensor(mode="reschedule", poke_interval=0)
def looks_again() -> bool:
    """See something when it looks for the second time, from another process."""
    is_second = (HOME / "looks_again_1").exists()
    copy(ORDERS, str(HOME / f"looks_again_{2 if is_second else 1}"), "looks_again")
    return is_second


@task.short_circuit
def goes_on() -> bool:
    copy(ORDERS, str(HOME / "goes_on"), "goes_on")
    return True


@task.branch
def chooses() -> str:
    copy(ORDERS, str(HOME / "chooses"), "chooses")
    return "branches"


def branches() -> str:
    copy(ORDERS, str(HOME / "branches"), "branches")
    return "external"


@task
def not_chosen() -> None:
    copy(ORDERS, str(HOME / "not_chosen"), "not_chosen")


@task.external_python(python=sys.executable)
def external(source: str, target: str) -> None:
    """In a Python of its own."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.read.parquet(source).write.parquet(target)
    spark.stop()


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
    with TaskGroup("group") as group:
        grouped()
    chosen = chooses()
    branched = BranchPythonOperator(task_id="branches", python_callable=branches)
    [chosen, branched] >> not_chosen()
    chain(
        PySparkOperator(task_id="session", python_callable=session, **own),
        NightlyOperator(task_id="nightly", python_callable=nightly, **own),
        decorated(),
        PythonOperator(task_id="function", python_callable=function),
        mapped.expand(number=[1, 2]),
        plain(),
        looks(),
        retries(),
        group,
        PythonSensor(task_id="sensor", python_callable=sensor),
        looks_again(),
        goes_on(),
        DeferringOperator(task_id="defers", source=ORDERS, target=str(HOME)),
        chosen,
        branched,
        external(ORDERS, str(HOME / "external")),
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
