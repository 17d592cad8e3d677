"""Jobs over RDDs, which no query listener is told of: recorded where they are called, in their true order."""

from __future__ import annotations

import time

import pytest

from airflow_provider_spark_lineage import capture_lineage

pytestmark = pytest.mark.spark


@pytest.fixture
def lines(tmp_path):
    (tmp_path / "lines.txt").write_text("pen\nink\n")
    return str(tmp_path / "lines.txt")


def shown(records):
    return [(record.name, record.outcome) for record in records]


def test_each_action_is_one_record(spark, recorded, lines):
    """pyspark makes its actions of one another: what the program called is recorded, once."""
    with recorded() as records:
        rdd = spark.sparkContext.textFile(lines)
        assert rdd.count() == 2
        assert rdd.map(len).sum() == 6
        assert rdd.first() == "pen"
        assert sorted(rdd.toLocalIterator()) == ["ink", "pen"]
        assert sum(spark.sparkContext.runJob(rdd, lambda rows: [len(list(rows))])) == 2
        rdd.map(len).countApprox(1000)
    assert [record.name for record in records] == [
        "count",
        "sum",
        "first",
        "toLocalIterator",
        "runJob",
        "countApprox",
    ]
    for number, record in enumerate(records, 1):
        assert record.number == number
        assert record.facts[0]["probed"]["origins"][0]["paths"] == [f"file:{lines}"]
        assert record.problems == []


def test_records_keep_the_order_of_the_program(spark, recorded, tmp_path):
    """A query is reported later than it ended; jobs over RDDs stand between those that the program ran."""
    with recorded() as records:
        for number in range(10):
            folder = str(tmp_path / str(number))
            spark.range(3).selectExpr("string(id)").write.text(folder)
            spark.sparkContext.textFile(folder).saveAsTextFile(folder + "_copy")
    assert [record.name for record in records] == ["command", "saveAsTextFile"] * 10
    assert [record.number for record in records] == list(range(1, 21))


def test_a_save_that_fails_is_a_failure_with_sparks_reason(spark, lines, tmp_path):
    """The exception reaches the program as it was, and the record says why."""
    from py4j.protocol import Py4JJavaError

    with capture_lineage(spark) as captured, pytest.raises(Py4JJavaError, match="already exists"):
        spark.sparkContext.textFile(lines).saveAsTextFile(str(tmp_path))
    (failure,) = captured.lineage.failures
    assert failure.error_class == "org.apache.hadoop.mapred.FileAlreadyExistsException"
    assert captured.lineage.outputs == ()
    assert [one.dataset.id.name for one in captured.lineage.inputs] == [lines]


def test_no_method_of_pyspark_stays_replaced(spark, recorded):
    """After the last capture RDDs and frames are pyspark's own again."""
    from pyspark import RDD

    frame = type(spark.range(1))
    before = dict(RDD.__dict__), dict(frame.__dict__)
    with recorded():
        assert RDD.__dict__["collect"] is not before[0]["collect"]
    assert (dict(RDD.__dict__), dict(frame.__dict__)) == before


def test_a_job_that_lineage_cannot_read_is_not_harmed(spark, lines, monkeypatch):
    """Whatever breaks while a call is recorded, the call gives what it gives."""
    from airflow_provider_spark_lineage.capture import sessions

    def breaks(*_):
        raise RuntimeError("on purpose")

    monkeypatch.setattr(sessions, "record_of", breaks)
    with capture_lineage(spark) as captured:
        assert spark.sparkContext.textFile(lines).count() == 2
    assert "on purpose" in captured.text()


def test_a_thousand_actions_cost_little(spark, recorded, lines):
    """What an RDD is made from is asked once, however often it is used."""
    rdd = spark.sparkContext.textFile(lines).map(len)
    for _ in range(20):
        rdd.count()

    def timed():
        began = time.monotonic()
        for _ in range(50):
            rdd.count()
        return time.monotonic() - began

    plain = timed()
    with recorded():
        assert timed() < plain * 2 + 1


def test_a_program_without_a_session_is_recorded(tmp_path, recorded, lines):
    """RDDs need only a Spark context, and so does their capture."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    conf = SparkConf().setMaster("local[1]").setAppName("no session").set("spark.ui.enabled", "false")
    with recorded() as records:
        context = SparkContext(conf=conf)
        context.setLogLevel("OFF")
        context.textFile(lines).saveAsTextFile(str(tmp_path / "out"))
        context.stop()
    assert shown(records) == [("saveAsTextFile", "success")]
    assert records[0].application_name == "no session"
