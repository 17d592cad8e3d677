"""# One table of the pipeline, made by an application that `spark-submit` runs

`SparkSubmitLineageOperator` is Airflow's `SparkSubmitOperator`: the connection says where Spark runs, and the
events have the inputs and outputs of the application. It reads the tables of `nycflights`.
"""

from __future__ import annotations

import nycflights_steps as steps
import pendulum
from airflow.sdk import dag
from nycflights_source import SPARK

from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def nycflights_report() -> None:
    SparkSubmitLineageOperator(
        task_id="delays_by_carrier",
        application=steps.__file__,
        application_args=["gold_delays_by_carrier"],
        conn_id="spark_cluster",
        conf=SPARK,
    )


nycflights_report()
