"""`SparkJDBCLineageOperator` is Airflow's own, and names both tables."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from airflow_runs import run_dag
from servers.jars import jar
from servers.postgres import postgres
from servers.spark_home import spark_home
from spark_packages import coordinate

from airflow_provider_spark_lineage.testing import tail


@pytest.mark.airflow
@pytest.mark.spark
def test_both_directions_report_the_databases_table_and_the_catalogs(tmp_path):
    """Columns are copied as they are; names are OpenLineage's, and no password is in an event."""
    with postgres() as url:
        server = urlsplit(url.removeprefix("jdbc:"))
        database = {
            "conn_type": "jdbc",
            "host": server.hostname,
            "port": server.port,
            "schema": "postgres",
            "login": "tests",
            "password": "hunter2",
            "extra": {"conn_prefix": "jdbc:postgresql://"},
        }
        run = run_dag(
            Path(__file__).parent / "dags" / "exchange.py",
            home=tmp_path / "airflow",
            settings={
                "AIRFLOW_CONN_DATABASE": json.dumps(database),
                "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[1]"}),
                "EXCHANGE_HOME": str(tmp_path),
                "EXCHANGE_JARS": str(jar(coordinate("postgresql"))),
                **spark_home(),
            },
        )
    assert set(run.tasks.values()) == {"success"}, tail(run.log, 60)
    assert "hunter2" not in run.events.read_text()
    table = (f"postgres://127.0.0.1:{server.port}", "postgres.public.orders")
    edges = {
        (event.name, output["name"].removeprefix(f"{tmp_path}/"), column): [
            (origin["namespace"], origin["name"].removeprefix(f"{tmp_path}/"), origin["field"])
            for origin in entry["inputFields"]
        ]
        for event in run.read().items
        if event.type == "complete" and "airflow" in event.document["run"]["facets"]
        for output in event.document["outputs"]
        for column, entry in output["facets"].get("columnLineage", {"fields": {}})["fields"].items()
    }
    assert edges == {
        ("exchange.write", "postgres.public.orders", "id"): [("file", "warehouse/orders", "id")],
        ("exchange.write", "postgres.public.orders", "name"): [("file", "warehouse/orders", "name")],
        ("exchange.read", "warehouse/copies", "id"): [(*table, "id")],
        ("exchange.read", "warehouse/copies", "name"): [(*table, "name")],
    }
