"""Real operators of a shell, through the listener to the events: with the extractor and without."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from airflow_runs import run_dag, stored_of
from gap_kinds import gap_kinds
from openlineage_client import known_problems_of

from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = pytest.mark.airflow

DAG = Path(__file__).parent / "dags" / "commands.py"
EXTRACTOR = "airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor"
COPY = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.read.parquet(sys.argv[1]).write.parquet(sys.argv[2])
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run of the DAG, with the extractor or without, and with auto-capture or without."""
    runs = {}

    def cached(*, extractor: bool, auto_capture: bool = False) -> DagRun:
        if (extractor, auto_capture) not in runs:
            folder = tmp_path_factory.mktemp("commands")
            (folder / "copy.py").write_text(COPY)
            for name in ("spark-submit", "spark-sql"):
                command = folder / "bin" / name
                command.parent.mkdir(exist_ok=True)
                command.write_text("#!/bin/sh\n")
                command.chmod(0o755)
            settings = {
                "COMMANDS_JOBS": str(folder),
                "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
                **({"AIRFLOW__OPENLINEAGE__EXTRACTORS": EXTRACTOR} if extractor else {}),
                "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": str(auto_capture),
            }
            runs[extractor, auto_capture] = run_dag(DAG, home=folder / "airflow", settings=settings)
        return runs[extractor, auto_capture]

    return cached


def events(run: DagRun, task: str) -> list[dict]:
    documents = [event.document for event in run.read().items if event.name == f"commands.{task}"]
    assert next(event["eventType"] for event in documents) == "START", tail(run.log, 40)
    return documents


def names(event: dict) -> tuple[list[str], list[str]]:
    return [each["name"] for each in event["inputs"]], [each["name"] for each in event["outputs"]]


def gaps(event: dict) -> list[str]:
    return gap_kinds(event)


def test_a_script_that_the_command_submits(run):
    """Planned datasets at START and COMPLETE; the provider's own facets stay, and secrets do not."""
    start, complete = events(run(extractor=True), "submitted")
    for event in (start, complete):
        assert names(event) == (["orders"], ["submitted"])
        assert event["job"]["facets"]["sourceCode"]["language"] == "bash"
        facet = event["run"]["facets"]["sparkLineage_launch"]
        [application] = facet["applications"]
        assert {key: application[key] for key in ("type", "main", "arguments")} == {
            "type": "python",
            "main": "copy.py",
            "arguments": "${LAKE}/orders ${LAKE}/submitted --password ***",
        }
    assert gaps(start) == []
    assert gaps(complete) == ["planned"]
    [gap] = complete["run"]["facets"]["sparkLineage_gaps"]["gaps"]
    assert "auto_capture_commands" in gap["reason"], "it names the option that would mend it"


def test_statements_of_tables_are_named_on_complete_alone(run):
    """A table is named by its location, which the text does not have."""
    start, complete = events(run(extractor=True), "statements")
    assert names(start) == ([], [])
    assert [len(each) for each in names(complete)] == [1, 1]
    assert len(gaps(complete)) > 1


@pytest.mark.parametrize("task", ["statements", "malformed", "elsewhere"])
def test_start_says_why_it_has_no_datasets(run, task):
    """The same reasons as the end has, where nothing more is known then."""
    start, complete = events(run(extractor=True), task)
    assert names(start) == ([], [])
    assert gaps(start)
    assert {*gaps(start)} <= {*gaps(complete)}


def test_a_malformed_command_is_one_warning_and_one_gap(run):
    _, complete = events(run(extractor=True), "malformed")
    assert names(complete) == ([], [])
    [gap] = complete["run"]["facets"]["sparkLineage_gaps"]["gaps"]
    assert gap["kind"] == "unread_text"
    assert Path(run(extractor=True).log).read_text().count(gap["reason"]) == 1


@pytest.mark.parametrize("task", ["submitted", "malformed", "failed", "decorated"])
def test_events_are_valid(run, task):
    """With our facets and the provider's in them."""
    for event in events(run(extractor=True), task):
        assert known_problems_of(event) == []


def test_a_failed_task_has_no_datasets_of_a_text(run):
    """The text of a script does not show how much of it ran."""
    start, failed = events(run(extractor=True), "failed")
    assert failed["eventType"] == "FAIL"
    assert names(start) == (["a"], ["b"])
    assert names(failed) == ([], [])
    assert failed["run"]["facets"]["sparkLineage_launch"]


def test_a_decorated_function_has_its_command_when_it_ran(run):
    start, complete = events(run(extractor=True), "decorated")
    assert names(start) == ([], [])
    assert names(complete) == (["in"], ["out"])


def test_a_command_without_spark_has_the_events_that_it_has_without_us(run):
    """The same facets with the same content, apart from ids and times."""
    with_ours, without = (events(run(extractor=each), "plain") for each in (True, False))
    assert [shape(event) for event in with_ours] == [shape(event) for event in without]


@pytest.mark.parametrize("task", ["submitted", "malformed", "failed", "decorated", "plain"])
def test_auto_capture_alone_gives_the_same_events(run, task):
    """With the facets of the provider's own extractor, which the provider would otherwise ask."""
    runs = (run(extractor=True), run(extractor=False, auto_capture=True))
    by_extractor, by_plugin = (
        json.dumps([shape(event) for event in events(each, task)], indent=1).replace(
            str(each.log.parents[1]), "<jobs>"
        )
        for each in runs
    )
    assert by_plugin == by_extractor


@pytest.mark.parametrize("extractor", [True, False], ids=["extractor", "auto_capture"])
def test_a_command_without_a_dataset_is_stored(run, extractor):
    """With its application, and with the gap that says why there is none; a command without Spark is not."""
    dag_run = run(extractor=extractor, auto_capture=not extractor)
    items = stored_of(dag_run.log.parents[1] / "airflow")
    assert {task for task, _ in items} == {
        "submitted",
        "statements",
        "malformed",
        "failed",
        "elsewhere",
        "decorated",
    }
    event = items["elsewhere", -1].events[-1]
    assert names(event) == ([], [])
    assert event["run"]["facets"]["sparkLineage_launch"]["applications"][0]["main"] == "s3://code/job.py"
    assert gaps(event)


def shape(event: dict) -> dict:
    run_facets = dict(event["run"]["facets"])
    # Times, ids and settings of the two runs.
    varying = {"airflow", "airflowState", "nominalTime", "parent", "debug", "unknownSourceAttribute"}
    return {
        "type": event["eventType"],
        "datasets": names(event),
        "job": event["job"],
        "run facets": sorted(run_facets),
        "same": {name: facet for name, facet in run_facets.items() if name not in varying},
    }
