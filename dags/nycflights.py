"""# Delays of the flights from New York City

CSV files become Parquet (bronze), Parquet becomes a clean table of flights with weather and aircraft
(silver), and that becomes three small tables that answer questions (gold):

* Which airline is late, and when in the year? `gold/delays_by_carrier`
* Which routes are the worst of each month? `gold/worst_routes`
* How much of it is the weather? `gold.delays_by_weather`, made by Spark SQL

Every Spark task reports its lineage. The bronze tasks use `PySparkLineageOperator`, the others
`@task.pyspark_lineage`; apart from the names they are what they would be with Airflow's own operator.
What a step does on Spark is in `nycflights_steps.py`.
Each task overwrites what it wrote before, so a run can be repeated at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nycflights_steps as steps
import pendulum
from airflow.sdk import dag, task
from nycflights_source import SPARK, TABLES, deliver

from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator


def spark_task(step: Callable[..., None]) -> Any:
    """Return a task that runs one step in its own process."""
    return task.pyspark_lineage(config_kwargs=SPARK)(step)()


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def nycflights() -> None:
    delivered = task(deliver)()

    bronze = {
        table: PySparkLineageOperator(
            task_id=f"bronze_{table}",
            python_callable=steps.csv_to_parquet,
            op_kwargs={"table": table},
            config_kwargs=SPARK,
        )
        for table in TABLES
    }
    weather, flights = spark_task(steps.silver_weather), spark_task(steps.silver_flights)

    delivered >> list(bronze.values())
    bronze["weather"] >> weather
    [bronze["flights"], bronze["planes"], weather] >> flights
    [flights, bronze["airlines"]] >> spark_task(steps.gold_delays_by_carrier)
    [flights, bronze["airports"]] >> spark_task(steps.gold_worst_routes)
    flights >> spark_task(steps.gold_delays_by_weather)


nycflights()
