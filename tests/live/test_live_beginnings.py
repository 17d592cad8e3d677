"""START of an execution is sent while it runs, and an execution may be interrupted then."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from beginnings import DEADLINE_SECONDS, Backend, capture, check_named, events_of, register_slowly
from live_session import start_spark

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.capture import this_process
from airflow_provider_spark_lineage.spark.capture.this_process import Capture
from airflow_provider_spark_lineage.spark.runs.captured import Captured

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


def test_an_append_that_runs_long_makes_its_folder_too(spark, backend, tmp_path):
    """The folder is looked at when the write has ended: at its START nothing can be there yet."""
    out = str(tmp_path / "appended")

    def append():
        rows = spark.sql("select id, slowly(amount) a from orders")
        rows.write.mode("append").parquet(out)

    *_, ended = events_of(spark, backend, append)
    (output,) = ended.outputs
    assert output.facets["lifecycleStateChange"].lifecycleStateChange.value == "CREATE"


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


class TimeIsUpError(BaseException):
    """Raised by a signal in the main thread, as Airflow's `AirflowTaskTimeout` is."""


def time_is_up(*_):
    raise TimeIsUpError


@pytest.fixture
def alarm():
    """Return a function that makes the timer of the process expire now."""
    before = signal.signal(signal.SIGALRM, time_is_up)
    yield lambda _=None: signal.setitimer(signal.ITIMER_REAL, 0.001)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


class TimedBackend(Backend):
    """Makes the time be up when the START of a write has come that cannot end before `gate` is there."""

    def __init__(self, gate, alarm):
        super().__init__(gate)
        self._alarm = alarm

    def emit(self, event):
        super().emit(event)
        if event.eventType.value == "START" and event.outputs[0].name.endswith("/slow"):
            self._alarm()


def write(spark, folder, at_end=lambda: None):
    """Write two folders, the second one until its gate is there; call `at_end` while an error is raised."""
    try:
        spark.table("orders").write.parquet(str(folder / "before"))
        spark.sql("select slowly(id) id from orders").write.parquet(str(folder / "slow"))
    finally:
        at_end()


def names(captured):
    return [written.dataset.id.name.rpartition("/")[2] for written in captured.lineage.outputs]


def test_an_interrupted_write_that_still_ends_is_an_output(spark, tmp_path, alarm, monkeypatch):
    """Spark writes on while `execution_timeout` ends the function; the connection to it is a reply behind."""
    monkeypatch.setattr(this_process, "INTERRUPTED_SECONDS", DEADLINE_SECONDS)
    register_slowly(spark, tmp_path / "gate")
    backend = TimedBackend(tmp_path / "elsewhere", alarm)
    captured, sender = capture(backend)
    captured.attach(spark)

    def stop():
        (tmp_path / "gate").touch()
        captured.stop()
        sender.stop(DEADLINE_SECONDS)

    with pytest.raises(TimeIsUpError):
        write(spark, tmp_path, stop)
    assert captured.problems == []
    assert names(captured) == ["before", "slow"]
    assert backend.states() == ["START", "COMPLETE", "START", "COMPLETE"]


def test_an_interrupted_write_that_runs_on_does_not_hide_what_had_finished(spark, tmp_path, alarm):
    """FAIL has the write before; the other one is unknown, and the end of the task does not wait for it."""
    register_slowly(spark, tmp_path / "gate")
    backend = TimedBackend(tmp_path / "elsewhere", alarm)
    captured, sender = capture(backend)
    captured.attach(spark)

    def stop():
        captured.stop()
        sender.stop(DEADLINE_SECONDS)
        (tmp_path / "gate").touch()

    with pytest.raises(TimeIsUpError):
        write(spark, tmp_path, stop)
    assert captured.problems == ["1 execution was still running when the capture ended"]
    assert names(captured) == ["before"]
    assert backend.states() == ["START", "COMPLETE", "START", "ABORT"]


def test_a_context_that_stops_waits_for_an_interrupted_write(spark, tmp_path, alarm):
    """`spark.stop()` in a `finally` returns after the interrupted call, which by then has written all."""
    records = []
    register_slowly(spark, tmp_path / "gate")

    def begins(record):
        # The first write may take long, too, on a loaded machine.
        if str(tmp_path / "slow") in str(record.facts):
            alarm()

    captured = Capture(records.append, on_begin=begins, drain_timeout_seconds=DEADLINE_SECONDS)
    captured.arm()

    def stop():
        (tmp_path / "gate").touch()
        captured.context_stops(spark.sparkContext)
        captured.disarm()

    with pytest.raises(TimeIsUpError):
        write(spark, tmp_path, stop)
    assert captured.problems == []
    # A write of another test may end now.
    own = [record for record in records if str(tmp_path) in str(record.facts)]
    assert [record.outcome for record in own] == ["success", "success"]


def test_ctrl_c_during_a_write_keeps_what_was_done_before(spark, tmp_path):
    """Without Airflow: PySpark's handler cancels the jobs, on the connection that waits for the write."""
    from py4j.protocol import Py4JError

    register_slowly(spark, tmp_path / "gate")
    trigger = Captured(on_begin=lambda _: os.kill(os.getpid(), signal.SIGINT), keep=False)
    trigger.start()
    try:
        with pytest.raises((KeyboardInterrupt, Py4JError)), capture_lineage(spark) as captured:
            write(spark, tmp_path)
    finally:
        (tmp_path / "gate").touch()
        trigger.stop()
    # It runs on if its Python worker does not notice that it is cancelled.
    assert set(captured.problems) <= {"1 execution was still running when the capture ended"}
    assert names(captured) == ["before"]
