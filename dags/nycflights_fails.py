"""# A task that fails on purpose

It reads two files, finishes one write, and fails inside Spark during the second. Its FAIL event says exactly
that: what was read, the one dataset that was written, and Spark's reason; not what would have been written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pendulum
from airflow.sdk import dag, task
from nycflights_source import SPARK, deliver, landing, layer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@task.pyspark_lineage(config_kwargs=SPARK, retries=0)
def delay_per_mile(spark: SparkSession) -> None:
    """Relate delays to distance, the wrong way round."""
    from pyspark.sql import functions as sf

    airlines = spark.read.csv(landing("airlines"), header=True)
    flights = spark.read.csv(landing("flights"), header=True, inferSchema=True, nullValue="NA")

    airlines.write.mode("overwrite").parquet(layer("failed", "airlines"))

    # The mistake: many flights leave on time, and under ANSI rules Spark does not divide by zero.
    (
        flights.join(airlines, "carrier")
        .select("flight", "name", (sf.col("distance") / sf.col("dep_delay")).alias("miles_per_minute_lost"))
        .write.mode("overwrite")
        .parquet(layer("failed", "delay_per_mile"))
    )


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def nycflights_fails() -> None:
    task(deliver)() >> delay_per_mile()


nycflights_fails()
