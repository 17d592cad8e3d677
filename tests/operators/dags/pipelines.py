"""Declarative pipelines: in a server of the task's own, by the launcher, a dry run, and one that fails."""

from __future__ import annotations

import os
from pathlib import Path

import pendulum
from airflow.sdk import dag

from airflow_provider_spark_lineage.operators.spark_pipelines import SparkPipelinesLineageOperator

HOME = Path(os.environ["PIPELINES_HOME"])
CONF = {"spark.ui.enabled": "false", "spark.sql.warehouse.dir": str(HOME / "warehouse")}


class LaunchingOperator(SparkPipelinesLineageOperator):
    """`spark-pipelines` of Spark 4.1 to 4.3 refuses the master and the name that the hook always gives."""

    def _get_hook(self):
        hook = super()._get_hook()
        build = hook._build_spark_common_args

        def accepted():
            pairs = zip(*[iter(build())] * 2, strict=True)
            return [part for pair in pairs if pair[0] not in ("--master", "--name") for part in pair]

        hook._build_spark_common_args = accepted
        return hook


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def pipelines() -> None:
    words = " ".join(f"--conf {name}={value}" for name, value in CONF.items())
    own_server = {
        "conn_id": "server",
        "env_vars": {"SPARK_REMOTE": "local[2]", "PYSPARK_SUBMIT_ARGS": f"{words} pyspark-shell"},
    }
    launch = LaunchingOperator(
        task_id="launch", pipeline_spec=str(HOME / "shop.yml"), conn_id="machine", conf=CONF
    )
    check = SparkPipelinesLineageOperator(
        task_id="check", pipeline_spec=str(HOME / "shop.yml"), pipeline_command="dry-run", **own_server
    )
    fails = SparkPipelinesLineageOperator(
        task_id="fails", pipeline_spec=str(HOME / "broken.yml"), **own_server
    )
    launch >> check >> fails


pipelines()
