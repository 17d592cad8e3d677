"""`SparkJDBCLineageOperator` is Airflow's own, passes all arguments on, and names both tables."""

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


@pytest.fixture
def submitted(monkeypatch):
    """Return a function that gives the command which an operator runs."""
    from airflow_provider_spark_lineage.operators.spark_jdbc import SparkJDBCLineageOperator

    for name, master in (("SPARK_DEFAULT", "local[3]"), ("CLUSTER", "local[4]")):
        monkeypatch.setenv(f"AIRFLOW_CONN_{name}", json.dumps({"conn_type": "spark", "host": master}))
    database = {"conn_type": "jdbc", "host": "db", "port": 1, "schema": "x", "login": "me", "password": "pw"}
    monkeypatch.setenv("AIRFLOW_CONN_DATABASE", json.dumps(database))

    def command(**arguments):
        operator = SparkJDBCLineageOperator(
            task_id="export", jdbc_conn_id="database", jdbc_table="t", metastore_table="m", **arguments
        )
        hook = operator._get_hook()
        hook.submit = lambda application: commands.append(hook._build_spark_submit_command(application))
        commands = []
        hook.submit_jdbc_job()
        return commands[0]

    return command


def value_of(command, name):
    assert command.count(name) == 1
    return command[command.index(name) + 1]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({}, "airflow-spark-jdbc"), ({"spark_app_name": "nightly"}, "nightly")],
)
def test_the_script_gets_the_name_of_the_application(submitted, arguments, name):
    """Airflow's script sets the name to None where it gets none: no Spark reads or writes with that."""
    command = submitted(**arguments)
    assert (value_of(command, "--name"), value_of(command, "-name")) == (name, name)


@pytest.mark.parametrize(
    ("arguments", "master"),
    [
        ({}, "local[3]"),
        ({"spark_conn_id": "spark-default"}, "local[3]"),
        ({"spark_conn_id": "cluster"}, "local[4]"),
        ({"spark_conn_id": "not_there"}, "local[3]"),
    ],
)
def test_the_job_runs_by_the_connection_of_the_operator(submitted, arguments, master):
    """Airflow's hook reads `spark_default` in any case; ours does for an absent connection."""
    assert value_of(submitted(**arguments), "--master") == master


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
                "AIRFLOW_CONN_SPARK": json.dumps({"conn_type": "spark", "host": "local[1]"}),
                # Airflow's operator would use it.
                "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "not_a_master"}),
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
