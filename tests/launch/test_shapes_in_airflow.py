"""Shapes of scripts with Spark's own `spark-submit`, through Airflow to the events, in one run."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag
from gap_kinds import gap_kinds
from servers.quick_java import quick_java

from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

DAG = Path(__file__).parent / "dags" / "shapes.py"
# Most jobs create no session, which takes most of the time of a job: the agent is in them nevertheless.
JOB = """
import importlib, os, sys, threading
import spark_lineage_agent

name, *words = sys.argv[1:]
assert not [each for each in os.environ["PATH"].split(":") if "spark-lineage" in each]
importlib.import_module("more_lib" if "more_lib" in words else "own_lib")
if name in os.environ["SHAPES_SESSIONS"].split():
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    spark.sql("select 'a' as customer").write.text(f"{os.environ['SHAPES_HOME']}/lake/{name}")
print(name, *words, flush=True)
if "waits" in words:
    with open("ready", "w") as ready:
        print("waits", file=ready)
    threading.Event().wait()
sys.exit("fails" in words)
"""
SESSIONS = ("bash_c", "decorated", "path")
SETTINGS = """
spark.master local[1]
spark.ui.enabled false
spark.log.level OFF
spark.submit.pyFiles {home}/libs/own_lib.py
"""

LOOP = ["loop1", "loop2"]
"""First arguments of the jobs of the task `loop`; all other tasks have one job with their name."""

MASKED = ("eval", "file", "heredoc", "signal", "xargs")
"""Tasks whose arguments are masked, because words may come from input or from another script."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    home = tmp_path_factory.mktemp("shapes")
    for folder in ("lines", "lake", "libs", "conf", "tmp"):
        (home / folder).mkdir()
    (home / "job.py").write_text(JOB)
    (home / "libs" / "own_lib.py").touch()
    (home / "libs" / "more_lib.py").touch()
    (home / "conf" / "spark-defaults.conf").write_text(SETTINGS.format(home=home))
    # Below a path without a space: bash has no functions with other names.
    submit = home / "spark" / "spark-submit"
    submit.parent.mkdir()
    submit.write_text(f"#!/bin/sh\nexec '{shutil.which('spark-submit')}' \"$@\"\n")
    submit.chmod(0o755)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {
        "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
        "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_COMMANDS": "True",
        "AIRFLOW__SPARK_LINEAGE__EXECUTION_EVENTS": "False",
        "SHAPES_HOME": str(home),
        "SHAPES_SESSIONS": " ".join(SESSIONS),
        "SHAPES_SUBMIT": str(submit),
        "SPARK_CONF_DIR": str(home / "conf"),
        "PATH": path,
        "PYSPARK_PYTHON": "python3",
        "JAVA_TOOL_OPTIONS": quick_java(),
        "TMPDIR": str(home / "tmp"),
    }
    return run_dag(DAG, home=home / "airflow", settings=settings, timeout_s=3600)


def shapes() -> dict[str, tuple[str, str]]:
    """Return the shapes of the DAG, which is loaded in Airflow only."""
    text = DAG.read_text()
    names: dict[str, Any] = {"SUBMIT": "/bin/spark-submit", "Path": Path}
    exec(text[text.index("SHAPES = {") : text.index("def writes")], names)  # noqa: S102  our own table
    return names["SHAPES"]


EXPECTED = {name: line for name, (_, line) in shapes().items()} | {"decorated": "decorated"}


def last(run: DagRun, task: str) -> dict[str, Any]:
    return [event.document for event in run.read().items if event.name == f"shapes.{task}"][-1]


@pytest.mark.parametrize("task", [*EXPECTED, "fails"])
def test_a_script_of_each_shape_has_its_records_and_its_output(task, run):
    """The agent in the job, the true arguments or none, and the output that the script has without us.

    Where the job has a session, also its records without a gap.
    """
    event = last(run, task)
    home = Path(run.log).parents[1]
    assert event["eventType"] == ("FAIL" if task == "fails" else "COMPLETE"), tail(run.log, 60)
    if task in EXPECTED:
        assert (home / "lines" / task).read_text() == EXPECTED[task]
    facets = event["run"]["facets"]
    gaps = gap_kinds(event)
    jobs = LOOP if task == "loop" else [task]
    written = [job for job in jobs if job in SESSIONS]
    assert [dataset["name"].rpartition("/")[2] for dataset in event["outputs"]] == written
    assert bool(gaps) is not bool(written), gaps
    arguments = [each["arguments"].split()[0] for each in facets["sparkLineage_launch"]["applications"]]
    assert arguments == (["***"] if task in MASKED else jobs)


def test_nothing_of_ours_stays(run):
    """Neither the shims nor the agent."""
    home = Path(run.log).parents[1]
    assert not [path for path in (home / "tmp").glob("spark-lineage*") if any(path.rglob("*.*"))]
