"""A task instance as Airflow passes it to listeners, and a record of what its Spark did."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pendulum
from spark_trees import column, scan

from airflow_provider_spark_lineage.spark.records.record import Record


def record(number: int) -> Record:
    """A read of one file, made without a JVM."""
    return Record(
        application_id="app-1",
        application_name="app",
        spark_version="4.1.4",
        number=number,
        name="count",
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:00:01+00:00",
        outcome="success",
        plan=scan(column("id", 7)),
        facts=[
            {
                "node": "LogicalRelation",
                "expr_id": 7,
                "probed": {"paths": ["file:/in/orders"], "format": "CSV"},
            }
        ],
    )


def instance(**changes: object) -> SimpleNamespace:
    """A task instance with the attributes that Airflow's OpenLineage provider reads."""
    from airflow.sdk import DAG

    started_with = changes.pop("conf", {})
    dag_run = SimpleNamespace(logical_date=pendulum.datetime(2026, 1, 1), clear_number=0, conf=started_with)
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    task = changes.setdefault("task", operator())
    context = {"dag_run": dag_run, "dag": DAG("d", schedule=None, tags=["daily"]), "task": task}
    return SimpleNamespace(**{**fields, "get_template_context": lambda: context, **changes})


def operator() -> Any:
    from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator

    return PySparkLineageOperator(task_id="t", python_callable=lambda spark: None)
