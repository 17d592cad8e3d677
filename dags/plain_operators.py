"""# DAGs that nobody edits

Only Airflow's own `PySparkOperator` and `@task.pyspark`, and not one line about lineage. They report it all
the same when one option of the deployment is set:

    [spark_lineage]
    auto_capture = True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pendulum
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.sdk import dag, task
from nycflights_source import SPARK, deliver, landing, layer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def seats_by_manufacturer(spark: SparkSession) -> None:
    """Count the aircraft of each manufacturer and their seats."""
    from pyspark.sql import functions as sf

    (
        spark.read.csv(landing("planes"), header=True, inferSchema=True, nullValue="NA")
        .groupBy("manufacturer")
        .agg(sf.count("tailnum").alias("aircraft"), sf.sum("seats").alias("seats"))
        .write.mode("overwrite")
        .parquet(layer("plain", "seats_by_manufacturer"))
    )


@task.pyspark(config_kwargs=SPARK)
def airports_by_timezone(spark: SparkSession) -> int:
    """Write the airports partitioned by time zone, and return how many there are."""
    airports = spark.read.csv(landing("airports"), header=True, inferSchema=True)
    (
        airports.select("faa", "name", "alt", "tzone")
        .where("alt IS NOT NULL")
        .write.mode("overwrite")
        .partitionBy("tzone")
        .parquet(layer("plain", "airports"))
    )
    return spark.read.parquet(layer("plain", "airports")).count()


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def plain_operators() -> None:
    seats = PySparkOperator(
        task_id="seats_by_manufacturer", python_callable=seats_by_manufacturer, config_kwargs=SPARK
    )
    task(deliver)() >> [seats, airports_by_timezone()]


plain_operators()
