"""All check operators, with each kind of argument: Airflow's, or by another import line those on Spark."""

from __future__ import annotations

import os

import pendulum
from airflow.sdk import dag

if os.environ["CHECKS_ON"] == "spark":
    from airflow_provider_spark_lineage.operators.checks import (
        SparkCheckOperator as SQLCheckOperator,
    )
    from airflow_provider_spark_lineage.operators.checks import (
        SparkColumnCheckOperator as SQLColumnCheckOperator,
    )
    from airflow_provider_spark_lineage.operators.checks import (
        SparkIntervalCheckOperator as SQLIntervalCheckOperator,
    )
    from airflow_provider_spark_lineage.operators.checks import (
        SparkTableCheckOperator as SQLTableCheckOperator,
    )
    from airflow_provider_spark_lineage.operators.checks import (
        SparkThresholdCheckOperator as SQLThresholdCheckOperator,
    )
    from airflow_provider_spark_lineage.operators.checks import (
        SparkValueCheckOperator as SQLValueCheckOperator,
    )
else:
    from airflow.providers.common.sql.operators.sql import (
        SQLCheckOperator,
        SQLColumnCheckOperator,
        SQLIntervalCheckOperator,
        SQLTableCheckOperator,
        SQLThresholdCheckOperator,
        SQLValueCheckOperator,
    )

TABLE, EXPECTED = "orders", "25"
# Arguments that only some operators know, as they stand in the default arguments of many DAGs.
DEFAULTS = {"conn_id": "shop", "conn_type": "Postgres", "host": "shop", "schema": "public", "port": 5432}


@dag(
    schedule=None,
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    default_args=DEFAULTS,
)
def moved_checks() -> None:
    exact = {"equal_to": 0, "tolerance": 0}
    columns_pass = SQLColumnCheckOperator(
        task_id="columns_pass",
        table=TABLE,
        column_mapping={
            "id": {
                "null_check": dict(exact),
                "distinct_check": {"equal_to": 24},
                "unique_check": {"equal_to": 0},
            },
            "amount": {"min": {"geq_to": 10, "less_than": 11}, "max": {"equal_to": 28, "tolerance": 0.1}},
        },
    )
    columns_fail = SQLColumnCheckOperator(
        task_id="columns_fail",
        table=TABLE,
        partition_clause="amount < 20",
        column_mapping={
            "id": {"null_check": {"equal_to": 0}, "min": {"greater_than": 1}},
            "coupon": {
                "null_check": {"equal_to": 0},
                "unique_check": {"leq_to": 1},
                "distinct_check": {"geq_to": 1, "leq_to": 2, "partition_clause": "id > 2"},
            },
            "amount": {"max": {"less_than": 10}},
        },
    )
    rows_pass = SQLTableCheckOperator(
        task_id="rows_pass",
        table=TABLE,
        checks={
            "row_count_check": {"check_statement": "COUNT(*) = 24"},
            "sum_check": {"check_statement": "SUM(amount) > SUM(id)", "partition_clause": "id <= 4"},
        },
    )
    SQLTableCheckOperator(
        task_id="rows_fail",
        table=TABLE,
        partition_clause="id > 2",
        checks={
            "too_many": {"check_statement": "COUNT(*) > 1000"},
            "some": {"check_statement": "MAX(amount) = 30"},
            "none": {"check_statement": "MIN(id) = 1", "partition_clause": "id < 5"},
        },
        retry_on_failure=False,
    )
    SQLCheckOperator(task_id="all_pass", sql="SELECT COUNT(*), MAX(amount) FROM orders")
    SQLCheckOperator(task_id="all_fail", sql="SELECT COUNT(*), MIN(id) - 1 FROM orders")
    SQLCheckOperator(task_id="no_rows", sql="SELECT id FROM orders WHERE id < 0")
    SQLValueCheckOperator(
        task_id="value_passes", sql="SELECT COUNT(*) FROM orders", pass_value=25, tolerance=0.1
    )
    SQLValueCheckOperator(task_id="value_fails", sql="SELECT COUNT(*) FROM orders", pass_value=EXPECTED)
    SQLThresholdCheckOperator(
        task_id="threshold_passes",
        sql="SELECT MAX(amount) FROM orders",
        min_threshold=1,
        max_threshold="SELECT 2 * MAX(amount) FROM orders",
    )
    SQLThresholdCheckOperator(
        task_id="threshold_fails",
        sql="SELECT MAX(amount) FROM orders",
        min_threshold=0.5,
        max_threshold="20",
    )
    SQLIntervalCheckOperator(
        task_id="interval_passes",
        table=TABLE,
        date_filter_column="day",
        metrics_thresholds={"COUNT(*)": 1.5, "MAX(amount)": 4},
    )
    SQLIntervalCheckOperator(
        task_id="interval_fails",
        table=TABLE,
        date_filter_column="day",
        days_back=-7,
        metrics_thresholds={"COUNT(*)": 1.5, "MAX(amount)": 2, "MIN(amount)": 1.5},
        ratio_formula="relative_diff",
        ignore_zero=False,
    )
    columns_pass >> rows_pass
    columns_fail >> SQLCheckOperator(task_id="never", sql="SELECT 1")


moved_checks()
