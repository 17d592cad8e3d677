"""`SparkSqlLineageOperator` is Airflow's own, and reports the lineage of each statement."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from airflow_runs import run_dag
from servers.spark_home import spark_home

from airflow_provider_spark_lineage.testing import tail


@pytest.mark.airflow
def test_arguments_and_templates_are_those_of_airflow():
    """A DAG author changes the class name and nothing else."""
    from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator

    from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

    assert issubclass(SparkSqlLineageOperator, SparkSqlOperator)
    assert inspect.signature(SparkSqlLineageOperator.__init__) == inspect.signature(SparkSqlOperator.__init__)
    for name in ("template_fields", "template_ext", "ui_color", "shallow_copy_attrs"):
        assert getattr(SparkSqlLineageOperator, name) == getattr(SparkSqlOperator, name)


@pytest.mark.airflow
@pytest.mark.spark
def test_statements_of_spark_sql_report_their_lineage(tmp_path):
    """From text and from a file: tables by their location, columns by the query."""
    (tmp_path / "copy.sql").write_text(
        f"insert overwrite directory 'file:{tmp_path}/copy' using parquet\n"
        "select customer, total * 2 as twice from totals;\n"
    )
    run = run_dag(
        Path(__file__).parent / "dags" / "statements.py",
        home=tmp_path / "airflow",
        settings={
            "AIRFLOW_CONN_MACHINE": json.dumps({"conn_type": "spark", "host": "local[2]"}),
            "STATEMENTS_HOME": str(tmp_path),
            **spark_home(),
        },
    )
    assert run.tasks == {"text": "success", "file": "success"}, tail(run.log, 60)
    outputs = {
        (event.name, output["name"].removeprefix(f"{tmp_path}/")): {
            (column, origin["name"].removeprefix(f"{tmp_path}/"), origin["field"])
            for column, entry in output["facets"].get("columnLineage", {"fields": {}})["fields"].items()
            for origin in entry["inputFields"]
        }
        for event in run.read().items
        if event.type == "complete" and "airflow" in event.document["run"]["facets"]
        for output in event.document["outputs"]
    }
    assert outputs == {
        ("statements.text", "warehouse/orders"): set(),
        ("statements.text", "warehouse/totals"): {
            ("customer", "warehouse/orders", "customer"),
            ("total", "warehouse/orders", "amount"),
        },
        ("statements.file", "copy"): {
            ("customer", "warehouse/totals", "customer"),
            ("twice", "warehouse/totals", "total"),
        },
    }
