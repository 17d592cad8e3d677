"""`capture_lineage` for code that is no Airflow task: what it hands back. No JVM."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

import airflow_provider_spark_lineage
from airflow_provider_spark_lineage import Captured, capture_lineage
from airflow_provider_spark_lineage.record import Record, write_record

RECORD = Record(
    application_id="app-1",
    application_name="app",
    spark_version="4.1.4",
    agent_version="0",
    number=1,
    name="count",
    started_at="2026-01-01T00:00:00+00:00",
    ended_at="2026-01-01T00:00:01+00:00",
    outcome="success",
)


def ending(captured: Captured) -> str:
    event: dict[str, str] = captured.events(namespace="ns", job="j")[-1]
    return event["eventType"]


def test_an_exception_passes_through_and_the_run_failed():
    """The caller sees the own exception; the events end with FAIL although every execution succeeded."""

    def executes_and_fails(captured: Captured) -> None:
        write_record(captured.directory, RECORD)
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"), capture_lineage() as captured:
        executes_and_fails(captured)
    assert ending(captured) == "FAIL"


def test_without_an_exception_a_failed_execution_decides():
    """Nobody told that the block failed, so it completed unless an execution of it did not."""
    endings = []
    for record in (RECORD, replace(RECORD, outcome="failure", error={"class": "E", "message": "m"})):
        with capture_lineage() as captured:
            write_record(captured.directory, record)
        endings.append(ending(captured))
    assert endings == ["COMPLETE", "FAIL"]


def test_a_block_without_spark_has_no_lineage_and_no_events():
    """A function that did nothing on Spark is no error."""
    with capture_lineage() as captured:
        pass
    assert not captured.lineage
    assert (captured.text(), captured.events(namespace="ns", job="j")) == ("", [])


def test_the_lineage_outlives_the_records():
    """What was worked out once is kept when the folder goes."""
    with capture_lineage() as captured:
        write_record(captured.directory, RECORD)
    applications = captured.run().applications
    captured.discard()
    assert not captured.directory.exists()
    assert captured.run().applications == applications


def test_a_package_without_such_a_name_says_so():
    """A misspelt import fails as any other does."""
    with pytest.raises(AttributeError, match="no attribute 'capture_linage'"):
        _ = airflow_provider_spark_lineage.capture_linage


def test_it_works_where_there_is_no_airflow():
    """A notebook has no Airflow: the whole way from block to events imports none."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.modules['airflow'] = None\n"
            "from airflow_provider_spark_lineage import capture_lineage\n"
            "with capture_lineage() as captured: pass\n"
            "print(captured.events(namespace='n', job='j'), captured.text() == '')",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[] True\n", "")
