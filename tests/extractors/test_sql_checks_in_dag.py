"""The extractor in a DAG run: the provider asks it in a forked child, after the task has ended."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from airflow_runs import run_dag
from openlineage_client import needs_fields_of_results

from airflow_provider_spark_lineage.testing import tail

pytestmark = [pytest.mark.airflow, needs_fields_of_results]

EXTRACTOR = "airflow_provider_spark_lineage.extractors.checks.SqlCheckExtractor"


def test_results_are_in_the_events_of_tasks_that_pass_and_fail(tmp_path):
    """Results of `execute` reach the child, also those of a failed task; START has the table only."""
    database = tmp_path / "shop.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE orders AS SELECT 10 AS amount UNION SELECT 90")
    connection.close()
    run = run_dag(
        Path(__file__).parent / "dags" / "own_checks.py",
        home=tmp_path / "airflow",
        settings={"AIRFLOW__OPENLINEAGE__EXTRACTORS": EXTRACTOR, "CHECKS_DATABASE": str(database)},
    )
    assert run.tasks == {
        "passes": "success",
        "fails": "failed",
        "missing": "failed",
        "statement": "success",
    }, tail(run.log, 60)
    found = {}
    for event in run.read().items:
        if "." in event.name:
            document = event.document
            assertions = {
                (each.get("column"), each["assertion"]): each["success"]
                for read in document["inputs"]
                for each in read.get("inputFacets", {}).get("dataQualityAssertions", {}).get("assertions", [])
            }
            tests = {
                each["name"]: each["status"]
                for each in document["run"]["facets"].get("test", {}).get("tests", [])
            }
            names = [read["name"] for read in document["inputs"]]
            found[event.name.partition(".")[2], event.type] = (names, assertions, tests)
    ends = {(task, kind): values for (task, kind), values in found.items() if kind != "start"}
    both = ("amount", "min"), ("amount", "max")
    assert ends == {
        ("passes", "complete"): (["main.orders"], dict.fromkeys(both, True), {}),
        ("fails", "fail"): (["main.orders"], dict(zip(both, (False, True), strict=True)), {}),
        ("missing", "fail"): (["main.nowhere"], {}, {"amount.min": "skip", "amount.max": "skip"}),
        ("statement", "complete"): (["main.orders"], {(None, "statement"): True}, {"statement": "pass"}),
    }
    starts = [values for (_, kind), values in found.items() if kind == "start"]
    assert [values[1:] for values in starts] == [({}, {})] * 4
