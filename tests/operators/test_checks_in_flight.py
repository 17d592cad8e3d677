"""A task that checks what it writes: results at its output, and it fails after its function."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag

from airflow_provider_spark_lineage.testing import DagRun, tail

parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = [pytest.mark.spark, pytest.mark.airflow]


def _run(home: Path, **settings: str) -> DagRun:
    return run_dag(
        Path(__file__).parent / "dags" / "checks_in_flight.py",
        home=home / "airflow",
        settings={"CHECKS_HOME": str(home), **settings},
    )


def test_results_are_at_the_output_and_a_failed_check_fails_the_task(tmp_path: Path) -> None:
    """After its function: the data are written. No event has a text of a row or of a check's dictionary."""
    run = _run(tmp_path, AIRFLOW__SPARK_LINEAGE__SQL_TEXT="masked")
    assert run.tasks == {"passes": "success", "fails": "failed"}, tail(run.log, 60)
    assert len(os.listdir(tmp_path / "copy")) > 1
    events = [event.document for event in run.read().items if event.type in ("complete", "fail")]
    facets = {
        (event["job"]["name"], Path(output["name"]).name): output["facets"]
        for event in events
        for output in event["outputs"]
        if "dataQualityAssertions" in output["facets"]
    }
    assert {key: _asserted(facet) for key, facet in facets.items()} == {
        ("checks_in_flight.passes", "people"): [
            ("first", "first", None, False, "warn", "0", "2"),
            ("id.null_check", "not_null", "id", True, "error", "0", "0"),
            ("id.max", "max", "id", True, "error", "<=2", "2"),
            ("name.min", "min", "name", True, "error", None, None),
        ],
        ("checks_in_flight.passes", "rich"): [("split.rich", "rich", None, False, "warn", "0", "1")],
        ("checks_in_flight.passes", "log"): [
            ("again.id.null_check", "not_null", "id", True, "error", "0", "0")
        ],
        ("checks_in_flight.fails", "copy"): [
            ("name.max", "max", "name", False, "error", None, None),
            ("low", "low", None, False, "error", "0", "2"),
            ("even", "even", None, False, "warn", "0", "1"),
        ],
    }
    outputs = {
        Path(output["name"]).name
        for event in events
        if event["job"]["name"] == "checks_in_flight.passes"
        for output in event["outputs"]
    }
    assert outputs == {"people", "broken", "rich", "log"}
    [row] = parquet.read_table(tmp_path / "broken").to_pylist()
    assert (row["id"], row["name"], row["broken_rules"]) == (1, "Ann", ["rich"])
    [run_id] = {
        event["run"]["facets"]["airflow"]["dagRun"]["run_id"] for event in events if _is_of_task(event)
    }
    assert row["run_id"] == run_id
    people = facets["checks_in_flight.passes", "people"]["dataQualityMetrics"]
    assert people["rowCount"] == 3
    assert people["columnMetrics"]["id"] == {"nullCount": 0, "count": 3, "max": 2.0}
    # The first append makes the dataset, so its rows are all that there are.
    assert facets["checks_in_flight.passes", "log"]["dataQualityMetrics"]["rowCount"] == 3
    [failed] = [event for event in events if event["job"]["name"] == "checks_in_flight.fails"]
    assert failed["eventType"] == "FAIL"
    message = failed["run"]["facets"]["errorMessage"]["message"]
    assert "name.max: expected something else, found another text; low: expected 0, found 2" in message
    assert "even" not in message
    assert not any(name in str(events) for name in ("Ann", "Bob", "Cid"))


def _is_of_task(event: dict[str, Any]) -> bool:
    return "taskInstance" in event["run"]["facets"].get("airflow", {})


def _asserted(facets: dict[str, Any]) -> list[tuple[Any, ...]]:
    names = ("name", "assertion", "column", "success", "severity", "expected", "actual")
    return [tuple(each.get(name) for name in names) for each in facets["dataQualityAssertions"]["assertions"]]


def test_without_capture_no_check_fails_a_task(tmp_path: Path) -> None:
    """Nothing is measured then, and the log says so."""
    run = _run(tmp_path, AIRFLOW__OPENLINEAGE__DISABLED="True")
    assert run.tasks == {"passes": "success", "fails": "success"}, tail(run.log, 60)
    assert "These checks are not made" in run.log.read_text()
