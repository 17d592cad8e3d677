"""Drop-in replacement of Airflow's `SparkSqlOperator` that reports lineage."""

from __future__ import annotations

from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator

from airflow_provider_spark_lineage.airflow.task.reporting import ReportsLineage


class SparkSqlLineageOperator(ReportsLineage, SparkSqlOperator):
    """Airflow's `SparkSqlOperator` whose OpenLineage events say what each statement read and wrote.

    Takes the arguments of `airflow.providers.apache.spark.operators.spark_sql.SparkSqlOperator`.

    >>> SparkSqlLineageOperator(task_id="totals", sql="totals.sql", conn_id="spark_sql")  # doctest: +SKIP
    """
