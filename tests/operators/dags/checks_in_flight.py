"""Tasks that check the frames that they write."""

from __future__ import annotations

import os

import pendulum
from airflow.sdk import dag, task

from airflow_provider_spark_lineage.checks import check
from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator

HOME = os.environ["CHECKS_HOME"]
ZERO = {"equal_to": 0}


def passes(spark):
    people = spark.createDataFrame([(1, "Ann"), (2, "Bob"), (2, "Cid")], "id int, name string")
    columns = {"id": {"null_check": ZERO, "max": {"leq_to": 2}}, "name": {"min": {"geq_to": "A"}}}
    rules = {"first": {"check_statement": "id = 1", "severity": "warn"}}
    check(people, columns=columns, rows=rules).write.parquet(f"{HOME}/people")
    check(people, rows={"rich": "id > 1"}, name="split", broken_to=f"{HOME}/broken").write.parquet(
        f"{HOME}/rich"
    )
    check(people, columns={"id": {"null_check": ZERO}}, name="again").write.mode("append").parquet(
        f"{HOME}/log"
    )


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def checks_in_flight() -> None:
    @task.pyspark_lineage
    def fails(spark):
        frame = check(
            spark.read.parquet(f"{HOME}/people"),
            columns={"name": {"max": {"leq_to": "Bob"}}},
            rows={"low": "id < 2", "even": {"check_statement": "id % 2 = 0", "severity": "warn"}},
        )
        frame.write.parquet(f"{HOME}/copy")

    PySparkLineageOperator(task_id="passes", python_callable=passes) >> fails()


checks_in_flight()
