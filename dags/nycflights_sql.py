"""# The three answers of the pipeline, made by Spark SQL

`SparkSqlLineageOperator` is Airflow's `SparkSqlOperator`. Its statements read what `nycflights` has written;
the datasets and the lineage of columns are those of the steps in Python.
"""

from __future__ import annotations

import pendulum
from airflow.sdk import dag
from nycflights_source import HOME, SPARK, layer

from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

FLIGHTS = f"parquet.`{layer('silver', 'flights')}`"
AIRLINES = f"parquet.`{layer('bronze', 'airlines')}`"
AIRPORTS = f"parquet.`{layer('bronze', 'airports')}`"

DELAYS_BY_CARRIER = f"""
INSERT OVERWRITE DIRECTORY '{layer("gold", "delays_by_carrier")}' USING parquet
SELECT month,
       carrier,
       name                                  AS airline,
       count(*)                              AS flights,
       round(avg(departure_delay), 1)        AS mean_departure_delay,
       round(avg(arrival_delay), 1)          AS mean_arrival_delay,
       round(avg(IF(late, 1, 0)), 3)         AS late_share
FROM {FLIGHTS} JOIN {AIRLINES} USING (carrier)
GROUP BY month, carrier, name
ORDER BY month, carrier
"""

WORST_ROUTES = f"""
WITH routes AS (
  SELECT month, route, destination, count(*) AS flights, avg(arrival_delay) AS mean_arrival_delay
  FROM {FLIGHTS} GROUP BY month, route, destination
),
worst AS (
  SELECT *, rank() OVER (PARTITION BY month ORDER BY mean_arrival_delay DESC) AS rank
  FROM routes WHERE flights >= 10
)
INSERT OVERWRITE DIRECTORY '{layer("gold", "worst_routes")}' USING parquet
SELECT destination, month, route, flights, mean_arrival_delay, rank, airports.name AS destination_airport
FROM worst LEFT JOIN {AIRPORTS} AS airports ON destination = faa
WHERE rank <= 5
"""

DELAYS_BY_WEATHER = f"""
INSERT OVERWRITE DIRECTORY '{layer("warehouse", "gold.db", "delays_by_weather")}' USING parquet
SELECT conditions,
       part_of_day,
       count(*)                                    AS flights,
       round(avg(departure_delay), 1)              AS mean_departure_delay,
       percentile_approx(departure_delay, 0.9)     AS departure_delay_p90,
       count_if(late) / count(*)                   AS late_share
FROM {FLIGHTS}
GROUP BY conditions, part_of_day
"""


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def nycflights_sql() -> None:
    job = {
        "conn_id": "spark_cluster",
        "conf": {
            **SPARK,
            "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:{HOME}/metastore;create=true",
        },
    }
    (
        SparkSqlLineageOperator(task_id="gold_delays_by_carrier", sql=DELAYS_BY_CARRIER, **job)
        >> SparkSqlLineageOperator(task_id="gold_worst_routes", sql=WORST_ROUTES, **job)
        >> SparkSqlLineageOperator(task_id="gold_delays_by_weather", sql=DELAYS_BY_WEATHER, **job)
    )


nycflights_sql()
