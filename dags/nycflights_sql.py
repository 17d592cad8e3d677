"""# The same pipeline, written in Spark SQL

`SparkSqlLineageOperator` is Airflow's `SparkSqlOperator`: `spark-sql` runs the statements of a task. The
datasets and the lineage of columns match `nycflights`, where the same steps are written in Python.

The tables are in a metastore that only this DAG knows, and Spark creates no table over files that are there
already: give this DAG another `NYCFLIGHTS_HOME` than `nycflights`.
"""

from __future__ import annotations

import pendulum
from airflow.sdk import dag, task
from nycflights_source import METASTORE, SPARK, TABLES, deliver, landing, layer

from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

BRONZE = {
    table: f"""
CREATE TEMPORARY VIEW delivered USING csv
OPTIONS (path '{landing(table)}', header true, nullValue 'NA');

CREATE DATABASE IF NOT EXISTS bronze LOCATION '{layer("bronze")}';
DROP TABLE IF EXISTS bronze.{table};

CREATE TABLE bronze.{table} USING parquet AS
SELECT *, input_file_name() AS source_file, current_timestamp() AS loaded_at
FROM delivered
"""
    for table in TABLES
}

SILVER_WEATHER = f"""
CREATE DATABASE IF NOT EXISTS silver LOCATION '{layer("silver")}';
DROP TABLE IF EXISTS silver.weather;

CREATE TABLE silver.weather USING parquet AS
WITH typed AS (
  SELECT origin,
         to_timestamp(time_hour)   AS hour_utc,
         double(temp)              AS temperature_f,
         double(wind_speed)        AS wind_mph,
         double(precip)            AS rain_inches,
         double(visib)             AS visibility_miles
  FROM bronze.weather
),
numbered AS (
  SELECT *, row_number() OVER (PARTITION BY origin, hour_utc ORDER BY hour_utc) AS nth
  FROM typed
)
SELECT origin,
       hour_utc,
       temperature_f,
       wind_mph,
       rain_inches,
       visibility_miles,
       CASE WHEN visibility_miles < 3 THEN 'fog'
            WHEN rain_inches > 0      THEN 'rain'
            WHEN wind_mph > 20        THEN 'wind'
            ELSE 'fair'
       END AS conditions
FROM numbered
WHERE nth = 1
"""

SILVER_FLIGHTS = """
DROP TABLE IF EXISTS silver.flights;

CREATE TABLE silver.flights USING parquet PARTITIONED BY (month) AS
WITH flown AS (
  SELECT int(year)                      AS year,
         int(month)                     AS month,
         make_date(year, month, day)    AS flight_date,
         to_timestamp(time_hour)        AS hour_utc,
         CASE WHEN int(hour) < 12 THEN 'morning'
              WHEN int(hour) < 18 THEN 'afternoon'
              ELSE 'evening'
         END                            AS part_of_day,
         carrier,
         int(flight)                    AS flight_number,
         tailnum                        AS tail_number,
         origin,
         dest                           AS destination,
         concat_ws('-', origin, dest)   AS route,
         int(distance)                  AS distance_miles,
         int(dep_delay)                 AS departure_delay,
         int(arr_delay)                 AS arrival_delay,
         int(arr_delay) > 15            AS late
  FROM bronze.flights
  WHERE dep_time IS NOT NULL
),
aircraft AS (
  SELECT tailnum AS tail_number, int(year) AS year_built, initcap(manufacturer) AS manufacturer
  FROM bronze.planes
)
SELECT tail_number,
       origin,
       hour_utc,
       flight_date,
       part_of_day,
       carrier,
       flight_number,
       destination,
       route,
       distance_miles,
       departure_delay,
       arrival_delay,
       late,
       temperature_f,
       wind_mph,
       rain_inches,
       visibility_miles,
       coalesce(conditions, 'unknown') AS conditions,
       manufacturer,
       year - year_built AS aircraft_age,
       month
FROM flown
LEFT JOIN silver.weather USING (origin, hour_utc)
LEFT JOIN aircraft USING (tail_number)
"""

GOLD_DELAYS_BY_CARRIER = f"""
INSERT OVERWRITE DIRECTORY '{layer("gold", "delays_by_carrier")}' USING parquet
SELECT month,
       carrier,
       name                                  AS airline,
       count(*)                              AS flights,
       round(avg(departure_delay), 1)        AS mean_departure_delay,
       round(avg(arrival_delay), 1)          AS mean_arrival_delay,
       round(avg(IF(late, 1, 0)), 3)         AS late_share
FROM silver.flights JOIN bronze.airlines USING (carrier)
GROUP BY month, carrier, name
ORDER BY month, carrier
"""

GOLD_WORST_ROUTES = f"""
WITH routes AS (
  SELECT month, route, destination, count(*) AS flights, avg(arrival_delay) AS mean_arrival_delay
  FROM silver.flights
  GROUP BY month, route, destination
),
worst AS (
  SELECT *, rank() OVER (PARTITION BY month ORDER BY mean_arrival_delay DESC) AS rank
  FROM routes
  WHERE flights >= 10
)
INSERT OVERWRITE DIRECTORY '{layer("gold", "worst_routes")}' USING parquet
SELECT destination, month, route, flights, mean_arrival_delay, rank, airports.name AS destination_airport
FROM worst LEFT JOIN bronze.airports ON destination = faa
WHERE rank <= 5
"""

GOLD_DELAYS_BY_WEATHER = """
CREATE DATABASE IF NOT EXISTS gold;
DROP TABLE IF EXISTS gold.delays_by_weather;

CREATE TABLE gold.delays_by_weather USING parquet AS
SELECT conditions,
       part_of_day,
       count(*)                                    AS flights,
       round(avg(departure_delay), 1)              AS mean_departure_delay,
       percentile_approx(departure_delay, 0.9)     AS departure_delay_p90,
       count_if(late) / count(*)                   AS late_share
FROM silver.flights
GROUP BY conditions, part_of_day
"""


def spark_sql(task_id: str, statements: str) -> SparkSqlLineageOperator:
    """Return a task that runs statements in a `spark-sql` of its own."""
    return SparkSqlLineageOperator(
        task_id=task_id, sql=statements, conn_id="spark_cluster", conf={**SPARK, **METASTORE}
    )


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    # Derby, the database behind the metastore, lets in one process at a time.
    max_active_tasks=1,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def nycflights_sql() -> None:
    delivered = task(deliver)()

    bronze = {table: spark_sql(f"bronze_{table}", statements) for table, statements in BRONZE.items()}
    weather = spark_sql("silver_weather", SILVER_WEATHER)
    flights = spark_sql("silver_flights", SILVER_FLIGHTS)

    delivered >> list(bronze.values())
    bronze["weather"] >> weather
    [bronze["flights"], bronze["planes"], weather] >> flights
    [flights, bronze["airlines"]] >> spark_sql("gold_delays_by_carrier", GOLD_DELAYS_BY_CARRIER)
    [flights, bronze["airports"]] >> spark_sql("gold_worst_routes", GOLD_WORST_ROUTES)
    flights >> spark_sql("gold_delays_by_weather", GOLD_DELAYS_BY_WEATHER)


nycflights_sql()
