"""A DAG with the same tasks by our operators and by Airflow's own; the last task compares the results."""

from __future__ import annotations

import sys

import pendulum
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.sdk import dag, task

from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator

SPARK = {"spark.master": "local[1]", "spark.ui.enabled": "false", "spark.app.name": "{{ dag.dag_id }}"}


def report(day: str, spark=None, **context) -> dict:
    """Return the function's arguments, and whether anything of ours is at work in the process."""
    from pyspark.sql import SparkSession

    return {
        "day": day,
        "rows": spark.range(3).count(),
        "app": spark.sparkContext.appName,
        "context": "dag_run" in context,
        "captures": "airflow_provider_spark_lineage.spark.capture.this_process" in sys.modules,
        "patched": hasattr(SparkSession.__init__, "__wrapped__"),
    }


def decorated(day: str, spark=None) -> dict:
    return report(day, spark)


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def drop_in() -> None:
    arguments = {"python_callable": report, "op_kwargs": {"day": "{{ ds }}"}, "config_kwargs": SPARK}
    theirs = PySparkOperator(task_id="theirs", **arguments)
    ours = PySparkLineageOperator(task_id="ours", **arguments)

    @task
    def compare(results: list[dict]) -> None:
        import os

        shown = [{k: v for k, v in result.items() if k not in ("captures", "patched")} for result in results]
        assert shown[0]["rows"] == 3
        assert len(shown[0]["day"]) == 10, "the template was not rendered"
        assert shown[0]["app"] == "drop_in", "a template field of the operator was not rendered"
        assert shown[0] == shown[1], results
        assert shown[2] == shown[3], results
        if os.environ.get("AIRFLOW__OPENLINEAGE__DISABLED") == "True":
            assert not any(result["captures"] or result["patched"] for result in results), results

    their_task = task.pyspark(config_kwargs=SPARK)(decorated)
    our_task = task.pyspark_lineage(config_kwargs=SPARK)(decorated)
    third = their_task.override(task_id="their_task")("{{ ds }}")
    fourth = our_task.override(task_id="our_task")("{{ ds }}")
    compare([theirs.output, ours.output, third, fourth])


drop_in()
