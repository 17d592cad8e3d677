"""START of an execution is sent while it runs, with what its plan says."""

from __future__ import annotations

import threading

import pytest
from live_session import start_spark

from airflow_provider_spark_lineage.facets.events import RunIdentity
from airflow_provider_spark_lineage.runs.captured import Captured
from airflow_provider_spark_lineage.task.sender import Sender

pytestmark = pytest.mark.spark

DEADLINE_SECONDS = 120


class Backend:
    """Keeps events, and lets a query that runs end when its START has come."""

    def __init__(self, gate):
        self.events = []
        self._gate = gate
        self._changed = threading.Condition()

    def emit(self, event):
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()
        if event.eventType.value == "START":
            self._gate.touch()

    def states(self):
        return [event.eventType.value for event in self.events]

    def waits_for(self, state):
        with self._changed:
            return self._changed.wait_for(lambda: state in self.states(), DEADLINE_SECONDS)


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    spark = start_spark(folder)
    spark.sql("create database there")
    spark.range(3).selectExpr("id", "id * 2 as amount").coalesce(1).write.parquet(str(folder / "orders"))
    spark.read.parquet(str(folder / "orders")).createOrReplaceTempView("orders")
    yield spark
    spark.stop()


@pytest.fixture
def backend(tmp_path):
    return Backend(tmp_path / "gate")


@pytest.fixture
def run(spark, backend, tmp_path):
    """A function that captures an SQL statement in which `slowly(x)` waits for its START; `events` follow."""
    gate = str(tmp_path / "gate")

    def slowly(value):
        import os
        import time

        until = time.monotonic() + DEADLINE_SECONDS
        while not os.path.exists(gate):
            assert time.monotonic() < until, "START was not sent while the query ran"
            time.sleep(0.02)
        return value

    spark.udf.register("slowly", slowly, "long")

    def run(statement):
        sender = Sender(
            RunIdentity("0190a0a0-0000-7000-8000-000000000000", "tests", "dag.task"), backend.emit
        )
        captured = Captured(on_execution=sender.put, on_begin=sender.begin, keep=False)
        captured.start()
        captured.attach(spark)
        try:
            spark.sql(statement).collect()
        finally:
            captured.stop()
            sender.stop(DEADLINE_SECONDS)
        assert captured.problems == []
        return backend.events

    return run


STATEMENTS = {
    "a folder": "insert overwrite directory '{folder}/out' using parquet"
    " select id, slowly(amount) a from orders",
    "a new table": "create table there.made using parquet as select id, slowly(amount) a from orders",
    "a new table with a location": "create table there.placed using parquet location '{folder}/placed'"
    " as select id, slowly(amount) a from orders",
    "a table that exists": "insert into there.before select id, slowly(amount) a from orders",
}


@pytest.mark.parametrize("place", STATEMENTS)
def test_start_comes_before_the_end_and_names_the_same(spark, run, tmp_path, place):
    """The backend shows what a running query reads and will write, by the names of its end."""
    spark.sql("create table if not exists there.before (id long, a long) using parquet")
    started, ended = run(STATEMENTS[place].format(folder=tmp_path))
    assert [started.eventType.value, ended.eventType.value] == ["START", "COMPLETE"]
    assert (started.run.runId, started.job.name) == (ended.run.runId, ended.job.name)
    assert [read.name for read in started.inputs] == [read.name for read in ended.inputs]
    (planned,), (written,) = started.outputs, ended.outputs
    assert planned.name == written.name
    assert planned.facets["schema"].fields == written.facets["schema"].fields
    assert planned.facets.get("symlinks") == written.facets.get("symlinks")
    assert planned.facets["columnLineage"].fields == written.facets["columnLineage"].fields
    assert not planned.outputFacets


def test_a_write_that_fails_ends_without_an_output(run, backend):
    """FAIL does not name the output that START announced: it was not written."""
    with pytest.raises(Exception, match="no such order"):
        run(
            "create table there.failed using parquet as"
            " select slowly(id) a, raise_error('no such order') b from orders"
        )
    assert backend.states() == ["START", "FAIL"]
    assert [written.name for written in backend.events[0].outputs]
    assert backend.events[1].outputs == []


def test_a_query_that_outlives_the_capture_is_aborted(spark, run, backend, tmp_path):
    """A run that has a START has one end, also if another thread runs its query on after the task."""
    statement = STATEMENTS["a folder"].format(folder=tmp_path)
    backend._gate = tmp_path / "elsewhere"
    sender = Sender(RunIdentity("0190a0a0-0000-7000-8000-000000000000", "tests", "dag.task"), backend.emit)
    captured = Captured(on_execution=sender.put, on_begin=sender.begin, keep=False)
    captured.start()
    captured.attach(spark)
    late = threading.Thread(target=lambda: spark.sql(statement).collect())
    late.start()
    try:
        assert backend.waits_for("START")
        captured.stop()
        sender.stop(DEADLINE_SECONDS)
        assert backend.states() == ["START", "ABORT"]
    finally:
        (tmp_path / "gate").touch()
        late.join(DEADLINE_SECONDS)
