"""# The same pipeline, each step submitted to Spark as an application of its own

`SparkSubmitLineageOperator` is Airflow's `SparkSubmitOperator`; the connection says where Spark runs. The
datasets and the lineage of columns match `nycflights`, where the same steps run inside the task.
"""

from __future__ import annotations

import nycflights_source as source
import nycflights_steps as steps
import pendulum
from airflow.sdk import dag, task

from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator

CONF = {name: value for name, value in source.SPARK.items() if name != "spark.master"}


def submitted(step: str, *arguments: str, task_id: str = "") -> SparkSubmitLineageOperator:
    """Return a task that runs one step as an application."""
    return SparkSubmitLineageOperator(
        task_id=task_id or step,
        application=steps.__file__,
        # What the steps import: a driver on the cluster gets the files that are named here.
        py_files=source.__file__,
        application_args=[step, *arguments],
        conn_id="spark_cluster",
        conf=CONF,
    )


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
    # In YARN's cluster mode Airflow wants this, or `yarn_track_via_rm_api=True`.
    default_args={"durable": False},
)
def nycflights_submitted() -> None:
    delivered = task(source.deliver)()

    bronze = {table: submitted("csv_to_parquet", table, task_id=f"bronze_{table}") for table in source.TABLES}
    weather, flights = submitted("silver_weather"), submitted("silver_flights")

    delivered >> list(bronze.values())
    bronze["weather"] >> weather
    [bronze["flights"], bronze["planes"], weather] >> flights
    [flights, bronze["airlines"]] >> submitted("gold_delays_by_carrier")
    [flights, bronze["airports"]] >> submitted("gold_worst_routes")
    flights >> submitted("gold_delays_by_weather")


nycflights_submitted()
