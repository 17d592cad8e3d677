"""Airflow's own operators for jobs of Spark's commands: with auto-capture, with the extractor, with both."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag
from gap_kinds import gap_kinds
from providers import import_or_skip

from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = pytest.mark.airflow
import_or_skip("airflow.providers.apache.spark.operators.spark_pipelines")

JOB = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.read.parquet("s3://lake/orders").write.parquet("s3://lake/job")
"""
COMMAND = """#!/bin/sh
echo "$AIRFLOW_CTX_TASK_ID $(basename $0) $* $PYSPARK_SUBMIT_ARGS" >> "$JOBS_HOME/calls"
"""
EXTRACTOR = {
    "AIRFLOW__OPENLINEAGE__EXTRACTORS": "airflow_provider_spark_lineage.extractors.SparkExtractor",
}
NAMED = {
    "AIRFLOW__SPARK_LINEAGE__EXTRA_OPERATORS": (
        "company.HookOperator = spark-submit; company.HooklessOperator = spark-submit;"
        "company.Other = on the moon"
    ),
}
CAPTURE = {"AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True"}

PLANNED = {"submit": "job", "nightly": "job", "own_hook": "job", "sql": "sql", "hook": "job"}
"""Task -> the output in the text of its job; all read `orders`."""


def run(home: Path, settings: dict[str, str]) -> tuple[DagRun, dict[str, str]]:
    """Return the run, and how each task called a command of Spark."""
    (home / "job.py").write_text(JOB)
    (home / "shop.yml").write_text("name: shop\nlibraries: []\n")
    (home / "bin").mkdir()
    for name in ("spark-submit", "spark-sql", "spark-pipelines"):
        command = home / "bin" / name
        command.write_text(COMMAND)
        command.chmod(0o755)
    dag_run = run_dag(
        Path(__file__).parent / "dags" / "jobs.py",
        home=home / "airflow",
        settings={
            "AIRFLOW_CONN_MACHINE": json.dumps({"conn_type": "spark", "host": "local[1]"}),
            "AIRFLOW_CONN_SHOP": json.dumps({"conn_type": "postgres", "host": "db", "schema": "shop"}),
            "JOBS_HOME": str(home),
            "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            **settings,
        },
    )
    assert dag_run.state == "success", tail(dag_run.log, 60)
    calls = (home / "calls").read_text().splitlines()
    return dag_run, {task: call for task, _, call in (call.partition(" ") for call in calls)}


def events(dag_run: DagRun, kind: str) -> dict[str, dict[str, Any]]:
    """Return the events of tasks of one type, by task."""
    return {
        event.name.removeprefix("jobs."): event.document
        for event in dag_run.read().items
        if event.type == kind and event.name.startswith("jobs.")
    }


def datasets(of: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return the outputs of each task; all read one dataset or nothing."""
    assert all([each["name"] for each in event["inputs"]] in ([], ["orders"]) for event in of.values())
    return {task: each["name"] for task, event in of.items() for each in event["outputs"]}


@pytest.mark.parametrize("settings", [CAPTURE, {**CAPTURE, **EXTRACTOR}], ids=["alone", "with extractor"])
def test_every_job_carries_the_agent(tmp_path, settings):
    """Each START has the lineage of the text; each end has it too if no driver has written records."""
    dag_run, calls = run(tmp_path, {**settings, **NAMED})
    assert datasets(events(dag_run, "start")) == PLANNED
    ends = events(dag_run, "complete")
    assert datasets(ends) == PLANNED
    assert set(calls) == {*PLANNED, "jdbc", "pipeline"}
    assert "spark.lineage" not in calls.pop("own_hook")
    assert gap_kinds(ends["own_hook"])[0] == "not_captured"
    for task, call in calls.items():
        assert "spark.lineage.records=" in call, task
        assert "not_captured" in gap_kinds(ends[task]), task
    for task in ("submit", "nightly", "jdbc", "hook"):
        assert "spark_lineage_agent.zip" in calls[task]
    for task in ("sql", "pipeline"):
        assert "spark.eventLog.enabled=true" in calls[task]
    assert "spark.executor.memory=1g" in calls["hook"], "the hook was made before the operator ran"
    assert gap_kinds(ends["hookless"])[0] == "not_captured"
    [warning] = [line for line in dag_run.log.read_text().splitlines() if "on the moon" in line]
    assert "Write package.module.Class = KIND" in warning


def test_the_extractor_alone_has_the_texts_lineage_and_names_the_setting(tmp_path):
    """Nothing of the job is changed. The provider knows subclasses not at all."""
    dag_run, calls = run(tmp_path, {**EXTRACTOR, **NAMED})
    known = {task: target for task, target in PLANNED.items() if task not in ("nightly", "own_hook")}
    assert datasets(events(dag_run, "start")) == known
    ends = events(dag_run, "complete")
    assert datasets(ends) == known
    assert not any("spark.lineage" in call or "eventLog" in call for call in calls.values())
    for task in (*known, "jdbc", "pipeline", "hookless"):
        assert gap_kinds(ends[task])[0] == "not_captured"
    assert gap_kinds(ends["nightly"]) == []


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {**CAPTURE, **EXTRACTOR, "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_EXCLUDE": "jobs.*"},
        {**CAPTURE, **EXTRACTOR, "AIRFLOW__SPARK_LINEAGE__DISABLED": "True"},
        {**CAPTURE, "AIRFLOW__OPENLINEAGE__SELECTIVE_ENABLE": "True"},
        {**CAPTURE, "AIRFLOW__OPENLINEAGE__DISABLED": "True"},
    ],
    ids=["off", "excluded", "disabled", "selective enable", "no OpenLineage"],
)
def test_a_task_that_is_left_alone_is_as_without_us(tmp_path, settings):
    """Its command has nothing of ours, and neither has an event."""
    dag_run, calls = run(tmp_path, {**settings, **NAMED})
    assert not any("spark.lineage" in call or "eventLog" in call for call in calls.values())
    for kind in ("start", "complete"):
        for event in events(dag_run, kind).values():
            assert (event["inputs"], event["outputs"], gap_kinds(event)) == ([], [], [])
