"""Lineage of a launched application: its records if they can be read, else its text, else a gap."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from gap_kinds import gap_kinds
from recordings import Recording

from airflow_provider_spark_lineage.airflow.launch.application import (
    JAR,
    PYTHON,
    SQL,
    Launch,
    LaunchedApplication,
)
from airflow_provider_spark_lineage.airflow.launch.collector import Launched
from airflow_provider_spark_lineage.airflow.launch.planned_applications import planned_of
from airflow_provider_spark_lineage.airflow.launch.shell.applications import of_words
from airflow_provider_spark_lineage.airflow.submitted.planned import certain
from airflow_provider_spark_lineage.spark.records.record import Record, encode_record
from airflow_provider_spark_lineage.spark.records.status import UNFINISHED, DriverNote

RECORD = Record.from_json(json.loads(Recording("scan_write_parquet").lines[0]))
SINCE = datetime(2024, 1, 1, tzinfo=timezone.utc)
SCRIPT = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.read.parquet(sys.argv[1]).write.parquet(sys.argv[2])
"""


def script(path: Path, *arguments: str | None, **fields: object) -> LaunchedApplication:
    path.write_text(SCRIPT)
    return LaunchedApplication(PYTHON, main=str(path), arguments=arguments, **{"is_here": True, **fields})


def names(lineage):
    return [each.dataset.id.name for each in lineage.inputs], [
        each.dataset.id.name for each in lineage.outputs
    ]


# ---- texts -----------------------------------------------------------------------------------------------


def test_a_script_of_this_worker_is_certain(tmp_path):
    lineage, _ = planned_of([script(tmp_path / "a.py", "s3://b/in", "s3://b/out")])
    assert names(lineage) == (["in"], ["out"])
    assert certain(lineage)


def test_modules_of_a_script_are_read(tmp_path):
    """Those beside it, and those that `--py-files` names on this worker."""
    (tmp_path / "jobs").mkdir()
    main = tmp_path / "jobs" / "a.py"
    main.write_text("import b, c\nb.read('s3://b/in')\nc.read('s3://b/given')")
    for path in (main.with_name("b.py"), tmp_path / "c.py"):
        path.write_text("def read(path): spark.read.csv(path)")
    words = ["spark-submit", "--py-files", f"s3://b/z.zip,{tmp_path}/c.py", str(main)]
    [submitted] = of_words(words)
    lineage, _ = planned_of([replace(submitted, is_here=True)])
    assert names(lineage) == (["given", "in"], [])
    assert certain(lineage)


def test_a_dataset_between_two_applications_is_the_tasks_own(tmp_path):
    """A script of two commands is one task: a dataset between them is not an input."""
    path = tmp_path / "a.py"
    both = [script(path, "s3://b/in", "s3://b/between"), script(path, "s3://b/between", "s3://b/out")]
    lineage, _ = planned_of(both)
    assert names(lineage) == (["in"], ["between", "out"])
    assert gap_kinds(lineage) == ["planned"]


def test_a_file_of_this_name_on_another_machine_may_be_another(tmp_path):
    """The gap keeps its datasets from the START event."""
    lineage, _ = planned_of([script(tmp_path / "a.py", "s3://b/in", "s3://b/out", is_here=False)])
    assert names(lineage) == (["in"], ["out"])
    assert "uncertain_change" in gap_kinds(lineage)
    assert not certain(lineage)


def test_an_argument_that_is_not_known_makes_no_name(tmp_path):
    """Neither do those behind it, whose numbers it may change."""
    lineage, _ = planned_of([script(tmp_path / "a.py", None, "s3://b/out")])
    assert names(lineage) == ([], [])
    assert "not_constant" in gap_kinds(lineage)


@pytest.mark.parametrize("main", ["a.py", "s3://b/a.py", "hdfs:///a.py", ""])
def test_a_text_elsewhere_is_not_read(main, tmp_path, monkeypatch):
    """A relative path belongs to the folder where the command runs, not to this process."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SCRIPT)
    assert (
        planned_of([LaunchedApplication(PYTHON, main=main, arguments=("s3://b/in", "s3://b/out"))])[0] is None
    )


@pytest.mark.parametrize("scheme", ["", "file://", "local://"])
def test_statements_of_a_file_have_their_variables(scheme, tmp_path):
    text = "insert overwrite directory 's3://b/${day}' using parquet select * from parquet.`s3://b/in`"
    (tmp_path / "q.sql").write_text(text)
    main = f"{scheme}{tmp_path / 'q.sql'}"
    assert names(planned_of([LaunchedApplication(SQL, main=main, variables={"day": "1"})])[0]) == (
        ["in"],
        ["1"],
    )


def test_a_text_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "a.py"
    application = script(path)
    path.write_text("#" * 200_001)
    assert planned_of([application])[0] is None


# ---- records ---------------------------------------------------------------------------------------------


@pytest.fixture
def base(tmp_path):
    return tmp_path / "records"


def written(folder: Path, *, complete: bool = True, record: Record = RECORD) -> None:
    """Write the files of a driver with the agent."""
    folder.mkdir(parents=True, exist_ok=True)
    note = DriverNote(
        record.application_id, record.application_name, record.spark_version, is_complete=complete
    )
    for name, content in (encode_record(record), note.encode()):
        (folder / name).write_bytes(content)


def launched(
    base: str | Path, *places: str | Path, since: datetime | None = SINCE, run_id: str = "records"
) -> Launched:
    applications = (
        LaunchedApplication(JAR, main="a.jar", conf={"spark.lineage.records": str(place)}) for place in places
    )
    collector = Launched(Launch(tuple(applications)), str(base), since, run_id=run_id)
    collector.stop()
    return collector


def test_records_below_the_configured_place_are_facts(base):
    written(base / "run")
    for place in (base / "run", (base / "run").as_uri() + "/"):
        configured = base.as_uri() if "://" in str(place) else base
        collector = launched(configured, place)
        assert collector.run().lineage.outputs[0].edges
        assert collector.run().problems == ()
        assert collector.planned is None


def test_records_of_earlier_runs_are_not_this_tasks(base):
    """The same folder for every run: files older than the try belong to another one."""
    written(base)
    for path in base.iterdir():
        os.utime(path, (1, 1))
    collector = launched(base, base)
    assert not collector.run().lineage
    assert "has written nothing" in collector.run().problems[0]
    assert not launched(base, base, since=None).run().lineage


def test_records_of_an_application_that_began_before_are_not_this_tasks(base):
    """Its files may be as new as the task: a driver of another run that goes on writing."""
    written(base)
    began = datetime.fromisoformat(RECORD.started_at.replace("Z", "+00:00"))
    later = launched(base, base, since=began + timedelta(seconds=1))
    assert not later.run().lineage
    assert "has written nothing" in later.run().problems[0]
    assert launched(base, base, since=began).run().lineage


@pytest.mark.parametrize(
    ("run_id", "folder", "is_certain"),
    [
        ("manual__2026-01-01T00:00:00+00:00", "manual__2026-01-01T00:00:00+00:00", True),
        ("manual__2026-01-01T00:00:00+00:00", "manual__2026-01-01T00_00_00_00_00", True),
        ("manual__2026-01-01T00:00:00+00:00", "orders", False),
        ("", "orders", False),
    ],
)
def test_a_place_of_all_runs_is_a_gap(base, run_id, folder, is_certain):
    """At the same time, another run may write there."""
    written(base / folder)
    run = launched(base, base / folder, run_id=run_id).run()
    assert run.lineage.outputs
    assert ("uncertain_change" in gap_kinds(run.lineage)) is not is_certain


def test_records_of_two_applications_are_nobodys(base):
    """Two tasks that share a folder at the same time: no guess."""
    written(base)
    other = encode_record(RECORD)[0].replace(RECORD.application_id, "other")
    (base / other).write_bytes(encode_record(RECORD)[1])
    (base / "other.driver.json").write_bytes(DriverNote("other", "o", "4.1", is_complete=True).encode()[1])
    collector = launched(base, base)
    assert not collector.run().lineage
    assert gap_kinds(collector.run().lineage)[0] == "not_captured"


@pytest.mark.parametrize(
    ("configured", "place", "advice"),
    [
        ("/records", "/recordings/x", "not below"),
        ("/records", "/records/../etc", "not below"),
        ("s3a://b/records", "s3a://b/records/x", "cannot read as a local folder"),
    ],
)
def test_records_elsewhere_are_a_gap_that_says_what_to_do(configured, place, advice):
    assert advice in launched(configured, place).run().problems[0]


def test_without_the_option_no_place_is_read(base):
    """A user's `spark.lineage.records` alone gives no task the right to read that folder."""
    written(base)
    assert not launched("", base).run().lineage


def test_a_driver_that_runs_on_or_was_killed_is_a_gap(base):
    written(base, complete=False)
    run = launched(base, base).run()
    assert run.lineage.outputs
    assert run.problems == (UNFINISHED,)


def test_a_driver_that_did_nothing_has_no_plan(base, tmp_path):
    """Its note proves that it ran: the datasets of a text would be more than it did."""
    written(base)
    next(base.glob("*.json.gz")).unlink()
    application = script(
        tmp_path / "a.py", "s3://b/in", "s3://b/out", conf={"spark.lineage.records": str(base)}
    )
    collector = Launched(Launch((application,)), str(base), SINCE)
    collector.stop()
    assert collector.planned is None
    assert not collector.run().lineage


def test_a_problem_of_the_launch_is_one_warning(caplog):
    collector = Launched(Launch(problems=("it could not be read",)), "", SINCE)
    collector.stop()
    collector.stop()
    assert gap_kinds(collector.run().lineage) == ["unread_text"]
    assert caplog.text.count("it could not be read") == 1
