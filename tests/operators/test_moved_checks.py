"""A DAG of Airflow's check operators moves to Spark by its import line."""

from __future__ import annotations

import datetime
import json
import os
import re
import sqlite3
from pathlib import Path

import pytest
from airflow_runs import run_dag
from openlineage_client import needs_fields_of_results
from providers import needs_common_sql
from servers.connect import client, connect

from airflow_provider_spark_lineage.testing import tail

HERE = Path(__file__).parent

STATES = {
    "columns_pass": "success",
    "columns_fail": "failed",
    "rows_pass": "success",
    "rows_fail": "failed",
    "all_pass": "success",
    "all_fail": "failed",
    "no_rows": "failed",
    "never": "upstream_failed",
    "value_passes": "success",
    "value_fails": "failed",
    "threshold_passes": "success",
    "threshold_fails": "failed",
    "interval_passes": "success",
    "interval_fails": "failed",
}


def rows():
    """Two rows of each day around the run's date, which may be tomorrow; amounts tripled three days ago."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = [(offset, today + datetime.timedelta(offset)) for offset in range(-10, 2)]
    return [
        (number, 10 if offset < -3 else 30, None if number % 2 else "A", str(day))
        for number, (offset, day) in enumerate((day for day in days for _ in range(2)), 1)
    ]


@needs_fields_of_results
@needs_common_sql("2.0", "Airflow's operators report no results")
@pytest.mark.spark
@pytest.mark.airflow
def test_a_dag_does_the_same_after_its_import_line_is_changed(tmp_path):
    """States, texts of exceptions, and results: on SQLite by Airflow's operators, and on Spark by ours.

    A text is compared up to its query, and as a whole where it quotes none. Names of assertions are Airflow's
    with `assertion_names = class`, so this option is set.
    """
    planted = rows()
    file = tmp_path / "shop.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE orders (id int, amount int, coupon text, day text)")
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", planted)
    database.close()
    on_sqlite = _run(tmp_path, "sqlite", {"conn_type": "lite", "host": str(file)})
    with connect(tmp_path) as url:
        with client(url) as spark:
            frame = spark.createDataFrame(planted, "id int, amount int, coupon string, day string")
            frame.withColumn("day", frame.day.cast("date")).coalesce(1).write.saveAsTable("orders")
        host, _, port = url.rpartition(":")
        on_spark = _run(tmp_path, "spark", {"conn_type": "spark_connect", "host": host, "port": int(port)})
    assert on_sqlite.tasks == STATES, tail(on_sqlite.log, 60)
    assert on_spark.tasks == STATES, tail(on_spark.log, 60)
    theirs, ours = _ends(on_sqlite), _ends(on_spark)
    ran = {task for task, state in STATES.items() if state != "upstream_failed"}
    assert theirs.keys() == ours.keys() == ran
    texts = {task: _text(document) for task, document in theirs.items()}
    assert {task for task, text in texts.items() if text} == {
        task for task, state in STATES.items() if state == "failed"
    }
    assert {task: _text(document) for task, document in ours.items()} == texts
    results = {task: _results(document) for task, document in theirs.items()}
    assert all(results.values())
    assert {task: _results(document) for task, document in ours.items()} == results


def _run(folder, kind, connection):
    paths = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(HERE / "lite")]))
    return run_dag(
        HERE / "dags" / "moved_checks.py",
        home=folder / kind,
        settings={
            "CHECKS_ON": kind,
            "AIRFLOW_CONN_SHOP": json.dumps(connection),
            "AIRFLOW__SPARK_LINEAGE__ASSERTION_NAMES": "class",
            "PYTHONPATH": paths,
        },
    )


def _ends(run):
    """Return the last event of each task by its id."""
    return {
        event.name.partition(".")[2]: event.document
        for event in run.read().items
        if event.type in ("complete", "fail")
        and "taskInstance" in event.document["run"]["facets"].get("airflow", {})
    }


def _text(document):
    """Return the text of the task's exception, up to the query that it quotes."""
    text = document["run"]["facets"].get("errorMessage", {}).get("message", "")
    return re.split(r"(?<=Query:\n)|(?<=SQL: )|(?<=returned zero rows: )", text)[0]


def _results(document):
    """Return (name, column, success, severity, assertion) of the results, wherever they are."""
    found = {
        (each["name"], each.get("column"), each["success"], each["severity"], each["assertion"])
        for read in document["inputs"]
        for each in read["facets"].get("dataQualityAssertions", {}).get("assertions", [])
    }
    return found | {
        (
            each["name"],
            each.get("params", {}).get("tested_column"),
            each["status"] == "pass",
            each["severity"],
            each["type"],
        )
        for each in document["run"]["facets"].get("test", {}).get("tests", [])
    }
