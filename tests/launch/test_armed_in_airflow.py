"""`[spark_lineage] auto_capture_commands`: commands that carry the agent, through Airflow to the events."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag
from providers import import_or_skip
from servers.commands import write_commands

from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

DAG = Path(__file__).parent / "dags" / "armed.py"
EXTRACTOR = "airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor"
TOTALS = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
lake, target = sys.argv[1:]
spark.sql("select 'a' as customer, 2 as amount").write.parquet(f"{lake}/orders")
orders = spark.read.parquet(f"{lake}/orders")
orders.groupBy("customer").sum("amount").toDF("customer", "total").write.parquet(f"{lake}/{target}")
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return a run with the extractor, or with auto-capture alone; Spark itself runs in the first."""
    known: dict[bool, DagRun] = {}

    def of(*, extractor: bool) -> DagRun:
        if extractor not in known:
            known[extractor] = run_of(tmp_path_factory.mktemp("armed"), extractor=extractor)
        return known[extractor]

    return of


def run_of(home: Path, *, extractor: bool) -> DagRun:
    (home / "totals.py").write_text(TOTALS)
    commands = write_commands(home / "bin")
    # Spark's own command looks for pyspark by this `python3`; it takes no path with a space.
    path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {
        "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
        "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_COMMANDS": "True",
        "AIRFLOW__SPARK_LINEAGE__RECORDS": (home / "records").as_uri(),
        "AIRFLOW__SPARK_LINEAGE__AGENT": str(home / "agent.zip"),
        "ARMED_HOME": str(home),
        "PATH": path,
        "PYSPARK_PYTHON": "python3",
    }
    if extractor:
        settings |= {
            "AIRFLOW__OPENLINEAGE__EXTRACTORS": EXTRACTOR,
            "ARMED_SUBMIT": spark_submit(home),
        }
    with contextlib.ExitStack() as servers:
        with contextlib.suppress(ImportError):
            import airflow.providers.ssh.operators.ssh  # noqa: F401
            from servers.ssh import ssh, ssh_connection

            settings["AIRFLOW_CONN_MACHINE"] = ssh_connection(servers.enter_context(ssh({"PATH": path})))
        from airflow_provider_spark_lineage.spark.agent.zipped import write_agent

        write_agent(home / "agent.zip")
        return run_dag(DAG, home=home / "airflow", settings=settings)


def spark_submit(home: Path) -> str:
    """Return a path of Spark's command without a space: bash has no functions with other names."""
    command = home / "spark" / "spark-submit"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nexec '{shutil.which('spark-submit')}' \"$@\"\n")
    command.chmod(0o755)
    return str(command)


def last(run: DagRun, task: str) -> dict[str, Any]:
    return [event.document for event in run.read().items if event.name == f"armed.{task}"][-1]


def test_spark_itself_says_what_a_command_did(runs):
    """Facts with columns and counts, no gap, an event for each execution; the user's own command."""
    run = runs(extractor=True)
    event = last(run, "totals")
    assert event["eventType"] == "COMPLETE", tail(run.log, 60)
    facets = event["run"]["facets"]
    assert "sparkLineage_gaps" not in facets
    outputs = {dataset["name"].rpartition("/")[2]: dataset for dataset in event["outputs"]}
    columns = outputs["totals"]["facets"]["columnLineage"]["fields"]
    assert [field["field"] for field in columns["total"]["inputFields"]] == ["amount"]
    assert outputs["totals"]["outputFacets"]["outputStatistics"]["rowCount"] == 1
    assert "--py-files" not in json.dumps(event)
    assert facets["sparkLineage_launch"]["applications"][0]["main"] == "totals.py"
    children = {item.name for item in run.read().items if item.name.startswith("armed.totals.")}
    assert any("totals" in name for name in children)


@pytest.mark.parametrize("extractor", [True, False])
@pytest.mark.parametrize("task", ["decorated", "fails", "machine"])
def test_a_command_has_its_records(task, extractor, runs):
    """Also of `@task.bash`, of one that fails, of another machine, without a line for the extractor."""
    run = runs(extractor=extractor)
    if task == "machine":
        import_or_skip("airflow.providers.ssh.operators.ssh")
    event = last(run, task)
    assert event["eventType"] == ("FAIL" if task == "fails" else "COMPLETE"), tail(run.log, 60)
    facets = event["run"]["facets"]
    assert "sparkLineage_gaps" not in facets
    assert [dataset["name"].rpartition("/")[2] for dataset in event["outputs"]] == ["out"]
    assert event["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert facets["sparkLineage_launch"]["applications"]
    if task == "fails":
        # What the provider reports of a command stays.
        assert event["job"]["facets"]["sourceCode"]["language"] == "bash"


@pytest.mark.parametrize("extractor", [True, False])
@pytest.mark.parametrize("task", ["plain", "plain_decorated"])
def test_a_command_without_spark_has_nothing_of_ours(task, extractor, runs):
    event = last(runs(extractor=extractor), task)
    assert not [name for name in event["run"]["facets"] if name.startswith("sparkLineage")]


def test_records_on_a_disk_of_the_worker_are_removed(runs):
    run = runs(extractor=True)
    home = Path(run.log).parents[1]
    assert not [path for path in (home / "records").rglob("*.json*") if "machine" not in str(path)]
