"""Sessions that are captured, from when to when, and that pyspark and Spark are restored."""

from __future__ import annotations

import threading

import pytest

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.capture.this_process import Capture

pytestmark = pytest.mark.spark


def listeners(spark) -> int:
    return spark.sparkContext._jsc.sc().listenerBus().listeners().size()


def config(spark) -> dict[str, str]:
    return {row.key: row.value for row in spark.sql("set -v").select("key", "value").collect()} | dict(
        spark.sparkContext.getConf().getAll()
    )


def test_everything_is_left_as_it_was_found(spark, recorded):
    """No listener is left in Spark, pyspark's methods are its own, and no setting has changed."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    spark.conf.set("spark.sql.shuffle.partitions", "3")
    make, stop = SparkSession.__init__, SparkContext.stop
    settings, before = config(spark), listeners(spark)
    with recorded() as records:
        assert listeners(spark) == before + 1
        spark.range(3).count()
        inside = config(spark)
    assert inside == settings
    assert config(spark) == settings
    assert listeners(spark) == before
    assert SparkSession.__init__ is make
    assert SparkContext.stop is stop
    count = len(records)
    spark.range(3).count()
    assert len(records) == count


def test_who_wraps_pyspark_during_a_capture_keeps_the_wrapper(spark, recorded):
    """A method that somebody replaced after us is not put back; ours only passes through from then on."""
    from pyspark.sql import SparkSession

    original = SparkSession.__init__
    sessions = []
    with recorded():
        ours = SparkSession.__init__

        def theirs(session, *args, **kwargs):
            sessions.append(session)
            ours(session, *args, **kwargs)

        SparkSession.__init__ = theirs
    try:
        assert SparkSession.__init__ is theirs
        session = spark.newSession()
        assert sessions == [session]
        with recorded() as records:
            spark.newSession().range(3).count()
        assert len(records) == 1
    finally:
        SparkSession.__init__ = ours
    with recorded():
        pass
    assert SparkSession.__init__ is original


def test_sessions_made_during_and_before_a_capture_count(spark, recorded):
    """`newSession()` has settings and views of its own: captured, whether it is older or younger."""
    before = spark.newSession()
    with recorded() as records:
        during = spark.newSession()
        before.sql("select 1 as before").collect()
        during.sql("select 2 as during").collect()
        spark.sql("select 3 as first").collect()
    assert [record.sql for record in records] == [
        "select 1 as before",
        "select 2 as during",
        "select 3 as first",
    ]
    assert [record.number for record in records] == [1, 2, 3]


def test_earlier_queries_are_not_captured(spark, recorded):
    """Executions that Spark reports late belong to who ran them."""
    for _ in range(20):
        spark.range(3).count()
    with recorded() as records:
        pass
    assert records == []


def test_captures_may_be_nested(spark):
    """An inner capture has what ran in it; the outer one has that too, and goes on afterwards."""
    before = listeners(spark)
    with capture_lineage(spark) as outer:
        spark.sql("select 1").collect()
        with capture_lineage(spark) as inner:
            spark.sql("select 2").collect()
        spark.sql("select 3").collect()
    assert [execution.record.sql for execution in inner.executions()] == ["select 2"]
    assert [execution.record.sql for execution in outer.executions()] == ["select 1", "select 2", "select 3"]
    assert listeners(spark) == before


def test_queries_of_several_threads_are_all_captured(spark, recorded):
    """A user's threads run queries side by side: one record each, each with a number of its own."""

    def work(name):
        for number in range(5):
            spark.sql(f"select '{name}', {number}").collect()

    with recorded() as records:
        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({record.sql for record in records}) == 20
    assert [record.number for record in records] == list(range(1, 21))


def test_finish_waits_for_all_that_ran(spark):
    """Many quick queries, records that take long to keep, and an immediate end: nothing is lost."""
    gate = threading.Event()
    records = []

    def keep(record):
        gate.wait(60)
        records.append(record)

    capture = Capture(keep)
    capture.arm()
    for number in range(100):
        spark.sql(f"select {number}").collect()
    threading.Timer(1, gate.set).start()
    capture.disarm()
    assert [record.sql for record in records] == [f"select {number}" for number in range(100)]
    assert capture.problems == []


def test_a_forgotten_arm_or_a_second_disarm_is_harmless(spark):
    """Disarming without arming, and disarming twice, change nothing and report nothing."""
    capture = Capture([].append)
    capture.disarm()
    capture.arm()
    capture.disarm()
    capture.disarm()
    assert capture.problems == []


def test_a_session_that_is_not_classic_needs_no_listener():
    """Sessions of Spark Connect are captured by their client: there is nothing to attach to."""
    capture = Capture([].append)
    capture.attach(object())
    capture.disarm()
    assert capture.problems == []


def test_commands_inside_a_command_are_one_write_of_the_run(spark, tmp_path):
    """CTAS runs a write of its own: one record, one execution of the run, and one output."""
    with capture_lineage(spark) as captured:
        spark.range(3).write.saveAsTable("nested_write")
    spark.sql("drop table nested_write")
    assert len(list(captured.executions())) == 1
    (output,) = captured.lineage.outputs
    assert output.statistics.rows == 3


def test_the_user_may_stop_spark_and_start_it_again(spark, tmp_path, recorded):
    """Stopping drains first; the next application has an id of its own and is captured too."""
    from pyspark.sql import SparkSession

    other_way = lambda session: session.sparkContext.stop()  # noqa: E731
    with recorded() as records:
        for number, stop in enumerate([SparkSession.stop, other_way, None], 1):
            session = SparkSession.builder.master("local[1]").appName(f"application {number}").getOrCreate()
            for _ in range(number):
                session.range(3).count()
            if stop:
                stop(session)
    assert [(record.application_name, record.number) for record in records] == [
        ("live tests", 1),
        ("application 2", 1),
        ("application 2", 2),
        ("application 3", 1),
        ("application 3", 2),
        ("application 3", 3),
    ]
    assert len({record.application_id for record in records}) == 3
    session.stop()


def test_a_context_stopped_behind_pysparks_back_is_harmless(tmp_path, caplog):
    """A JVM context that stops by itself, as on a lost cluster, costs no exception."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").appName("lost").getOrCreate()
    records = []
    capture = Capture(records.append)
    capture.arm()
    session.range(3).count()
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(30_000)
    session.sparkContext._jsc.sc().stop()
    capture.disarm()
    assert len(records) == 1
    session.stop()
