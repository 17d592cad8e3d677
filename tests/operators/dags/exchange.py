"""Both directions of `SparkJDBCOperator`: a table of Spark's catalog into a database, and back."""

from __future__ import annotations

import os
from pathlib import Path

import pendulum
from airflow.sdk import dag

from airflow_provider_spark_lineage.operators.spark_jdbc import SparkJDBCLineageOperator
from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

HOME = Path(os.environ["EXCHANGE_HOME"])


CONF = {
    "spark.ui.enabled": "false",
    "spark.sql.catalogImplementation": "hive",
    "spark.sql.warehouse.dir": str(HOME / "warehouse"),
    "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:{HOME}/metastore;create=true",
    "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={HOME}/derby.log",
}
JDBC = {
    "spark_conn_id": "spark",
    "jdbc_conn_id": "database",
    "jdbc_driver": "org.postgresql.Driver",
    "jdbc_table": "public.orders",
    "spark_jars": os.environ["EXCHANGE_JARS"],
    "spark_conf": CONF,
}


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def exchange() -> None:
    make = SparkSqlLineageOperator(
        task_id="make",
        sql="create table orders using parquet as select 1 as id, 'x' as name",
        conn_id="spark",
        conf=CONF,
        verbose=False,
    )
    write = SparkJDBCLineageOperator(
        task_id="write", cmd_type="spark_to_jdbc", metastore_table="orders", save_mode="append", **JDBC
    )
    read = SparkJDBCLineageOperator(
        task_id="read", cmd_type="jdbc_to_spark", metastore_table="copies", save_mode="overwrite", **JDBC
    )
    make >> write >> read


exchange()
