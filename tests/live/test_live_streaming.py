"""Streaming queries that end: each batch is recorded once, by whichever way Spark or pyspark tells of it."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.capture import application
from airflow_provider_spark_lineage.capture.application import read_query

pytestmark = pytest.mark.spark


@pytest.fixture
def days(spark, tmp_path):
    """A folder of two files, and a stream that reads one in each batch."""
    folder = str(tmp_path / "days")
    for day in (1, 2):
        spark.range(3).selectExpr("id", f"{day} as day").coalesce(1).write.mode("append").parquet(folder)
    return spark.readStream.schema("id bigint, day int").option("maxFilesPerTrigger", 1).parquet(folder)


def started(stream, place, **trigger):
    return stream.writeStream.option("checkpointLocation", str(place)).trigger(**trigger)


def test_each_batch_into_files_is_one_record(spark, recorded, days, tmp_path):
    """Two files, one a batch: two records, before what reads the result."""
    with recorded() as records:
        query = started(days, tmp_path / "state", availableNow=True).start(str(tmp_path / "out"))
        query.awaitTermination()
        spark.read.parquet(str(tmp_path / "out")).count()
    assert [record.name for record in records] == ["microBatch", "microBatch", "count"]
    for record in records[:2]:
        assert record.started_at < record.ended_at
        assert record.problems == []


def test_batches_that_are_found_together_have_one_plan(spark, recorded, days, tmp_path, monkeypatch):
    """Spark keeps the plan of a query's last batch: it is asked once for all batches since the last time."""
    asked = []

    def read(record, *about, **wanted):
        asked.append(record.name)
        read_query(record, *about, **wanted)

    monkeypatch.setattr(application, "read_query", read)
    with recorded() as records:
        query = started(days, tmp_path / "state", availableNow=True).start(str(tmp_path / "out"))
        query.awaitTermination()
    assert asked == ["microBatch"]
    assert [record.plan for record in records] == [records[0].plan] * 2
    assert [record.facts for record in records] == [records[0].facts] * 2
    assert records[0].facts


def test_duplicates_within_a_watermark_are_left_out_by_their_keys(spark, tmp_path):
    """The keys decide which rows there are; the column of the watermark decides which are too late."""
    folder, out = str(tmp_path / "clicks"), str(tmp_path / "out")
    spark.sql("select id % 2 as k, id as v, timestamp_seconds(id) as at from range(4)").write.parquet(folder)
    clicks = spark.readStream.schema("k bigint, v bigint, at timestamp").parquet(folder)
    with capture_lineage(spark) as captured:
        kept = clicks.withWatermark("at", "1 minute").dropDuplicatesWithinWatermark(["k"]).select("v")
        started(kept, tmp_path / "state", availableNow=True).start(out).awaitTermination()
    (output,) = captured.lineage.outputs
    assert {(edge.column, edge.field, edge.kind.name) for edge in output.edges} == {
        ("v", "v", "IDENTITY"),
        ("", "k", "GROUP_BY"),
        ("", "at", "FILTER"),
    }
    assert captured.lineage.gaps == ()


def test_each_batch_of_the_second_api_is_one_record(spark, recorded, days, tmp_path):
    """Spark tells of these itself: they are not recorded twice."""
    with recorded() as records:
        started(days, tmp_path / "state", availableNow=True).format("noop").start().awaitTermination()
    assert [record.plan[0]["class"].rpartition(".")[2] for record in records] == [
        "WriteToMicroBatchDataSource"
    ] * 2


def test_what_a_function_does_with_a_batch_is_recorded_once(spark, days, tmp_path):
    """A streaming query runs in a clone of its session, which is listened to already."""
    out = str(tmp_path / "out")

    def keep(batch, number):
        batch.selectExpr("id + 1 as next").write.mode("append").parquet(out)

    with capture_lineage(spark) as captured:
        query = started(days, tmp_path / "state", availableNow=True).foreachBatch(keep).start()
        query.awaitTermination()
    names = [execution.record.name for execution in captured.executions()]
    assert names == ["command", "command"]
    (output,) = captured.lineage.outputs
    assert output.statistics.rows == 6
    assert {(edge.column, edge.field, edge.kind.name) for edge in output.edges} == {
        ("next", "id", "TRANSFORMATION")
    }
    assert captured.lineage.gaps == ()


def test_a_batch_that_fails_is_a_failure(spark, recorded, days, tmp_path):
    """What it was to read is known, and Spark's reason."""
    from pyspark.errors import StreamingQueryException

    bad = days.selectExpr("assert_true(id < 1, 'too many')")
    with recorded() as records:
        query = started(bad, tmp_path / "state", once=True).format("json").start(str(tmp_path / "out"))
        with pytest.raises(StreamingQueryException):
            query.awaitTermination()
    (record,) = records
    assert record.failed
    assert "too many" in record.error["message"]
    assert record.facts


def test_a_query_that_ran_before_is_recorded_from_now_on(spark, recorded, days, tmp_path):
    """A stream that somebody started earlier: its next batches are this capture's, not those before."""
    source, out = tmp_path / "source", tmp_path / "out"
    spark.range(1).coalesce(1).write.parquet(str(source))
    stream = spark.readStream.schema("id bigint").parquet(str(source))
    write = stream.writeStream.option("checkpointLocation", str(tmp_path / "state"))
    query = write.format("parquet").start(str(out))
    query.processAllAvailable()
    try:
        with recorded() as records:
            spark.range(2).coalesce(1).write.mode("append").parquet(str(source))
            query.processAllAvailable()
    finally:
        query.stop()
    assert [record.name for record in records] == ["command", "microBatch"]
