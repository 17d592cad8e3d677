"""The agent in drivers that `spark-submit` starts: records are written, and the job is as without it."""

from __future__ import annotations

import os
import signal
import subprocess
import textwrap

import pytest
from servers.spark_home import spark_home

from airflow_provider_spark_lineage.spark.agent.zipped import write_agent
from airflow_provider_spark_lineage.spark.records.record import BEGUN, read_record
from airflow_provider_spark_lineage.spark.records.status import read_notes
from airflow_provider_spark_lineage.spark.runs.executions import Executions
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

pytestmark = pytest.mark.spark

LOAD = """
    import sys
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.getOrCreate()
    spark.range(3).selectExpr("id", "id * 2 as twice").write.parquet(sys.argv[1] + "/in")
    rows = spark.read.parquet(sys.argv[1] + "/in")
    rows.selectExpr("twice + 1 as next").write.parquet(sys.argv[1] + "/out")
"""


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    return write_agent(tmp_path_factory.mktemp("agent") / "agent.zip")


@pytest.fixture
def submit(agent, tmp_path):
    """Return a function that submits a program with the agent, and returns its output."""

    def run(program, *arguments, records=tmp_path / "records", **conf):
        path = tmp_path / "app.py"
        path.write_text(textwrap.dedent(program))
        conf = {
            "spark.ui.enabled": "false",
            "spark.lineage.records": str(records),
            "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
            **conf,
        }
        options = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
        command = ["spark-submit", "--master", "local[1]", "--py-files", str(agent), *options, str(path)]
        return subprocess.run(
            [*command, *map(str, arguments)],
            env={**os.environ, **spark_home()},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )

    return run


def test_a_drivers_executions_are_recorded(submit, tmp_path):
    """Records and a note of a complete capture, although the program fails and does not stop its session."""
    done = submit(LOAD + "    sys.exit(7)\n", tmp_path)
    assert done.returncode == 7, done.stderr
    problems = []
    (note,) = read_notes(tmp_path / "records", problems)
    assert (note.is_complete, note.problems, problems) == (True, [], [])
    text = RecordedFolder(tmp_path / "records").text()
    assert f"reads   file {tmp_path}/in" in text
    assert "next <- in.twice" in text


def test_a_command_is_read_with_the_settings_of_its_session(submit, tmp_path):
    """The listener is there before the first session; each session may set how partitions are overwritten."""
    program = """
        import sys
        from pyspark.sql import SparkSession
        mode = "spark.sql.sources.partitionOverwriteMode"
        first = SparkSession.builder.config(mode, "dynamic").getOrCreate()
        second = first.newSession()
        second.conf.set(mode, "static")
        for number, session in enumerate((first, second)):
            rows = session.range(3).selectExpr("id", "id as day")
            rows.write.partitionBy("day").parquet(f"{sys.argv[1]}/{number}")
            some = rows.where("day > 0").write.partitionBy("day")
            some.mode("overwrite").parquet(f"{sys.argv[1]}/{number}")
    """
    assert submit(program, tmp_path).returncode == 0
    executions = RecordedFolder(tmp_path / "records").executions()
    outputs = [output for execution in executions for output in execution.lineage.outputs]
    assert [output.partial for output in outputs] == [False, True, False, False]


def test_a_driver_that_is_killed_leaves_ended_executions(submit, tmp_path):
    """Of a running execution only its end is lost, and the note says that the end is missing."""
    kill = f"""
    import gzip, os, time, pathlib, threading
    spark.udf.register("slowly", lambda number: time.sleep(60) or number, "long")
    write = rows.selectExpr("slowly(twice) as never").write.parquet
    threading.Thread(target=write, args=(sys.argv[1] + "/never",), daemon=True).start()
    files = pathlib.Path(sys.argv[1], "records")
    def has_begun():
        return any("never" in gzip.open(file, "rt").read() for file in files.glob("*.begun.json.gz"))
    while len([*files.glob("*.record.json.gz")]) < 2 or not has_begun():
        time.sleep(0.05)
    os.kill(os.getpid(), {int(signal.SIGKILL)})
    """
    done = submit(LOAD + kill, tmp_path)
    assert done.returncode
    (note,) = read_notes(tmp_path / "records", [])
    assert not note.is_complete
    assert "next <- in.twice" in RecordedFolder(tmp_path / "records").text()
    # On a slow machine, the first two executions have beginnings, too.
    begun = [Executions().begun(read_record(file)) for file in (tmp_path / "records").glob("*" + BEGUN)]
    outputs = [output.dataset.id.name for running in begun for output in running.lineage.outputs]
    assert f"{tmp_path}/never" in outputs


def test_a_folder_that_cannot_be_written_changes_nothing(submit, tmp_path):
    """The job does its work; the driver's log says that the lineage is lost."""
    (tmp_path / "file").write_text("")
    records = tmp_path / "file" / "records"
    done = submit(LOAD, tmp_path, records=records)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "_SUCCESS").exists()
    # spark-submit passes Python's stderr on as its own standard output.
    assert "Spark lineage: a record could not be written: " in done.stdout


def test_rdds_and_a_second_application_of_one_driver_are_recorded(submit, tmp_path):
    """A program without a session, and one that makes a second context."""
    program = """
    import sys
    from pyspark import SparkContext
    for number in "12":
        context = SparkContext()
        context.parallelize(["a", "b"]).saveAsTextFile(sys.argv[1] + "/lines" + number)
        context.stop()
    """
    done = submit(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [note.is_complete for note in read_notes(tmp_path / "records", [])] == [True, True]
    text = RecordedFolder(tmp_path / "records").text()
    assert "/lines1" in text
    assert "/lines2" in text
