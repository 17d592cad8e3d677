"""The steps of the example pipeline in plain PySpark: nothing here knows of Airflow or of lineage.

A step is a function of a session. As a program, this file runs one of them:

    spark-submit nycflights_steps.py silver_weather
    spark-submit nycflights_steps.py csv_to_parquet flights
"""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from nycflights_source import landing, layer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def csv_to_parquet(table: str, spark: SparkSession) -> None:
    """Bronze: keep every row and every column as text, and note where and when it came from."""
    from pyspark.sql import functions as sf

    (
        spark.read.csv(landing(table), header=True, nullValue="NA")
        .withColumn("source_file", sf.input_file_name())
        .withColumn("loaded_at", sf.current_timestamp())
        .write.mode("overwrite")
        .parquet(layer("bronze", table))
    )


def silver_weather(spark: SparkSession) -> None:
    """Silver: one typed row per airport and hour, with the conditions in one word."""
    from pyspark.sql import functions as sf

    (
        spark.read.parquet(layer("bronze", "weather"))
        .select(
            "origin",
            sf.to_timestamp("time_hour").alias("hour_utc"),
            sf.col("temp").cast("double").alias("temperature_f"),
            sf.col("wind_speed").cast("double").alias("wind_mph"),
            sf.col("precip").cast("double").alias("rain_inches"),
            sf.col("visib").cast("double").alias("visibility_miles"),
        )
        .dropDuplicates(["origin", "hour_utc"])
        .withColumn(
            "conditions",
            sf.when(sf.col("visibility_miles") < 3, "fog")
            .when(sf.col("rain_inches") > 0, "rain")
            .when(sf.col("wind_mph") > 20, "wind")
            .otherwise("fair"),
        )
        .write.mode("overwrite")
        .parquet(layer("silver", "weather"))
    )


def silver_flights(spark: SparkSession) -> None:
    """Silver: flights that took place, with the weather at departure and the age of the aircraft."""
    flights = typed_flights(spark.read.parquet(layer("bronze", "flights")))
    weather = spark.read.parquet(layer("silver", "weather"))
    aircraft = built_aircraft(spark.read.parquet(layer("bronze", "planes")))

    (
        flights.join(weather, ["origin", "hour_utc"], "left")
        .join(aircraft, "tail_number", "left")
        .withColumn("aircraft_age", flights.year - aircraft.year_built)
        .drop("year", "year_built")
        .fillna({"conditions": "unknown"})
        .write.mode("overwrite")
        .partitionBy("month")
        .parquet(layer("silver", "flights"))
    )


def typed_flights(bronze: DataFrame) -> DataFrame:
    """Give the flights types and readable names, and drop the cancelled ones."""
    from pyspark.sql import functions as sf

    # Spark's Python workers cannot import this file: a UDF is defined where it is used, and uses nothing
    # of the module around it. Without type hints, which Spark would take for a choice of pandas or Arrow.
    @sf.udf("string")
    def part_of_day(hour):
        if hour < 12:
            return "morning"
        return "afternoon" if hour < 18 else "evening"

    return bronze.where("dep_time IS NOT NULL").select(
        sf.col("year").cast("int"),
        sf.col("month").cast("int"),
        sf.make_date("year", "month", "day").alias("flight_date"),
        sf.to_timestamp("time_hour").alias("hour_utc"),
        part_of_day(sf.col("hour").cast("int")).alias("part_of_day"),
        "carrier",
        sf.col("flight").cast("int").alias("flight_number"),
        sf.col("tailnum").alias("tail_number"),
        "origin",
        sf.col("dest").alias("destination"),
        sf.concat_ws("-", "origin", "dest").alias("route"),
        sf.col("distance").cast("int").alias("distance_miles"),
        sf.col("dep_delay").cast("int").alias("departure_delay"),
        sf.col("arr_delay").cast("int").alias("arrival_delay"),
        (sf.col("arr_delay").cast("int") > 15).alias("late"),
    )


def built_aircraft(bronze: DataFrame) -> DataFrame:
    """Reduce the register of aircraft to the columns that the flights need."""
    from pyspark.sql import functions as sf

    return bronze.select(
        sf.col("tailnum").alias("tail_number"),
        sf.col("year").cast("int").alias("year_built"),
        sf.initcap("manufacturer").alias("manufacturer"),
    )


def gold_delays_by_carrier(spark: SparkSession) -> None:
    """Gold: how late each airline is, month by month."""
    from pyspark.sql import functions as sf

    flights = spark.read.parquet(layer("silver", "flights"))
    airlines = spark.read.parquet(layer("bronze", "airlines")).withColumnRenamed("name", "airline")

    (
        flights.join(sf.broadcast(airlines), "carrier")
        .groupBy("month", "carrier", "airline")
        .agg(
            sf.count("*").alias("flights"),
            sf.round(sf.avg("departure_delay"), 1).alias("mean_departure_delay"),
            sf.round(sf.avg("arrival_delay"), 1).alias("mean_arrival_delay"),
            sf.round(sf.avg(sf.when(sf.col("late"), 1).otherwise(0)), 3).alias("late_share"),
        )
        .orderBy("month", "carrier")
        .write.mode("overwrite")
        .parquet(layer("gold", "delays_by_carrier"))
    )


def gold_worst_routes(spark: SparkSession) -> None:
    """Gold: the five routes with the longest delays of each month, among those flown at least ten times."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    flights = spark.read.parquet(layer("silver", "flights"))
    airports = spark.read.parquet(layer("bronze", "airports")).select(
        sf.col("faa").alias("destination"), sf.col("name").alias("destination_airport")
    )
    worst_first = Window.partitionBy("month").orderBy(sf.desc("mean_arrival_delay"))

    (
        flights.groupBy("month", "route", "destination")
        .agg(sf.count("*").alias("flights"), sf.avg("arrival_delay").alias("mean_arrival_delay"))
        .where("flights >= 10")
        .withColumn("rank", sf.rank().over(worst_first))
        .where("rank <= 5")
        .join(airports, "destination", "left")
        .write.mode("overwrite")
        .parquet(layer("gold", "worst_routes"))
    )


DELAYS_BY_WEATHER = """
SELECT conditions,
       part_of_day,
       count(*)                                    AS flights,
       round(avg(departure_delay), 1)              AS mean_departure_delay,
       percentile_approx(departure_delay, 0.9)     AS departure_delay_p90,
       count_if(late) / count(*)                   AS late_share
FROM flights
GROUP BY conditions, part_of_day
"""


def gold_delays_by_weather(spark: SparkSession) -> None:
    """Gold: delays under each kind of weather, as a table made by Spark SQL."""
    # This session's catalog is kept in memory and knows nothing of an earlier run, whose files would be in
    # the way. With a metastore, DROP TABLE IF EXISTS does the same.
    shutil.rmtree(layer("warehouse", "gold.db", "delays_by_weather"), ignore_errors=True)

    spark.read.parquet(layer("silver", "flights")).createOrReplaceTempView("flights")
    spark.sql("CREATE DATABASE IF NOT EXISTS gold")
    spark.sql(f"CREATE TABLE gold.delays_by_weather USING parquet AS {DELAYS_BY_WEATHER}")


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    step, *arguments = sys.argv[1:]
    globals()[step](*arguments, SparkSession.builder.appName(step).getOrCreate())
