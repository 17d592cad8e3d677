"""An extractor of the user's own for an operator that launches Spark, with auto-capture: the user's wins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from airflow_runs import run_dag
from servers.commands import write_commands

from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = pytest.mark.airflow

DAG = Path(__file__).parent / "dags" / "own_extractor.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> DagRun:
    folder = tmp_path_factory.mktemp("own")
    settings = {
        "AIRFLOW__OPENLINEAGE__EXTRACTORS": "own_extractor.CompanyExtractor",
        "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
        "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_COMMANDS": "True",
        "PATH": f"{write_commands(folder / 'bin')}{os.pathsep}{os.environ['PATH']}",
    }
    return run_dag(DAG, home=folder / "airflow", settings=settings)


@pytest.mark.parametrize(
    ("task", "end", "is_users"),
    [
        ("command", "COMPLETE", True),
        ("decorated", "COMPLETE", True),
        ("EmrAddStepsOperator", "FAIL", True),
        # The provider goes by exact names of classes, so that only this extractor reports on this one.
        ("NightlyStepsOperator", "FAIL", False),
    ],
)
def test_the_users_extractor_reports_alone(task, end, is_users, run):
    """In all events; nothing is added to the command, and no execution has an event."""
    if task not in run.tasks:
        pytest.skip("needs this provider of Airflow")
    events = [event.document for event in run.read().items if event.name.startswith(f"own_extractor.{task}")]
    assert [event["eventType"] for event in events] == ["START", end], tail(run.log, 60)
    for event in events:
        outputs = [(each["namespace"], each["name"]) for each in event["outputs"]]
        assert outputs == ([("company", task)] if is_users else [])
        assert ("sparkLineage_launch" in event["run"]["facets"]) is not is_users
