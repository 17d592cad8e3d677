"""`spark-lineage warehouse load` with the events of the example DAGs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.warehouse.asking import current_lineage

README = Path(__file__).resolve().parents[2] / "README.md"
FOLDER = "lineage [1] {b}*"
"""A name that is a pattern for Spark."""

EVENTS = Path(__file__).resolve().parents[1] / "viewer" / "events" / "pipeline.jsonl.gz"


@pytest.mark.spark
def test_the_events_of_the_example_dags_are_loaded(tmp_path):
    """All of them, and the lineage is that of the events; a line that is not an event sets the status."""
    events = tmp_path / "events"
    events.mkdir()
    shutil.copy(EVENTS, events)
    arguments = ["--events", str(events), "--warehouse", str(tmp_path / FOLDER)]
    done = load_in_own_process([*arguments, "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    count = len(read_events(events).items)
    summary = json.loads(done.stdout)
    assert (summary["files"], summary["new_events"], summary["bad_lines"]) == (1, count, 0)
    # README shows this load.
    shown = re.search(r"warehouse load .*\n(.*; )\d", README.read_text(encoding="utf-8"))[1]
    keys = ("files", "events", "new_events", "runs", "new_versions", "bad_lines")
    assert re.findall(r"\d+", shown) == [str(summary[key]) for key in keys]
    loaded, known = current_lineage(tmp_path / FOLDER), Current.of(read_events(events))
    assert {(write.job, write.output, frozenset(write.edges)) for write in loaded.writes} == {
        (write.job, write.output, frozenset(write.edges)) for write in known.writes
    }
    # The picture is drawn from what the load stored.
    page = tmp_path / "page.html"
    arguments_of_show = ["--dataset", "silver/flights", "--depth", "1", "--out", str(page)]
    drawn = CliRunner().invoke(main, ["show", "--warehouse", str(tmp_path / FOLDER), *arguments_of_show])
    assert (drawn.exit_code, drawn.output) == (0, f"{page}\n")
    assert "Around silver/flights" in page.read_text(encoding="utf-8")
    (events / "torn.jsonl").write_text('{"eventType": ')
    again = load_in_own_process(arguments, tmp_path)
    assert again.returncode == 2
    assert again.stdout.startswith("1 file; 0 events, 0 new; 0 runs; 0 new versions; 1 bad line; ")
    assert "spark-lineage: 1 line could not be loaded: see " in again.stderr


@pytest.mark.spark
def test_spark_that_does_not_start_is_one_sentence(tmp_path):
    """It says what Spark says, without a traceback."""
    arguments = ["--events", str(EVENTS), "--warehouse", str(tmp_path / FOLDER)]
    done = load_in_own_process(arguments, tmp_path, "spark.master no-such-master\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "spark-lineage: Spark does not start: " in done.stderr
    assert "Traceback" not in done.stderr


def load_in_own_process(
    arguments: list[str], folder: Path, conf: str = "spark.master local[2]\n"
) -> subprocess.CompletedProcess[str]:
    """Run `warehouse load`: the process of the tests may have another session, or one of Connect."""
    (folder / "spark-defaults.conf").write_text(conf)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SPARK_")}
    return subprocess.run(
        [sys.executable, "-m", "airflow_provider_spark_lineage", "warehouse", "load", *arguments],
        env={**environment, "SPARK_CONF_DIR": str(folder)},
        text=True,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("option", ["--events", "--warehouse"])
def test_a_missing_option_is_one_sentence(option):
    """It names the option."""
    given = {"--events": "events", "--warehouse": "lineage"}
    del given[option]
    done = CliRunner().invoke(main, ["warehouse", "load", *(part for pair in given.items() for part in pair)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"Missing option '{option}'" in done.stderr
