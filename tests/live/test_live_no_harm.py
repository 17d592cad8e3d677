"""Capture never fails, blocks or changes a job, whatever goes wrong in it or beside it."""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
from dataclasses import replace

import pytest

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.capture.this_process import Capture
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.sources import PROBES

pytestmark = pytest.mark.spark

OURS = "airflow_provider_spark_lineage"
BLOCKS_SECONDS = 120


class UserListener:
    """A listener of the user's own, in Python."""

    def __init__(self):
        self.seen = []
        self.gate = threading.Event()
        self.gate.set()

    def onSuccess(self, name, execution, duration):  # noqa: N802
        self.gate.wait(BLOCKS_SECONDS)
        self.seen.append(name)

    def onFailure(self, name, execution, error):  # noqa: N802
        self.seen.append(name)

    class Java:
        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


@pytest.fixture
def user_listener(spark):
    """A user's listener that is registered, and let go of at the end."""
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(spark.sparkContext._gateway)
    listener = UserListener()
    spark._jsparkSession.listenerManager().register(listener)
    yield listener
    listener.gate.set()
    spark._jsparkSession.listenerManager().clear()


def test_a_users_listener_keeps_working(spark, recorded, user_listener, wait_for_bus):
    """Registered before us, it hears everything before, during and after a capture."""
    port = spark.sparkContext._gateway._callback_server.port
    spark.range(3).count()
    with recorded() as records:
        spark.range(3).count()
    spark.range(3).count()
    wait_for_bus()
    assert user_listener.seen == ["count"] * 3
    assert len(records) == 1
    assert spark.sparkContext._gateway._callback_server.port == port


def test_a_listener_that_blocks_costs_the_time_limit_and_no_more(spark, user_listener, wait_for_bus, caplog):
    """Draining gives up after its limit with a problem, and later reports of Spark are not recorded."""
    wait_for_bus()
    records = []
    capture = Capture(records.append, drain_timeout_seconds=1)
    capture.arm()
    user_listener.gate.clear()
    spark.range(3).count()
    spark.range(3).count()
    began = time.monotonic()
    capture.disarm()
    assert time.monotonic() - began < BLOCKS_SECONDS / 2
    assert len(capture.problems) == 1
    assert capture.problems[0].startswith("the last executions were not recorded in time")
    assert "more than 1 seconds" in capture.problems[0]
    before = len(records)
    user_listener.gate.set()
    wait_for_bus()
    assert len(records) == before
    assert user_listener.seen == ["count"] * 2


def test_a_blocked_bus_does_not_keep_a_capture_from_starting(spark, user_listener, wait_for_bus):
    """Nobody waits for earlier queries, and they are not captured, however late Spark reports them."""
    wait_for_bus()
    user_listener.gate.clear()
    spark.range(3).count()
    records = []
    capture = Capture(records.append)
    capture.arm()
    user_listener.gate.set()
    spark.sql("select 1").collect()
    capture.disarm()
    assert [record.sql for record in records] == ["select 1"]
    assert capture.problems == []


def test_dropped_events_are_reported(spark):
    """Spark throws events away when its listeners are too slow: the capture has the number of lost ones."""
    counter = (
        spark.sparkContext._jsc.sc()
        .listenerBus()
        .metrics()
        .metricRegistry()
        .counter("queue.shared.numDroppedEvents")
    )
    counter.inc(2)
    capture = Capture([].append)
    capture.arm()
    counter.inc(3)
    capture.drain()
    capture.disarm()
    assert len(capture.problems) == 1
    assert "dropped 3 events" in capture.problems[0]


def test_a_sink_that_fails_costs_the_record(spark, caplog):
    """A full disk, for example: one line for each execution, and the job goes on."""

    def full(record):
        raise OSError(28, "No space left on device")

    capture = Capture(full)
    capture.arm()
    assert spark.range(3).count() == 3
    capture.disarm()
    (entry,) = (entry for entry in caplog.records if entry.name == OURS and entry.levelno == logging.WARNING)
    assert "could not be recorded" in entry.getMessage()
    assert "No space left" in entry.getMessage()
    assert "no impact" in entry.getMessage()
    assert "\n" not in entry.getMessage()
    assert capture.problems, "the lineage must show that something is missing"


def test_a_sink_that_fails_for_a_call_costs_that_record_alone(spark):
    """Records of calls over RDDs and of executions arrive on one thread, which goes on."""
    names = []

    def sink(record):
        if record.plan_kind == "rdd":
            raise OSError(28, "No space left on device")
        names.append(record.name)

    capture = Capture(sink)
    capture.arm()
    assert spark.sparkContext.parallelize([1, 2]).count() == 2
    capture.drain()
    assert spark.range(3).count() == 3
    capture.disarm()
    assert names == ["count"]
    assert capture.problems == ["a call could not be recorded: OSError: [Errno 28] No space left on device"]


def ask_of_relations(monkeypatch, **accessors):
    """Ask files' relations more than capture does."""
    probes = [replace(probe, accessors=accessors | probe.accessors) for probe in PROBES["LogicalRelation"]]
    monkeypatch.setitem(PROBES, "LogicalRelation", tuple(probes))


def test_an_accessor_that_fails_costs_its_fact_alone(spark, recorded, tmp_path, monkeypatch):
    """A fact that cannot be asked becomes a problem of the record; all others are there."""
    spark.range(3).write.parquet(str(tmp_path / "in"))
    torn = "$session.sessionState.sqlParser.parseExpression('token=hunter2 (')"
    ask_of_relations(monkeypatch, torn=torn)
    with recorded() as records:
        assert len(spark.read.parquet(str(tmp_path / "in")).collect()) == 3
    (fact,) = records[0].facts
    assert fact["probed"]["paths"] == [f"file:{tmp_path}/in"]
    assert len(records[0].problems) == 1
    assert "the torn of a LogicalRelation could not be read" in records[0].problems[0]
    assert "hunter2" not in records[0].problems[0]


def test_questions_hold_nobody_on_sparks_bus(spark, recorded, tmp_path, monkeypatch):
    """A catalog may be slow to answer. On the bus's own thread, waiting for the bus would never end."""
    spark.range(3).write.parquet(str(tmp_path / "in"))
    waiting = "$session.sparkContext.listenerBus.waitUntilEmpty"
    ask_of_relations(monkeypatch, waiting=waiting)
    with recorded() as records:
        spark.read.parquet(str(tmp_path / "in")).collect()
    assert records[0].problems == []


def test_a_capture_that_cannot_start_harms_nothing(spark, monkeypatch):
    """Whatever breaks while attaching, the user's block runs and the lineage has a gap."""
    from airflow_provider_spark_lineage.spark.capture import this_process

    def breaks(*_, **__):
        raise RuntimeError("no application")

    monkeypatch.setattr(this_process, "LiveApplication", breaks)
    with capture_lineage(spark) as captured:
        assert spark.range(3).count() == 3
    assert "no application" in render(captured.lineage)


def test_a_forked_child_leaves_the_parents_gateway_alone(spark, recorded, capfd, caplog):
    """A child that drops its inherited objects, as Airflow's listener does, sends and closes nothing."""
    caplog.set_level(logging.DEBUG, "py4j")
    with recorded() as records:
        frames = [spark.range(number + 1) for number in range(20)]
        frames[0].count()
        child = os.fork()
        if not child:
            code = 1
            try:
                frames.clear()
                gc.collect()
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert frames[5].count() == 6
        del frames
        gc.collect()
        assert spark.range(7).count() == 7
    assert len(records) == 3
    printed = capfd.readouterr()
    for text in (printed.out, printed.err, caplog.text):
        assert "Error while sending" not in text
        assert "Exception ignored" not in text


def test_py4j_may_log_everything(spark, recorded, caplog):
    """Debug logging of py4j is the user's right: captures work under it."""
    caplog.set_level(logging.DEBUG, "py4j")
    with recorded() as records:
        assert spark.range(3).count() == 3
    assert len(records) == 1
    assert records[0].problems == []


def test_py4js_notes_about_callbacks_stay_out_of_the_log(spark, recorded, caplog):
    """py4j logs callbacks at INFO level, which a task's log shows: a capture needs none.

    Command `g` is the JVM's garbage collector, which drops the callbacks of an earlier test when it likes.
    """
    caplog.set_level(logging.INFO)
    with recorded():
        for _ in range(20):
            spark.range(3).count()
    notes = [entry.getMessage() for entry in caplog.records if entry.name.startswith("py4j")]
    assert [note for note in notes if not note.startswith("Received command g ")] == []


def test_captures_do_not_grow(spark, wait_for_bus):
    """500 executions leave no object behind, neither here nor in the JVM's table of handed-out objects."""
    from py4j.finalizer import ThreadSafeFinalizer
    from py4j.java_gateway import JavaObject

    gateway = spark.sparkContext._gateway
    bindings = JavaObject("GATEWAY_SERVER", gateway._gateway_client).getGateway().getBindings()

    def settled(limit):
        """Counts of both sides, once they are below a limit: py4j lets go of objects in its own time."""
        deadline = time.monotonic() + 300
        wait_for_bus()
        while True:
            gc.collect()
            counts = len(ThreadSafeFinalizer.finalizers), bindings.size()
            if max(counts) < limit or time.monotonic() > deadline:
                return max(counts)
            time.sleep(0.05)

    answers = []
    capture = Capture(lambda record: answers.append(record.number))
    capture.arm()

    def run(times):
        for _ in range(times):
            spark.range(3).collect()

    run(20)
    assert settled(100) < 100
    run(500)
    assert settled(100) < 100
    capture.disarm()
    assert len(answers) == 520
