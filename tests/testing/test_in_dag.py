"""The check as a task of the DAG itself, in real Airflow: the events it waits for, keeps and deletes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from providers import needs_airflow
from servers.airflow_workers import worker_processes

from airflow_provider_spark_lineage.testing import DagRun, run_dag

pytestmark = pytest.mark.airflow

needs_variables = needs_airflow("3.3", "tasks cannot list Variables")
VARIABLES = json.dumps({"type": "airflow_provider_spark_lineage.transports.VariableTransport"})

DAGS = '''
"""DAGs that check their own events."""
from airflow.sdk import dag, task
from airflow_provider_spark_lineage.testing.in_dag import OpenLineageTestOperator

TYPES = "start", "complete"


@task
def load(part: int):
    return part


@dag(schedule=None)
def many():
    check = OpenLineageTestOperator(
        task_id="check",
        expected={f"many.load.event.{kind}": [{"eventType": kind.upper()}] * 50 for kind in TYPES},
        timeout_s=300,
    )
    load.expand(part=list(range(50))) >> check


@dag(schedule=None)
def wrong():
    check = OpenLineageTestOperator(
        task_id="check",
        expected={
            "wrong.load.event.start": {"job": {"name": "wrong.unload"}},
            "wrong.load.event.complete": {"job": {"name": {"$match": "regex", "value": "wrong[.].*"}}},
        },
        timeout_s=1,
    )
    load(1) >> check


@dag(schedule=None)
def by_file():
    check = OpenLineageTestOperator(task_id="check", file_path=__file__.replace("dags.py", "by_file.yaml"))
    load(1) >> check


DAGS = many(), wrong(), by_file()
'''

BY_FILE = """
by_file.load.event.start: {run: {runId: !uuid }}
by_file.load.event.complete: {run: {runId: !uuid }}
by_file.event.complete: {}
"""

Run = Callable[..., DagRun]


@pytest.fixture
def run(tmp_path: Path, airflow_metadata: Path) -> Run:
    """Run one of the DAGs in an Airflow of its own, which several runs share."""
    (tmp_path / "dags.py").write_text(DAGS)
    (tmp_path / "by_file.yaml").write_text(BY_FILE)

    def run(dag_id: str, **options: Any) -> DagRun:
        home = tmp_path / "home"
        metadata = {} if (home / "airflow.db").exists() else {"metadata": airflow_metadata}
        return run_dag(tmp_path / "dags.py", dag_id=dag_id, home=home, **metadata, **options)

    return run


def variables(result: DagRun) -> list[str]:
    """Return the keys of events in Airflow's metadata, without the number that makes keys unique."""
    with sqlite3.connect(result.log.parent / "airflow.db") as connection:
        keys = [key for (key,) in connection.execute("select key from variable order by id")]
    return [key.rpartition(".")[0] for key in keys]


@needs_variables
def test_fifty_tasks_that_emit_at_once_lose_nothing(run: Run, tmp_path: Path, airflow_metadata: Path) -> None:
    """Each in a process of its own, into Variables: a hundred events, which the check finds and deletes."""
    settings = {"AIRFLOW__OPENLINEAGE__TRANSPORT": VARIABLES, "AIRFLOW__CORE__PARALLELISM": "16"}
    with worker_processes(tmp_path / "home", airflow_metadata) as workers:
        result = run("many", settings={**workers, **settings})
    assert result.state == "success", result.log.read_text()[-5000:]
    assert list(result.tasks.values()) == ["success"] * 51
    # What is emitted when the check is over stays.
    assert variables(result) == ["many.check.event.complete", "many.event.complete"]


@needs_variables
def test_differing_events_are_kept_and_reported(run: Run) -> None:
    """The task fails with all differences, and its events do not disturb the next run."""
    settings = {"AIRFLOW__OPENLINEAGE__TRANSPORT": VARIABLES}
    result = run("wrong", settings=settings)
    log = result.log.read_text()
    assert (result.state, result.tasks["check"]) == ("failed", "failed")
    assert 'expected  "wrong.unload"' in log
    assert "1 event matches, 1 differs" in log
    assert "kept: the Variables wrong.*" in log
    events = [
        "wrong.load.event.start",
        "wrong.load.event.complete",
        "wrong.check.event.start",
        "wrong.check.event.fail",
        "wrong.event.fail",
    ]
    assert variables(result) == events
    again = run("wrong", settings=settings)
    assert variables(again) == events * 2
    assert "1 event matches, 1 differs" in again.log.read_text()


def test_events_of_a_file_are_those_of_this_run(run: Run) -> None:
    """An expected file of ours is compared with FileTransport's, which has events of another run, too."""
    result = run("by_file")
    assert result.state == "success", result.log.read_text()[-5000:]
    assert "2 events match, 0 differ" in result.log.read_text()
    before = result.events.read_text()
    settings = {"AIRFLOW__OPENLINEAGE__TRANSPORT": transport(result.events.with_name("all.jsonl"))}
    result.events.with_name("all.jsonl").write_text(before)
    again = run("by_file", settings=settings)
    assert again.state == "success", again.log.read_text()[-5000:]


def transport(path: Path) -> str:
    return json.dumps({"type": "file", "log_file_path": str(path), "append": True})
