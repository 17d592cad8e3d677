"""Real operators with captured lineage, and the answer of the provider's own extractor manager."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from airflow_provider_spark_lineage.airflow.task import task_lineage
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark.runs.run import Run

ORDERS = ("file", "/data/orders")
TOTALS = ("file", "/data/warehouse/totals")
"""Datasets of the recorded job; the table `default.totals` of the warehouse is its symlink."""

CAPTURED = "captured"
"""A name for datasets with the facets of Spark, and without the facet of stated ones."""

COPY = "insert into parquet.`file:/data/copies` select * from parquet.`file:/data/orders`"
HOOKED = ("file", "/data/hooked")
RATES, REPORT = ("file", "/data/rates"), ("file", "/data/report")
STATED = {"inlets": ["file:///data/rates", "file:///data/orders"], "outlets": ["file:///data/report"]}
EVERYWHERE = pytest.mark.parametrize("kind", ["ours", "extractor", "auto-capture", "function"])


def instance(operator: Any) -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**fields, task=operator)


def operator_of(kind: str, **stated: Any) -> Any:
    """Return a real operator in a DAG: ours, or Airflow's own."""
    from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
    from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator
    from airflow.providers.standard.operators.python import PythonOperator
    from airflow.sdk import DAG

    from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator
    from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

    classes: dict[str, Any] = {
        "ours": PySparkLineageOperator,
        "ours, sql": SparkSqlLineageOperator,
        "extractor": PySparkOperator,
        "extractor, sql": SparkSqlOperator,
        "auto-capture": PySparkOperator,
        "function": PythonOperator,
    }
    what = {"sql": COPY} if "sql" in kind else {"python_callable": lambda spark: None}
    with DAG("d"):
        return classes[kind](task_id="t", **what, **stated)


def asked(kind: str, operator: Any, run: Run, state: str = "success") -> Any:
    """Return the manager's metadata for a task whose capture has ended with `run`."""
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.airflow.plugins.tasks import CapturedTask
    from airflow_provider_spark_lineage.extractors import SparkExtractor

    manager = get_openlineage_listener().extractor_manager
    before = dict(manager.extractors)
    lineage = task_lineage.TaskLineage(SimpleNamespace(run=lambda: run, planned=None, findings=()))
    subject = instance(operator)
    subject.state = state
    TASK.set_capture(subject, lineage)
    try:
        if kind.startswith("ours"):
            operator._task_lineage = lineage
        elif kind.startswith("extractor"):
            manager.extractors |= dict.fromkeys(SparkExtractor.get_operator_classnames(), SparkExtractor)
        else:
            captured = CapturedTask(subject, "python" if kind == "function" else "in process", is_named=False)
            captured._report_by()(lineage)
        return manager.extract_metadata(
            dagrun=SimpleNamespace(run_id="r"),
            task=operator,
            task_instance_state=state,
            task_instance=subject,
        )
    finally:
        manager.extractors = before
        TASK.capture = None


def named(datasets: list[Any]) -> dict[tuple[str, str], str]:
    """Return the datasets with the origin of each: `inlets`, `outlets`, CAPTURED, or empty."""
    names = [(each.namespace, each.name) for each in datasets]
    assert len(set(names)) == len(names)
    return {
        (each.namespace, each.name): stated.by
        if (stated := (each.facets or {}).get("sparkLineage_stated"))
        else (CAPTURED if "dataSource" in (each.facets or {}) else "")
        for each in datasets
    }


def assets(*uris: str) -> list[Any]:
    from airflow.sdk import Asset

    return [Asset(uri=uri) for uri in uris]


def report_by_hooks() -> None:
    """Report as hooks do, with the collector of this process."""
    from airflow.providers.common.compat.lineage.hook import get_hook_lineage_collector

    collector = get_hook_lineage_collector()
    if type(collector).__name__ == "NoOpCollector":
        pytest.fail("the provider's reader of hooks is not registered")
    collector.add_input_asset(object(), uri="file:///data/hooked")


def stated() -> dict[str, Any]:
    return {argument: assets(*uris) for argument, uris in STATED.items()}
