"""Statements that `spark-sql` runs: as text, and from a file."""

from __future__ import annotations

import os
from pathlib import Path

import pendulum
from airflow.sdk import dag

from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

HOME = Path(os.environ["STATEMENTS_HOME"])


@dag(
    schedule=None,
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    template_searchpath=str(HOME),
)
def statements() -> None:
    job = {
        "conn_id": "machine",
        "conf": {
            "spark.ui.enabled": "false",
            "spark.sql.warehouse.dir": str(HOME / "warehouse"),
            "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:{HOME}/metastore;create=true",
            "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={HOME}/derby.log",
        },
        "verbose": False,
    }
    text = SparkSqlLineageOperator(
        task_id="text",
        sql="create table orders using parquet as select 1 as customer, 2.5 as amount;"
        " create table totals (customer int, total decimal(21, 1)) using parquet;"
        " insert into totals select customer, sum(amount) from orders where amount > 1 group by customer",
        **job,
    )
    text >> SparkSqlLineageOperator(task_id="file", sql="copy.sql", **job)


statements()
