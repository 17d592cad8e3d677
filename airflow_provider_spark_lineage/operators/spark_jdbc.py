"""Drop-in replacement of Airflow's `SparkJDBCOperator` that reports lineage."""

from __future__ import annotations

from airflow.providers.apache.spark.operators.spark_jdbc import SparkJDBCOperator

from airflow_provider_spark_lineage.operators.reporting import ReportsLineage


class SparkJDBCLineageOperator(ReportsLineage, SparkJDBCOperator):
    """Airflow's `SparkJDBCOperator` whose OpenLineage events name both tables and the copied columns.

    Takes the arguments of `airflow.providers.apache.spark.operators.spark_jdbc.SparkJDBCOperator`.

    >>> SparkJDBCLineageOperator(  # doctest: +SKIP
    ...     task_id="export", cmd_type="spark_to_jdbc", metastore_table="totals", jdbc_table="public.totals"
    ... )
    """
