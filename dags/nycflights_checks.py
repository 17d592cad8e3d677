"""# Checks of a gold table

`delays_by_carrier` of `nycflights` is as it should be: the checks of its columns pass. Then a row that cannot
be right is planted in a copy, and a check of rows finds it. That task fails on purpose, and the run succeeds,
because its last task runs only after this failure. The results are in the events, at the dataset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pendulum
from airflow.sdk import dag, task
from nycflights_source import SPARK, layer

from airflow_provider_spark_lineage.operators.checks import SparkColumnCheckOperator, SparkTableCheckOperator

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GOLD, COPY = layer("gold", "delays_by_carrier"), layer("checked", "delays_by_carrier")


@task.pyspark_lineage(config_kwargs=SPARK)
def plant_an_error(spark: SparkSession) -> None:
    """Copy the table, with one flight of January that is late three times."""
    delays = spark.read.parquet(GOLD)
    wrong = delays.where("month = 1 AND carrier = 'AA'").selectExpr(
        *("month", "carrier", "airline", "1L AS flights", "mean_departure_delay", "mean_arrival_delay"),
        "3.0D AS late_share",
    )
    delays.unionByName(wrong).write.mode("overwrite").parquet(COPY)


@task(trigger_rule="all_failed")
def error_was_found() -> None:
    """Run only if the check before it failed: an error that nobody finds fails the DAG run."""


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def nycflights_checks() -> None:
    SparkColumnCheckOperator(
        task_id="columns_are_right",
        path=GOLD,
        format="parquet",
        config_kwargs=SPARK,
        column_mapping={
            "month": {"null_check": {"equal_to": 0}, "distinct_check": {"equal_to": 12}},
            "carrier": {"matches": "^[A-Z0-9]{2}$"},
            "late_share": {"min": {"geq_to": 0}, "max": {"leq_to": 1}},
        },
    )
    rows_are_right = SparkTableCheckOperator(
        task_id="rows_are_right",
        path=COPY,
        format="parquet",
        config_kwargs=SPARK,
        retries=0,
        checks={
            "late_share": {"check_statement": "late_share BETWEEN 0 AND 1"},
            "enough_flights": {"check_statement": "flights >= 10", "severity": "warn"},
            "whole_year": {"check_statement": "count(DISTINCT month) = 12"},
        },
    )
    plant_an_error() >> rows_are_right >> error_was_found()


nycflights_checks()
