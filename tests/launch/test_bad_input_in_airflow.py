"""Users' mistakes: the task ends as without lineage, its event has the known part, and a gap the rest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag
from gap_kinds import gap_kinds
from openlineage_client import known_problems_of
from servers.commands import write_commands

from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = pytest.mark.airflow

DAG = Path(__file__).parent / "dags" / "bad_input.py"
EXTRACTOR = "airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor"

NO_TEXT, UNREAD, UNREAD_TEXT = "not_captured", "unread_program", "unread_text"
CASES = {
    # Task: how it ends, the application's file, a kind among its gaps, lines of the log that warn of it.
    "broken_script": ("COMPLETE", "broken.py", UNREAD, 0),
    "not_a_text": ("COMPLETE", "bytes.py", UNREAD, 1),
    "no_script": ("COMPLETE", "missing.py", NO_TEXT, 0),
    "broken_statements": ("COMPLETE", "broken.sql", UNREAD_TEXT, 0),
    "malformed": ("COMPLETE", None, UNREAD_TEXT, 1),
    "no_template": ("FAIL", "a.py", NO_TEXT, 0),
    "no_variable": ("FAIL", "a.py", NO_TEXT, 0),
    "no_machine": ("FAIL", "/a.py", NO_TEXT, 0),
    "malformed_steps": ("FAIL", None, UNREAD_TEXT, 1),
    "malformed_parameters": ("FAIL", None, UNREAD_TEXT, 1),
    "no_connection": ("FAIL", "local:///a.py", NO_TEXT, 0),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> DagRun:
    folder = tmp_path_factory.mktemp("bad")
    (folder / "broken.py").write_text("def (:\n")
    (folder / "bytes.py").write_bytes(b"\xff\xfe not a text")
    (folder / "broken.sql").write_text("insert into from;")
    settings = {
        "AIRFLOW__OPENLINEAGE__EXTRACTORS": EXTRACTOR,
        "BAD_INPUT_JOBS": str(folder),
        "PATH": f"{write_commands(folder / 'bin')}{os.pathsep}{os.environ['PATH']}",
    }
    return run_dag(DAG, home=folder / "airflow", settings=settings)


@pytest.mark.parametrize("task", CASES)
def test_a_mistake_is_an_event_with_a_gap(task, run):
    """No exception of ours, and at most one warning of it."""
    end, main, wanted, warnings = CASES[task]
    if task not in run.tasks:
        pytest.skip("needs this provider of Airflow")
    events: list[dict[str, Any]] = [
        event.document for event in run.read().items if event.name == f"bad_input.{task}"
    ]
    last = events[-1]
    assert last["eventType"] == end, tail(run.log, 60)
    assert known_problems_of(last) == []
    assert (last["inputs"], last["outputs"]) == ([], [])
    for event in events if main is not None else ():
        [application] = event["run"]["facets"]["sparkLineage_launch"]["applications"]
        assert application["main"] == main
    assert wanted in gap_kinds(last)
    assert wanted == NO_TEXT or NO_TEXT not in gap_kinds(last)
    reasons = {gap["kind"]: gap["reason"] for gap in last["run"]["facets"]["sparkLineage_gaps"]["gaps"]}
    lines = [line for line in Path(run.log).read_text().splitlines() if reasons[wanted] in line]
    assert len(lines) == warnings, lines


def test_only_mistakes_of_the_cases_are_warnings(run):
    """An unreadable text is reported once, at the end, not when the task starts too."""
    lines = [line for line in Path(run.log).read_text().splitlines() if "Spark lineage:" in line]
    expected = sum(warnings for task, (*_, warnings) in CASES.items() if task in run.tasks)
    assert len(lines) == expected, lines


def test_no_exception_of_ours_is_in_the_log(run):
    log = Path(run.log).read_text()
    assert "airflow_provider_spark_lineage/" not in log.replace(str(DAG), "")
