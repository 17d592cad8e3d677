"""`capture_lineage` for code outside of Airflow, and its return value. No JVM."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

import airflow_provider_spark_lineage
from airflow_provider_spark_lineage import Captured, capture_lineage
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.records.usage import StageUsage, Usage
from airflow_provider_spark_lineage.spark.runs import captured as captured_module
from airflow_provider_spark_lineage.spark.runs import executions as executions_module
from airflow_provider_spark_lineage.spark.runs.executions import explained
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

RECORD = Record(
    application_id="app-1",
    application_name="app",
    spark_version="4.1.4",
    number=1,
    name="count",
    started_at="2026-01-01T00:00:00+00:00",
    ended_at="2026-01-01T00:00:01+00:00",
    outcome="success",
)


def ending(captured: Captured) -> str:
    event: dict[str, str] = captured.events(namespace="ns", job="j")[-1]
    return event["eventType"]


def test_the_java_agent_of_a_connect_server_is_seen():
    """The server's settings have its listeners; this process has no Spark context that could be asked."""
    captured = Captured()
    assert not captured.agent_configured
    listeners = "a.Other,io.openlineage.spark.agent.OpenLineageSparkListener"
    captured._capture._describe(Application("app-1", "app", "4.1.4"), {"spark.extraListeners": listeners})
    assert captured.agent_configured


def test_records_in_a_folder_give_the_events_of_the_capture(tmp_path):
    """What the application was and used is beside its records, so their events lack no facet of the run."""
    captured = Captured(directory=tmp_path)
    slow = StageUsage(1, execution=1, elapsed_ms=90_000, run_ms=90_000, disk_spilled_bytes=9, tasks=4)
    usage = Usage(jobs=1, stages=1, tasks=4, span_ms=90_000, run_ms=90_000, longest_stages=(slow,))
    application = Application("app-1", "app", "4.1.4", user="ana", java_version="17", usage=usage)
    captured._capture._describe(application, {"spark.master": "local[4]"})
    captured.write(RECORD)
    captured.stop()
    events = RecordedFolder(tmp_path).events(namespace="ns", job="j")
    assert events == captured.events(namespace="ns", job="j")
    facets = {"spark_applicationDetails", "spark_properties", "sparkLineage_resources"}
    assert facets | {"sparkLineage_bottlenecks"} <= events[-1]["run"]["facets"].keys()


def test_an_exception_passes_through_and_the_run_failed():
    """The caller sees the own exception; the events end with FAIL although every execution succeeded."""

    def executes_and_fails(captured: Captured) -> None:
        captured.write(RECORD)
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"), capture_lineage() as captured:
        executes_and_fails(captured)
    assert ending(captured) == "FAIL"


FAILED = replace(RECORD, outcome="failure", error={"class": "E", "message": "m"})


def test_a_block_that_ended_well_completed():
    """Whoever catches the failure of a query and goes on has not failed, as a task has not."""
    with capture_lineage() as captured:
        captured.write(FAILED)
    assert ending(captured) == "COMPLETE"


def test_a_capture_ended_by_hand_fails_if_an_execution_failed():
    """A capture that is begun and ended by hand hears of no exception."""
    endings = []
    for record in (RECORD, FAILED):
        captured = Captured()
        captured.write(record)
        captured.stop()
        endings.append(ending(captured))
    assert endings == ["COMPLETE", "FAIL"]


def test_a_block_without_spark_began_and_ended():
    """A function that did nothing on Spark is not an error: its run has no datasets."""
    with capture_lineage() as captured:
        pass
    assert not captured.lineage
    assert captured.text() == ""
    events = captured.events(namespace="ns", job="j")
    assert [(event["eventType"], event["inputs"], event["outputs"]) for event in events] == [
        ("START", [], []),
        ("COMPLETE", [], []),
    ]
    assert events == captured.events(namespace="ns", job="j")


def test_the_lineage_needs_no_records():
    """A task keeps none of its records, and has their lineage all the same."""
    captured = Captured(keep=False)
    captured.write(RECORD)
    captured.stop()
    assert list(captured.executions()) == []
    assert [application.id for application in captured.run().applications] == [RECORD.application_id]


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
            "print(len(captured.events(namespace='n', job='j')), captured.text() == '')",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("2 True\n", "")


def test_the_plan_of_a_record_is_read_from_its_text_once(monkeypatch):
    """Its text may be megabytes, and everything after the first reading has the plan."""
    read: list[Record] = []

    def counting(record: Record) -> Record:
        read.append(record)
        return explained(record)

    for module in (captured_module, executions_module):
        monkeypatch.setattr(module, "explained", counting)
    reads = {
        "capture": lambda: Captured().write(RECORD),
        "records": lambda: [*executions_module.executions([RECORD])],
        "beginning": lambda: executions_module.Executions().begun(RECORD),
        "lineage": lambda: executions_module.execution_lineage(RECORD),
    }
    for name, call in reads.items():
        read.clear()
        call()
        assert len(read) == 1, name
