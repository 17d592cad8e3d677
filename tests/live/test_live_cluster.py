"""Executors in processes of their own, as on a cluster: the driver is captured, and nothing is missing."""

from __future__ import annotations

import pytest
from live_session import start_spark

from airflow_provider_spark_lineage import capture_lineage

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """Two executors beside the driver."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    spark = start_spark(
        tmp_path_factory.mktemp("spark"),
        **{"spark.master": "local-cluster[2,1,512]", "spark.executor.memory": "512m"},
    )
    yield spark
    spark.stop()


def edges(captured):
    return {
        (output.dataset.id.name.rpartition("/")[2], edge.column, edge.field)
        for output in captured.lineage.outputs
        for edge in output.edges
        if edge.column
    }


def test_queries_jobs_and_streams_of_a_cluster_are_captured(spark, tmp_path):
    """Reads and writes of executors are in the driver's plans and RDDs."""
    source = str(tmp_path / "in")
    spark.range(10).selectExpr("id", "id * 2 as twice").write.parquet(source)
    stream = spark.readStream.schema("id bigint, twice bigint").parquet(source)
    spark.sparkContext.setCheckpointDir(str(tmp_path / "checkpoints"))

    with capture_lineage(spark) as captured:
        frame = spark.read.parquet(source)
        frame.groupBy("id").sum("twice").toDF("id", "total").write.parquet(str(tmp_path / "totals"))
        frame.select("id").rdd.map(str).saveAsTextFile(str(tmp_path / "lines"))
        frame.selectExpr("twice + 1 as next").checkpoint().write.parquet(str(tmp_path / "kept"))
        write = stream.writeStream.option("checkpointLocation", str(tmp_path / "state"))
        write.trigger(availableNow=True).start(str(tmp_path / "copy")).awaitTermination()

    assert edges(captured) == {
        ("totals", "id", "id"),
        ("totals", "total", "twice"),
        ("lines", "value", "id"),
        ("kept", "next", "twice"),
        ("copy", "id", "id"),
        ("copy", "twice", "twice"),
    }
    assert [read.dataset.id.name for read in captured.lineage.inputs] == [source]
    totals = next(output for output in captured.lineage.outputs if output.dataset.id.name.endswith("totals"))
    assert totals.statistics.rows == 10
    (gap,) = captured.lineage.gaps
    assert gap.kind.value == "rows_from_rdd"
