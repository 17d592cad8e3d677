"""Checks of a table by each operator: situations with known results."""

from __future__ import annotations

import os

import pendulum
from airflow.sdk import dag, task

from airflow_provider_spark_lineage.operators.checks import (
    SparkCheckOperator,
    SparkColumnCheckOperator,
    SparkIntervalCheckOperator,
    SparkTableCheckOperator,
    SparkThresholdCheckOperator,
    SparkValueCheckOperator,
)
from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator

HOME = os.environ["CHECKS_HOME"]
CONNECTION = os.environ.get("CHECKS_CONNECTION")
CONFIG = {} if CONNECTION else {"spark.sql.warehouse.dir": f"{HOME}/warehouse"}
CONFIG |= {"spark.sql.ansi.enabled": "true"}  # As of Spark 4.0.
FIRST, LITERAL = "A", "planted-literal"
SESSION = {"conn_id": CONNECTION, "config_kwargs": CONFIG}


def make(spark):
    rows = spark.createDataFrame([(1, "Ann"), (2, "Bob"), (2, "Cid"), (None, "Dan")], "id int, name string")
    rows.coalesce(1).write.parquet(f"{HOME}/people")
    rows.where("false").coalesce(1).write.parquet(f"{HOME}/empty")
    numbers = "a int, b int, ds date"
    days = [(-30, 0, "2026-01-08"), (1, 0, "2026-01-08"), (2, 0, "2026-01-01")]
    ratios = [(0.5,), (float("nan"),)]
    spark.createDataFrame(ratios, "r double").coalesce(1).write.parquet(f"{HOME}/ratios")
    spark.createDataFrame(days, "a int, b int, ds string").selectExpr("a", "b", "cast(ds as date) as ds").to(
        spark.createDataFrame([], numbers).schema
    ).coalesce(1).write.parquet(f"{HOME}/numbers")


def columns(task_id, mapping, source="people", **arguments):
    return SparkColumnCheckOperator(
        task_id=task_id,
        path=f"{HOME}/{source}",
        format="parquet",
        column_mapping=mapping,
        **SESSION,
        **arguments,
    )


def rows(task_id, checks, source="people", **arguments):
    return SparkTableCheckOperator(
        task_id=task_id, path=f"{HOME}/{source}", format="parquet", checks=checks, **SESSION, **arguments
    )


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def checks() -> None:
    zero = {"equal_to": 0}

    @task.spark_check(
        column_mapping={
            "id": {"max": {"leq_to": 1}},
            "current_timestamp()": {"freshness": {"within": "24 hours", "severity": "warn"}},
        },
        checks={"many": "count(*) > 1"},
        **SESSION,
    )
    def frames(spark):
        people = spark.read.parquet(f"{HOME}/people")
        return {"all": people, "first": people.where("id = 1")}

    numbers = f"parquet.`{HOME}/numbers`"
    from_numbers = f"FROM {numbers}"
    from_ratios = f"FROM parquet.`{HOME}/ratios`"
    from_people = f"FROM parquet.`{HOME}/people`"
    made = PySparkLineageOperator(task_id="make", python_callable=make, **SESSION)
    made >> [
        frames(),
        columns(
            "keys",
            {"id": {"null_check": zero, "unique_check": zero, "min": {"geq_to": 1}, "max": {"leq_to": 2}}},
        ),
        columns("range", {"id": {"min": {"geq_to": 2}, "max": {"leq_to": 3}}}),
        columns("tolerance", {"a": {"min": {"equal_to": -30, "tolerance": 0.1}}}, "numbers"),
        columns("no_column", {"id": {"max": {"leq_to": 2}}, "age": {"min": {"geq_to": 0}}}, severity="warn"),
        columns("text", {"name": {"min": {"geq_to": "A"}, "matches": "[A-C].*"}}),
        columns(
            "samples",
            {
                "name": {
                    "accepted_values": [LITERAL],
                    "matches": f"^{LITERAL}",
                    "null_check": {**zero, "partition_clause": f"name <> '{LITERAL}' OR id IS NULL"},
                    "max": {"leq_to": LITERAL},
                }
            },
            partition_clause=f"name <> '{LITERAL}'",
            samples=2,
        ),
        rows(
            "row_samples",
            {
                "like": {"check_statement": f"name LIKE '{LITERAL}%'"},
                "cast": {"check_statement": "CAST(name AS INT) > 0"},
                "top": {"check_statement": f"max(name) <> '{LITERAL}'"},
            },
            samples=2,
        ),
        columns("warned", {"id": {"min": {"geq_to": 2, "severity": "warn"}, "max": {"leq_to": 2}}}),
        columns("empty", {"id": {"null_check": zero, "max": {"leq_to": 5}}}, "empty"),
        rows("empty_rows", {"positive": {"check_statement": "id > 0"}}, "empty"),
        rows("null_row", {"positive": {"check_statement": "id > 0"}}),
        rows(
            "zero_division",
            {
                "many": {"check_statement": "count(*) = 3"},
                "ratio": {"check_statement": "sum(a) / sum(b) > 1"},
            },
            "numbers",
        ),
        columns(
            "fresh",
            {"ds": {"freshness": "24 hours"}, "current_timestamp()": {"freshness": "1 day"}},
            "numbers",
        ),
        columns("shares", {"a": {"accepted_values": [1, 2], "at_least": 0.6}}, "numbers"),
        rows(
            "named",
            {
                "most": {"check_statement": "id > 1", "at_least": 0.5},
                "key": {"unique": ["id", "name"]},
                "again": {"unique": ["id"]},
                "gone": {"check_statement": "age > 1", "if_absent": "skip"},
            },
        ),
        rows("shape", {"shape": {"columns": {"id": "int", "name": "date", "age": "int"}}}),
        rows("escape", {"union": {"check_statement": "1=1 UNION SELECT 5"}}),
        rows(
            "clauses",
            {"low": {"check_statement": "min(a) = 1", "partition_clause": "a = 1 OR a = 3"}},
            "numbers",
            partition_clause="a = 1 OR a = 2",
        ),
        SparkTableCheckOperator(
            task_id="no_table",
            table="nowhere",
            checks={"many": {"check_statement": "count(*) > 1"}},
            **SESSION,
        ),
        SparkCheckOperator(task_id="sql", sql="SELECT count(*), max(a) " + from_numbers, **SESSION),
        SparkValueCheckOperator(
            task_id="name",
            sql="SELECT min(name) " + from_people,
            pass_value=FIRST,
            **SESSION,
        ),
        SparkValueCheckOperator(
            task_id="value",
            sql="SELECT count(*) " + from_numbers,
            pass_value=4,
            severity="warn",
            **SESSION,
        ),
        SparkThresholdCheckOperator(
            task_id="threshold",
            sql="SELECT max(a) " + from_numbers,
            min_threshold=5,
            max_threshold=9,
            **SESSION,
        ),
        SparkThresholdCheckOperator(
            task_id="null_threshold",
            sql="SELECT max(a) " + from_numbers + " WHERE a > 99",
            min_threshold=5,
            max_threshold="SELECT 9",
            **SESSION,
        ),
        SparkThresholdCheckOperator(
            task_id="null_limit",
            sql="SELECT max(a) " + from_numbers,
            min_threshold="SELECT CAST(NULL AS INT)",
            max_threshold=9,
            severity="warn",
            **SESSION,
        ),
        SparkIntervalCheckOperator(
            task_id="null_interval",
            table=numbers,
            metrics_thresholds={"COUNT(*)": 3, "MAX(nullif(a, 2))": 4},
            severity="warn",
            **SESSION,
        ),
        columns("not_a_number", {"r": {"max": {"leq_to": 1}, "min": {"geq_to": 0}}}, "ratios"),
        SparkThresholdCheckOperator(
            task_id="nan_threshold",
            sql="SELECT max(r) " + from_ratios,
            min_threshold=0,
            max_threshold=1,
            severity="warn",
            **SESSION,
        ),
        SparkIntervalCheckOperator(
            task_id="interval", table=numbers, metrics_thresholds={"COUNT(*)": 3}, **SESSION
        ),
    ]


checks()
