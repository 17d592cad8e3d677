"""Drop-in replacement of Airflow's `SparkSubmitOperator` that reports lineage.

The job runs as with Airflow's operator. An agent is added to it, which records what Spark does in the driver.
"""

from __future__ import annotations

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

from airflow_provider_spark_lineage.airflow.task.reporting import ReportsLineage


class SparkSubmitLineageOperator(ReportsLineage, SparkSubmitOperator):
    """Airflow's `SparkSubmitOperator` whose OpenLineage events have the lineage of the application.

    Takes the arguments of `airflow.providers.apache.spark.operators.spark_submit.SparkSubmitOperator`. In
    cluster mode the driver is on another machine: set `[spark_lineage] records` to a URI that both can use.

    >>> SparkSubmitLineageOperator(task_id="load", application="load.py", conn_id="spark")  # doctest: +SKIP
    """
