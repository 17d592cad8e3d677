"""Tasks that write with Spark, and DAGs that are scheduled on their datasets."""

from __future__ import annotations

import os
from pathlib import Path

import pendulum
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.common.compat.lineage.hook import get_hook_lineage_collector
from airflow.sdk import Asset, AssetAlias, chain, dag, task

HOME = Path(os.environ["FOLLOWED_HOME"])
SPARK = {"conn_id": "machine", "config_kwargs": {"spark.ui.enabled": "false"}}
FIRST = {"schedule": None, "start_date": pendulum.datetime(2026, 1, 1, tz="UTC"), "catchup": False}


def uri(name: str) -> str:
    return f"file://{HOME}/{name}"


def write(spark, name: str = "") -> None:
    spark.range(3).write.mode("overwrite").parquet(str(HOME / name))


class Tidy(PySparkOperator):
    """An operator of a company with something to do after each task."""

    def post_execute(self, context, result=None):
        (HOME / "tidied").touch()


@dag(**FIRST)
def followed() -> None:
    @task.pyspark_lineage(**SPARK)
    def ours(spark) -> None:
        write(spark, "ours")
        write(spark, "known by name")

    @task.pyspark_lineage(
        **SPARK,
        inlets=[Asset("file:///rates")],
        outlets=[Asset("declared", uri("declared")), Asset("unseen", uri("unseen")), AssetAlias("theirs")],
    )
    def declares(spark, outlet_events=None) -> None:
        get_hook_lineage_collector().add_input_asset(object(), uri="file:///hooked")
        write(spark, "declared")
        outlet_events[AssetAlias("theirs")].add(Asset(uri("resolved")))

    @task
    def function() -> None:
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        write(spark, "function")
        spark.stop()

    @task.pyspark_lineage(**SPARK)
    def fails(spark) -> None:
        write(spark, "failed")
        raise ValueError("after its write")

    @task(trigger_rule="all_done")
    def reads() -> None:
        """Neither reads nor writes with Spark."""

    unmodified = PySparkOperator(
        task_id="unmodified", python_callable=write, op_kwargs={"name": "unmodified"}, **SPARK
    )
    tidy = Tidy(task_id="tidy", python_callable=write, op_kwargs={"name": "tidy"}, **SPARK)
    chain(ours(), declares(), function(), unmodified, tidy, fails(), reads())


def follower(name: str, schedule) -> None:
    @dag(dag_id=name, **{**FIRST, "schedule": schedule})
    def follows() -> None:
        @task
        def nothing() -> None: ...

        nothing()

    follows()


followed()
follower("by_uri", [Asset(uri("ours"))])
follower("by_name", [Asset("known", uri("known by name"))])
follower("by_alias", [AssetAlias("followed.tidy")])
follower("by_failed", [Asset(uri("failed"))])
