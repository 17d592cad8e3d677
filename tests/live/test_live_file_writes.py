"""Appends, overwrites and streams into folders and tables of files: what they create, and what is left."""

from __future__ import annotations

import file_lineage
import pytest

from airflow_provider_spark_lineage.spark.lineage.model import Kind, Mode

pytestmark = pytest.mark.spark

folder = file_lineage.folder
path = file_lineage.path
rows = file_lineage.rows
lineage = file_lineage.lineage


def _stream(spark, source):
    return spark.readStream.schema("id long, name string, part long").parquet(source)


def _run(writer, state):
    writer.trigger(availableNow=True).option("checkpointLocation", state).start().awaitTermination()


def _in_batches(spark, source, target, state):
    def write(rows, _):
        rows.write.mode("append").parquet(target)

    _run(_stream(spark, source).writeStream.foreachBatch(write), state)


APPENDING = {
    "path": lambda spark, source, target, _: spark.read.parquet(source).write.mode("append").parquet(target),
    "twice": lambda spark, source, target, _: [
        spark.read.parquet(source).write.mode("append").parquet(target) for _ in range(2)
    ],
    "partitions": lambda spark, source, target, _: (
        spark.read.parquet(source).write.mode("append").partitionBy("part").parquet(target)
    ),
    "no rows": lambda spark, source, target, _: (
        spark.read.parquet(source).where("id < 0").write.mode("append").parquet(target)
    ),
    "sink": lambda spark, source, target, state: _run(
        _stream(spark, source).writeStream.format("parquet").option("path", target), state
    ),
    "batches": _in_batches,
}
"""Name -> a way to append to a folder."""


@pytest.mark.parametrize("way", APPENDING)
def test_an_append_to_a_folder_without_data_creates_it(spark, rows, path, lineage, way):
    """The folder is not an input, and what is read from it comes from what was appended.

    A folder that has data already is both, also if the append is read after a later one has ended.
    """
    append = APPENDING[way]
    rows.write.parquet(path("in"))

    def job():
        append(spark, path("in"), path("new"), path("state"))
        spark.read.schema("id long, name string").parquet(path("new")).write.parquet(path("out"))

    composed = lineage(job)
    assert [read.dataset.id.name for read in composed.inputs] == [path("in")]
    assert {output.dataset.id.name: output.mode for output in composed.outputs} == {
        path("new"): Mode.CREATE,
        path("out"): Mode.CREATE,
    }
    assert {edge.source.name for output in composed.outputs for edge in output.edges} == {path("in")}
    if way == "sink":
        # Spark reads a folder with a stream's log by the log.
        return

    def again():
        append(spark, path("in"), path("new"), path("state2"))
        append(spark, path("in"), path("new"), path("state3"))
        spark.read.schema("id long, name string").parquet(path("new")).write.parquet(path("out2"))

    composed = lineage(again)
    assert [read.dataset.id.name for read in composed.inputs] == [path("in"), path("new")]
    assert {output.dataset.id.name: output.mode for output in composed.outputs} == {
        path("new"): Mode.APPEND,
        path("out2"): Mode.CREATE,
    }


def test_an_overwrite_of_partitions_in_a_new_folder_is_whole(spark, rows, path, lineage):
    """No row is older, so the folder is not an input; partitions that stay are."""
    rows.write.parquet(path("in"))

    def job(where):
        frame = spark.read.parquet(path("in")).where(where).write.mode("overwrite").partitionBy("part")
        frame.option("partitionOverwriteMode", "dynamic").parquet(path("new"))
        spark.read.parquet(path("new")).write.mode("overwrite").parquet(path("out"))

    first, second = lineage(lambda: job("id >= 0")), lineage(lambda: job("part = 1"))
    assert [read.dataset.id.name for read in first.inputs] == [path("in")]
    assert [read.dataset.id.name for read in second.inputs] == [path("in"), path("new")]


def test_streams_in_a_row_lead_to_the_first_source(spark, rows, path, lineage):
    """The folder between two streams is created by the first one."""
    rows.write.parquet(path("in"))

    def job():
        for source, target in (("in", "between"), ("between", "out")):
            writer = _stream(spark, path(source)).writeStream.format("parquet").option("path", path(target))
            _run(writer, path(f"state-{target}"))

    composed = lineage(job)
    assert [read.dataset.id.name for read in composed.inputs] == [path("in")]
    (last,) = (output for output in composed.outputs if output.dataset.id.name == path("out"))
    assert {edge.source.name for edge in last.edges} == {path("in")}


def test_an_append_to_a_table_without_data_creates_its_rows(spark, rows, path, lineage):
    """A table that `saveAsTable` makes, and one that was there without rows."""
    rows.write.parquet(path("in"))
    spark.sql("create table was_there (id bigint, name string, part bigint) using parquet")

    def job():
        source = spark.read.parquet(path("in"))
        source.write.mode("append").saveAsTable("is_new")
        source.write.insertInto("was_there")
        spark.table("is_new").union(spark.table("was_there")).write.parquet(path("out"))

    composed = lineage(job)
    assert [read.dataset.id.name for read in composed.inputs] == [path("in")]
    assert {output.mode for output in composed.outputs} == {Mode.CREATE}
    assert {edge.source.name for output in composed.outputs for edge in output.edges} == {path("in")}


@pytest.mark.parametrize("by", ["path", "table"])
def test_an_overwrite_with_other_columns_leaves_its_own(spark, rows, path, lineage, by):
    """Names and types are those that a reader finds at the end."""
    rows.write.parquet(path("in"))

    def job():
        source = spark.read.parquet(path("in"))
        for columns in (("id", "part as v", "name"), ("string(id) as id", "name")):
            writer = source.selectExpr(*columns).write.mode("overwrite")
            writer.parquet(path("out")) if by == "path" else writer.saveAsTable("written_twice")

    (output,) = lineage(job).outputs
    assert [(column.name, column.type) for column in output.dataset.fields] == [
        ("id", "string"),
        ("name", "string"),
    ]
    assert {(edge.column, edge.field, edge.kind) for edge in output.edges} == {
        ("id", "id", Kind.TRANSFORMATION),
        ("name", "name", Kind.IDENTITY),
    }
