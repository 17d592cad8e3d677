"""`spark-lineage warehouse load` with the events of the example DAGs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.warehouse.asking import current_lineage

EVENTS = Path(__file__).resolve().parents[1] / "viewer" / "events" / "pipeline.jsonl.gz"


@pytest.mark.spark
def test_the_events_of_the_example_dags_are_loaded(tmp_path, monkeypatch):
    """All of them, and the lineage is that of the events; a line that is not an event sets the status."""
    from spark_packages import settings  # a JVM takes its jars when it starts

    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    texts = [f"{key} {value}\n" for key, value in {**settings(), "spark.master": "local[2]"}.items()]
    (tmp_path / "spark-defaults.conf").write_text("".join(texts))
    events = tmp_path / "events"
    events.mkdir()
    shutil.copy(EVENTS, events)
    arguments = ["warehouse", "load", "--events", str(events), "--warehouse", str(tmp_path / "lineage")]
    done = CliRunner().invoke(main, [*arguments, "--json"])
    assert done.exit_code == 0, done.stderr
    count = len(read_events(events).items)
    summary = json.loads(done.stdout)
    assert (summary["files"], summary["new_events"], summary["bad_lines"]) == (1, count, 0)
    loaded, known = current_lineage(tmp_path / "lineage"), Current.of(read_events(events))
    assert {(write.job, write.output, frozenset(write.edges)) for write in loaded.writes} == {
        (write.job, write.output, frozenset(write.edges)) for write in known.writes
    }
    (events / "torn.jsonl").write_text('{"eventType": ')
    again = CliRunner().invoke(main, arguments)
    assert again.exit_code == 2
    assert again.stdout.startswith("1 file; 0 events, 0 new; 0 runs; 0 new versions; 1 bad line; ")
    assert again.stderr.startswith("spark-lineage: 1 line could not be loaded: see ")


@pytest.mark.parametrize("option", ["--events", "--warehouse"])
def test_a_missing_option_is_one_sentence(option):
    """It names the option."""
    given = {"--events": "events", "--warehouse": "lineage"}
    del given[option]
    done = CliRunner().invoke(main, ["warehouse", "load", *(part for pair in given.items() for part in pair)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"Missing option '{option}'" in done.stderr
