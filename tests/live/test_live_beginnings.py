"""START of an execution is sent while it runs, with what its plan says."""

from __future__ import annotations

import threading

import pytest
from beginnings import DEADLINE_SECONDS, Backend, capture, check_named, events_of, register_slowly
from live_session import start_spark

pytestmark = pytest.mark.spark


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
def run(spark, backend):
    """A function that runs an SQL statement in which `slowly(x)` waits for its START, and returns events."""
    return lambda statement: events_of(spark, backend, lambda: spark.sql(statement).collect())


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
    check_named(started, ended)


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


def test_a_query_that_outlives_the_capture_is_aborted(spark, backend, tmp_path):
    """A run that has a START has one end, also if another thread runs its query on after the task."""
    statement = STATEMENTS["a folder"].format(folder=tmp_path)
    register_slowly(spark, backend.gate)
    backend.gate = tmp_path / "elsewhere"
    captured, sender = capture(backend)
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
