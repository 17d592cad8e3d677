"""# Lineage of all jobs as tables, loaded every night

OpenLineage events of any producer become tables in a folder: `spark-lineage warehouse views` shows them to
DuckDB, Spark or Trino. The task reads the files that are new since the night before. It is a task like any
other, so that its own lineage is in its events, and in the tables of the night after.

`LINEAGE_EVENTS` is the folder of the events, by default `events` beside the example data, and
`LINEAGE_WAREHOUSE` the folder of the tables, by default `lineage`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pendulum
from airflow.sdk import dag, task
from nycflights_source import SPARK, layer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = os.environ.get("LINEAGE_EVENTS") or layer("events")
WAREHOUSE = os.environ.get("LINEAGE_WAREHOUSE") or layer("lineage")


@task.pyspark_lineage(config_kwargs=SPARK)
def load_events(spark: SparkSession) -> dict[str, int]:
    """Load the events, and return how many there were and how many lines were none."""
    # Here, because Airflow parses this file all day.
    from airflow_provider_spark_lineage.warehouse import load

    summary = load(spark, EVENTS, WAREHOUSE)
    return {"new_events": summary.new_events, "bad_lines": summary.bad_lines}


@dag(
    schedule="0 2 * * *",
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def lineage_warehouse() -> None:
    load_events()


lineage_warehouse()
