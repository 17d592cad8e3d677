"""# The same pipeline, and not one line about lineage

Only Airflow's own operators, as teams have them: `PySparkOperator`, `@task.pyspark`, a `PythonOperator` and
an `@task` that open a session themselves, `SparkSubmitOperator` and `SparkSqlOperator`. With one option of
the deployment, every task reports the lineage that it reports in `nycflights`:

    [spark_lineage]
    auto_capture = True

One table is made by `spark-sql`, whose metastore only this DAG knows: give it a `NYCFLIGHTS_HOME` of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nycflights_source as source
import nycflights_steps as steps
import pendulum
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import dag, task


def run_step(name: str, *arguments: str) -> None:
    """Run a step with a session that this function opens and stops."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name)
    for key, value in source.SPARK.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        getattr(steps, name)(*arguments, spark)
    finally:
        spark.stop()


def bronze_of_operator(table: str) -> PySparkOperator:
    """Return a task whose operator passes the session to the step."""
    return PySparkOperator(
        task_id=f"bronze_{table}",
        python_callable=steps.csv_to_parquet,
        op_kwargs={"table": table},
        config_kwargs=source.SPARK,
    )


def bronze_of_function(table: str) -> PythonOperator:
    """Return a task whose function opens the session."""
    return PythonOperator(
        task_id=f"bronze_{table}", python_callable=run_step, op_args=["csv_to_parquet", table]
    )


def with_session(step: Callable[..., None]) -> Any:
    """Return a task that gets its session from `@task.pyspark`."""
    return task.pyspark(config_kwargs=source.SPARK)(step)()


@task
def silver_flights() -> None:
    """Open a session in a plain `@task`."""
    run_step("silver_flights")


def submitted(step: str, *arguments: str, task_id: str = "") -> SparkSubmitOperator:
    """Return a task that runs one step as an application."""
    return SparkSubmitOperator(
        task_id=task_id or step,
        application=steps.__file__,
        application_args=[step, *arguments],
        conn_id="spark_cluster",
        conf=source.SPARK,
    )


GOLD_DELAYS_BY_WEATHER = f"""
CREATE TEMPORARY VIEW flights USING parquet OPTIONS (path '{source.layer("silver", "flights")}');
CREATE DATABASE IF NOT EXISTS gold;
DROP TABLE IF EXISTS gold.delays_by_weather;
CREATE TABLE gold.delays_by_weather USING parquet AS
{steps.DELAYS_BY_WEATHER}
"""


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def nycflights_unmodified() -> None:
    delivered = task(source.deliver)()

    bronze = {table: bronze_of_operator(table) for table in ("airlines", "airports")}
    bronze["planes"] = bronze_of_function("planes")
    bronze["weather"] = bronze_of_function("weather")
    bronze["flights"] = submitted("csv_to_parquet", "flights", task_id="bronze_flights")
    weather, flights = with_session(steps.silver_weather), silver_flights()

    delivered >> list(bronze.values())
    bronze["weather"] >> weather
    [bronze["flights"], bronze["planes"], weather] >> flights
    [flights, bronze["airlines"]] >> submitted("gold_delays_by_carrier")
    [flights, bronze["airports"]] >> with_session(steps.gold_worst_routes)
    flights >> SparkSqlOperator(
        task_id="gold_delays_by_weather",
        sql=GOLD_DELAYS_BY_WEATHER,
        conn_id="spark_cluster",
        conf={**source.SPARK, **source.METASTORE},
    )


nycflights_unmodified()
