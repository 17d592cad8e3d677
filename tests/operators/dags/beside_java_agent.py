"""Tasks whose Spark runs OpenLineage's Java agent, in this process and in others."""

from __future__ import annotations

import os
from pathlib import Path

import pendulum
from airflow.sdk import dag, task

from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator
from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator
from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator

HOME = Path(os.environ["AGENT_HOME"])
PROGRAM = HOME / "program.py"


def conf(name: str) -> dict[str, str]:
    """Return the properties of an application whose agent writes into a file."""
    return {
        "spark.ui.enabled": "false",
        "spark.jars": os.environ["AGENT_JAR"],
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.transport.type": "file",
        "spark.openlineage.transport.location": str(HOME / f"{name}.agent.jsonl"),
        "spark.sql.warehouse.dir": str(HOME / "warehouse"),
    }


def copy(spark):
    """Copy one file."""
    spark.read.parquet(f"{HOME}/orders").write.parquet(f"{HOME}/here")


@task
def function():
    """Copy one file in a session of its own."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("function")
    for name, value in conf("function").items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.range(3).write.parquet(f"{HOME}/orders")
    spark.stop()


@dag(
    schedule=None,
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    template_searchpath=str(HOME),
)
def beside_java_agent() -> None:
    job = {"conn_id": "machine", "verbose": False}
    (
        function()
        >> PySparkLineageOperator(
            task_id="here", python_callable=copy, conn_id="machine", config_kwargs=conf("here")
        )
        >> SparkSubmitLineageOperator(
            task_id="submitted", application=str(PROGRAM), conf=conf("submitted"), **job
        )
        >> SparkSqlLineageOperator(
            task_id="statement",
            sql="copy.sql",
            conf={
                **conf("statement"),
                "spark.sql.catalogImplementation": "in-memory",
                "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={HOME}/derby.log",
            },
            **job,
        )
    )


beside_java_agent()
