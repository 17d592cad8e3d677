"""Errors of a script match `python SCRIPT`, under `spark-lineage run` and with a driver's agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import failing
import pytest
from servers.spark_home import spark_home

from airflow_provider_spark_lineage.spark.agent.zipped import write_agent
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

pytestmark = pytest.mark.spark


@pytest.fixture
def errors_of(tmp_path):
    """Return a function that runs the failing programs by a command, and returns their output."""

    def run(*command, **conf):
        out = tmp_path / "errors.json"
        out.unlink(missing_ok=True)
        conf = {
            "spark.master": "local[1]",
            "spark.ui.enabled": "false",
            "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
            **conf,
        }
        options = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
        script = [failing.__file__, str(tmp_path), str(out)]
        is_submit = command[0] == "spark-submit"
        environment = {**os.environ, **spark_home()}
        if not is_submit:
            environment["PYSPARK_SUBMIT_ARGS"] = " ".join([*options, "pyspark-shell"])
        done = subprocess.run(
            [*command, *(options if is_submit else ()), *script],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert out.exists(), done.stdout + done.stderr
        texts = json.loads(out.read_text())
        if sys.version_info < (3, 11):
            # A bare `raise` adds the frame of capture's wrapper of the method.
            for error in texts.values():
                error["frames"] = [frame for frame in error["frames"] if frame != "hooks.py call"]
        return texts

    return run


def test_errors_are_those_of_python(errors_of, tmp_path):
    """All kinds of errors in one script: Java's and PySpark's output of each, and the frames of both."""
    expected = errors_of(sys.executable)
    assert list(expected) == list(failing.PROGRAMS)
    main = "from airflow_provider_spark_lineage.cli import main; main()"
    recorded = tmp_path / "run"
    assert errors_of(sys.executable, "-c", main, "run", "--records", str(recorded)) == expected
    agent = write_agent(tmp_path / "agent.zip")
    written = tmp_path / "submitted"
    options = {"spark.submit.pyFiles": str(agent), "spark.lineage.records": str(written)}
    assert errors_of("spark-submit", **options) == expected
    for folder in (recorded, written):
        records = list(RecordedFolder(folder).executions())
        assert len(records) >= len(failing.PROGRAMS) / 2, "failed queries are executions"
