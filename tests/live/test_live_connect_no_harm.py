"""Spark Connect: a server that goes away, is slow or refuses, and two captures at once, harm no program."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import pyspark
import pytest
from servers.connect import client, connect

from airflow_provider_spark_lineage.spark.capture.connect import execution, script
from airflow_provider_spark_lineage.spark.capture.connect.server import RefusedError, Server
from airflow_provider_spark_lineage.spark.capture.this_process import Capture

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("connect")) as url:
        yield url


@pytest.fixture
def remote(url):
    with client(url) as session:
        yield session


def test_a_server_that_is_slow_to_explain_is_not_waited_for(remote, monkeypatch):
    """The action has its result, and the record has a gap for the plan, also if it comes later."""
    answers = threading.Event()

    def slow(server, relation, seconds):
        answers.wait(seconds)
        return "== Analyzed Logical Plan =="

    monkeypatch.setattr(Server, "explained", slow)
    monkeypatch.setattr(execution, "WAIT_SECONDS", 0.1)
    records = []
    capture = Capture(records.append)
    capture.arm()
    assert remote.range(3).count() == 3
    answers.set()
    capture.disarm()
    (record,) = records
    assert (record.outcome, record.plan_kind) == ("success", "none")
    assert record.problems == ["the server took too long to explain the plan"]


def test_a_server_that_explains_nothing_is_a_gap(remote, monkeypatch):
    """The program goes on, and each record has the reason for its missing plan."""

    def refuses(server, relation, seconds):
        raise RefusedError("PERMISSION_DENIED")

    monkeypatch.setattr(Server, "explained", refuses)
    records = []
    capture = Capture(records.append)
    capture.arm()
    assert remote.range(3).count() == 3
    capture.disarm()
    assert [record.problems for record in records] == [
        ["the server did not explain the plan: PERMISSION_DENIED"]
    ]


SCRIPT = """BEGIN
  INSERT INTO kept SELECT 1;
  CREATE TABLE made USING parquet AS SELECT a FROM kept;
  INSERT INTO kept SELECT a + 1 FROM made;
  DROP TABLE gone;
END"""


@pytest.mark.skipif(pyspark.__version__ < "4", reason="SQL scripts came with 4.0")
@pytest.mark.parametrize("is_slow", [True, False])
def test_a_script_runs_whatever_the_server_answers(remote, monkeypatch, is_slow):
    """Its statements run once, in their order; a server that is slow, or refuses, is a gap of each."""
    answers = threading.Event()

    def refuses(server, relation, seconds=10.0):
        if is_slow:
            answers.wait(seconds)
        raise RefusedError("PERMISSION_DENIED")

    remote.conf.set("spark.sql.scripting.enabled", "true")
    remote.sql("create table kept (a int) using parquet")
    remote.sql("create table gone (a int) using parquet")
    monkeypatch.setattr(execution, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(script, "WAIT_SECONDS", 0.1)
    records = []
    capture = Capture(records.append)
    with monkeypatch.context() as patch:
        patch.setattr(Server, "rows", refuses)
        capture.arm()
        remote.sql(SCRIPT)
        answers.set()
        capture.disarm()
    assert sorted(row.a for row in remote.table("kept").collect()) == [1, 2]
    assert len(records) == 4
    assert all(record.problems and record.outcome == "success" for record in records)
    for table in ("kept", "made"):
        remote.sql(f"drop table {table}")


def test_the_end_of_a_session_loses_nothing(url):
    """The last action of a session is recorded before its program closes it."""
    records = []
    capture = Capture(records.append)
    capture.arm()
    with client(url) as session:
        session.range(3).collect()
    capture.disarm()
    assert [(record.name, record.plan_kind, record.problems) for record in records] == [
        ("collect", "explain", [])
    ]
    assert capture.problems == []


def test_two_captures_record_the_same(remote):
    """Each capture has all that ran while it was on."""
    first, second = [], []
    outer, inner = Capture(first.append), Capture(second.append)
    outer.arm()
    remote.range(1).collect()
    inner.arm()
    remote.range(2).collect()
    outer.disarm()
    remote.range(3).collect()
    inner.disarm()
    assert (len(first), len(second)) == (2, 2)
    assert [*outer.problems, *inner.problems] == []


def test_settings_that_shorten_plans_are_put_back(remote):
    """A wide plan is explained in full, and the session's settings are as they were."""
    names = ("spark.sql.debug.maxToStringFields", "spark.sql.maxMetadataStringLength")
    remote.conf.set(names[0], "30")
    records = []
    capture = Capture(records.append)
    capture.arm()
    remote.range(1).selectExpr(*(f"id as c{number}" for number in range(100))).collect()
    capture.disarm()
    assert remote.conf.get(names[0]) == "30"
    assert remote.conf.get(names[1]) == "100"
    assert "more fields" not in records[0].explain
    assert "c99#" in records[0].explain


def test_rows_that_the_program_ignores_are_not_a_failure(remote):
    """A program that stops reading an iterator has not failed."""
    records = []
    capture = Capture(records.append)
    capture.arm()
    rows = remote.range(1000).toLocalIterator()
    next(iter(rows))
    del rows
    capture.disarm()
    assert [record.outcome for record in records] == ["success"]


@pytest.mark.skipif(pyspark.__version__ < "4", reason="its client makes the views itself")
def test_a_statement_over_a_frame_keeps_its_view(remote, tmp_path):
    """The server drops the views of such a statement when it has analysed it, also for an explanation."""
    capture = Capture([].append)
    capture.arm()
    remote.range(3).write.saveAsTable("kept")
    for number in range(5):
        frame = remote.sql("select id from {rows} where id > {least}", rows=remote.range(9), least=number)
        frame.write.parquet(str(tmp_path / str(number)))
        remote.sql("insert into kept select id from {rows}", rows=frame)
    assert remote.table("kept").count() == 3 + 8 + 7 + 6 + 5 + 4
    capture.disarm()


def test_a_server_that_is_gone_is_the_program_s_failure_alone(tmp_path):
    """The program gets the exception that it would have got, and the records so far are complete."""
    from pyspark.errors import PySparkException

    records = []
    capture = Capture(records.append)
    with connect(tmp_path) as url, client(url) as session:
        capture.arm()
        session.range(3).collect()
        session.client.close()
        with pytest.raises(PySparkException):
            session.range(3).collect()
        capture.disarm()
    assert [record.outcome for record in records][:1] == ["success"]
    assert records[0].plan_kind == "explain"


PROGRAM = """
    import sys
    from airflow_provider_spark_lineage import capture_lineage
    from pyspark.sql import SparkSession

    with capture_lineage() as captured:
        spark = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        spark.range(3).withColumnRenamed("id", "number").write.parquet(sys.argv[1] + "/in")
        spark.read.parquet(sys.argv[1] + "/in").where("number > 0").write.parquet(sys.argv[1] + "/out")
        spark.stop()
    print(captured.text())
"""


def test_remote_local_is_recorded_once(tmp_path):
    """`remote("local[2]")` has its server in this process: each action is recorded on one way alone."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    environment = {**os.environ, "SPARK_TESTING": "1"}
    environment.pop("SPARK_CONNECT_MODE_ENABLED", None)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.replace(str(tmp_path), "")
    assert "writes  file /in   create" in text
    assert "reads   file /in   number bigint" in text
    assert "number <- in.number    direct    identity" in text
    assert "gap" not in text


LOCAL = """
import sys
from pyspark.sql import SparkSession
from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.lineage.text import render

spark = SparkSession.builder.remote("local[1]").getOrCreate()
with capture_lineage(spark) as captured:
    spark.range(3).write.parquet(sys.argv[1] + "/full")
    spark.range(3).write.mode("ignore").parquet(sys.argv[1] + "/full")
    spark.range(3).write.mode("overwrite").parquet("relative")
    spark.range(3).write.saveAsTable("t")
    spark.sql("create table if not exists u (a int) using parquet")
    spark.sql("drop table if exists nowhere")
print(render(captured.lineage))
"""


def test_a_local_server_prints_no_error_of_our_requests(tmp_path):
    """A server that pyspark starts in the program's process shares its log: nothing of ours may be in it."""
    done = subprocess.run(
        [sys.executable, "-c", LOCAL, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert not [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("\tat ")]
    writes = [line for line in done.stdout.splitlines() if line.startswith("writes")]
    assert writes == [
        f"writes  file {tmp_path}/full   create",
        f"writes  file {tmp_path}/relative   overwrite",
        f"writes  file {tmp_path}/spark-warehouse/t   create",
        f"writes  file {tmp_path}/spark-warehouse/u   create",
    ]
