"""Tasks whose events come while they run: executions, and OTHER on a request to stop."""

from __future__ import annotations

import os
from pathlib import Path

from airflow.sdk import DAG

from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator

HOME = Path(os.environ["INTERIM_HOME"])


def work(spark, number=None, ti=None):
    """Write, and go on after SIGTERM has called `on_kill`."""
    spark.range(3).write.csv(f"{HOME}/{number}")
    ti.task.on_kill()


with DAG(
    "interim", schedule=None, tags=["daily"], default_args={"owner": "shop"}, doc_md="What the DAG does"
):
    arguments = {"python_callable": work, "conn_id": "machine"}
    PySparkLineageOperator(
        task_id="plain", doc_md="What the task does", op_kwargs={"number": 0}, **arguments
    ) >> PySparkLineageOperator.partial(task_id="mapped", **arguments).expand(op_kwargs=[{"number": 1}])
