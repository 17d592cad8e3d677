"""Streaming queries: from every source into every sink, by every trigger, each batch is recorded once."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from gap_kinds import gap_kinds
from live_session import start_spark
from pyspark import InheritableThread
from pyspark.sql.functions import udf
from spark_packages import coordinate

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.facets.events import RunIdentity
from airflow_provider_spark_lineage.spark.lineage.model import Kind
from airflow_provider_spark_lineage.spark.runs.captured import Captured
from airflow_provider_spark_lineage.spark.runs.sender import Sender

pytestmark = pytest.mark.spark

HAS_DELTA = bool(coordinate("delta"))
DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    spark = start_spark(tmp_path_factory.mktemp("streams"), **(DELTA if HAS_DELTA else {}))
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def data(spark, tmp_path_factory):
    """Three rows in every kind of place that a stream may read."""
    root = tmp_path_factory.mktemp("sources")
    rows = spark.sql("select id, concat('n', id) as name from range(3)").coalesce(1)
    rows.write.parquet(str(root / "folder"))
    for day in ("monday", "tuesday"):
        rows.write.csv(str(root / "days" / day))
    rows.selectExpr("name as value").write.text(str(root / "lines" / "monday"))
    rows.write.option("path", str(root / "table")).saveAsTable("streamed")
    if HAS_DELTA:
        rows.write.format("delta").save(str(root / "delta"))
    return root


def days(spark, data):
    return spark.readStream.schema("id bigint, name string").csv(f"{data}/days/*/*.csv")


SOURCES = {
    "folder": lambda spark, data: spark.readStream.schema("id bigint, name string").parquet(f"{data}/folder"),
    "glob": days,
    "glob of text": lambda spark, data: spark.readStream.text(f"{data}/lines/*").selectExpr(
        "length(value) as id", "value as name"
    ),
    "table": lambda spark, data: spark.readStream.table("streamed"),
    "delta": lambda spark, data: spark.readStream.format("delta").load(f"{data}/delta"),
    "rate": lambda spark, data: (
        spark.readStream.format("rate-micro-batch")
        .options(rowsPerBatch=3, numPartitions=1)
        .load()
        .selectExpr("value as id", "string(timestamp) as name")
    ),
}
READ = {
    "folder": {"folder"},
    "glob": {"monday", "tuesday"},
    "glob of text": {"monday"},
    "table": {"table"},
    "delta": {"delta"},
    "rate": set(),
}
SINKS = ("files", "table", "delta", "foreachBatch", "memory")


def write(stream, root, sink, **trigger):
    """Run a stream into a sink until it has nothing more to do."""
    writer = stream.writeStream.option("checkpointLocation", str(root / "state")).trigger(**trigger)
    out = str(root / "out")
    match sink:
        case "files":
            query = writer.format("parquet").start(out)
        case "table":
            query = writer.option("path", out).toTable("t" + str(abs(hash(out))))
        case "delta":
            query = writer.format("delta").start(out)
        case "memory":
            query = writer.format("memory").queryName("m" + str(abs(hash(out)))).start()
        case "foreachBatch":
            query = writer.foreachBatch(lambda rows, _: rows.write.mode("append").parquet(out)).start()
    if "processingTime" in trigger:
        query.processAllAvailable()
        query.stop()
    query.awaitTermination()


def names(datasets):
    return {each.dataset.id.name.rsplit("/", 1)[-1] for each in datasets}


@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("source", SOURCES)
def test_streams_from_any_source_into_any_sink_are_captured(spark, data, tmp_path, source, sink):
    """Inputs, output, columns and counts; a sink in memory is left out, and so are made-up rows."""
    if "delta" in (source, sink) and not HAS_DELTA:
        pytest.skip("Delta has no release for this Spark")
    # Rows without an end: one batch of them.
    trigger = {"once": True} if source == "rate" else {"availableNow": True}
    with capture_lineage(spark) as captured:
        write(SOURCES[source](spark, data), tmp_path, sink, **trigger)
    lineage = captured.lineage
    assert lineage.gaps == ()
    assert names(lineage.inputs) == READ[source]
    if sink == "memory":
        assert lineage.outputs == ()
        return
    (output,) = lineage.outputs
    assert output.dataset.id.name == str(tmp_path / "out")
    assert output.statistics.rows == (6 if source == "glob" else 3)
    fields = {(edge.source.name.rsplit("/", 1)[-1], edge.column) for edge in output.edges}
    assert fields == {(name, column) for name in READ[source] for column in ("id", "name")}


def test_a_stream_in_the_background_is_recorded_from_batch_to_batch(spark, data, tmp_path):
    """By processing time, and from a checkpoint on: each capture has the batches of its own time."""
    out, source = str(tmp_path / "out"), tmp_path / "source"

    def started():
        stream = spark.readStream.schema("id bigint").parquet(str(source))
        writer = stream.writeStream.option("checkpointLocation", str(tmp_path / "state"))
        return writer.trigger(processingTime="100 milliseconds").format("parquet").start(out)

    counts = []
    query = None
    for rows in (1, 2, 4):
        spark.range(rows).coalesce(1).write.mode("append").parquet(str(source))
        # The second goes on with the query of the first, the third with its checkpoint.
        if query is None:
            with capture_lineage(spark) as captured:
                query = started()
                query.processAllAvailable()
        else:
            with capture_lineage(spark) as captured:
                query.processAllAvailable()
            query.stop()
            query = None
        (output,) = captured.lineage.outputs
        counts.append(output.statistics.rows)
        assert captured.lineage.gaps == ()
    query.stop()
    assert counts == [1, 2, 4]


def test_two_queries_at_once_are_told_apart(spark, data, tmp_path):
    """Batches of one into files, of the other into a function, which writes and merges in turn."""
    first, second = tmp_path / "first", tmp_path / "second"
    with capture_lineage(spark) as captured:
        threads = [
            threading.Thread(
                target=write, args=(SOURCES[source](spark, data), root, sink), kwargs={"once": True}
            )
            for source, root, sink in (("folder", first, "files"), ("glob", second, "foreachBatch"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    read = {
        output.dataset.id.name: {source.name.rsplit("/", 1)[-1] for source in output.inputs}
        for output in captured.lineage.outputs
    }
    assert read == {str(first / "out"): {"folder"}, str(second / "out"): {"monday", "tuesday"}}


def test_queries_of_a_function_beside_its_batch_are_its_own(spark, data, tmp_path):
    """Several writes of one batch, a read of something else, and a batch that is used twice."""

    def keep(rows, number):
        rows.cache()
        rows.groupBy("name").count().write.mode("append").parquet(str(tmp_path / "counts"))
        rows.join(spark.read.parquet(f"{data}/table"), "id").select("id").write.mode("append").parquet(
            str(tmp_path / "joined")
        )
        rows.unpersist()

    with capture_lineage(spark) as captured:
        writer = SOURCES["folder"](spark, data).writeStream.option(
            "checkpointLocation", str(tmp_path / "state")
        )
        writer.trigger(availableNow=True).foreachBatch(keep).start().awaitTermination()
    read = {
        output.dataset.id.name.rsplit("/", 1)[-1]: {
            source.name.rsplit("/", 1)[-1] for source in output.inputs
        }
        for output in captured.lineage.outputs
    }
    assert read == {"counts": {"folder"}, "joined": {"folder", "table"}}
    assert captured.lineage.gaps == ()


@pytest.mark.parametrize("writes", ["files", "a table"])
def test_writes_of_one_batch_at_the_same_time_are_told_apart(spark, data, tmp_path, writes):
    """One of a function's threads begins before another write and ends after it."""
    began, done = str(tmp_path / "began"), tmp_path / "done"

    @udf("string")
    def slow(name):
        Path(began).touch()
        while not Path(done).exists():
            time.sleep(0.05)
        return name

    def keep(rows, number):
        slowly = rows.select(slow("name").alias("name"))
        path = str(tmp_path / "slow")
        table = slowly.write.option("path", path)
        write = table.save if writes == "files" else lambda: table.saveAsTable("slowly_written")
        thread = InheritableThread(target=write)
        thread.start()
        while thread.is_alive() and not Path(began).exists():
            time.sleep(0.05)
        try:
            rows.select("id").write.parquet(str(tmp_path / "quick"))
        finally:
            done.touch()
            thread.join()

    with capture_lineage(spark) as captured:
        writer = SOURCES["folder"](spark, data).writeStream.option(
            "checkpointLocation", str(tmp_path / "state")
        )
        writer.trigger(once=True).foreachBatch(keep).start().awaitTermination()
    written = {
        output.dataset.id.name.rsplit("/", 1)[-1]: {(edge.column, edge.field) for edge in output.edges}
        for output in captured.lineage.outputs
    }
    assert written == {"quick": {("id", "id")}, "slow": {("name", "name")}}


@pytest.mark.skipif(not HAS_DELTA, reason="Delta has no release for this Spark")
def test_a_merge_of_each_batch_is_one_execution(spark, data, tmp_path):
    """Queries that Delta runs for its MERGE inside a batch are not executions of the program."""
    target = str(tmp_path / "target")
    spark.range(0).selectExpr("id", "string(id) as name").write.format("delta").save(target)

    def merge(rows, number):
        rows.createOrReplaceTempView("arrived")
        rows.sparkSession.sql(
            f"merge into delta.`{target}` t using arrived a on t.id = a.id "
            "when matched then update set * when not matched then insert *"
        )

    with capture_lineage(spark) as captured:
        writer = days(spark, data).writeStream.option("checkpointLocation", str(tmp_path / "state"))
        writer.trigger(availableNow=True).foreachBatch(merge).start().awaitTermination()
    assert [execution.record.name for execution in captured.executions() if execution.lineage] == ["command"]
    (output,) = captured.lineage.outputs
    assert output.dataset.id.name == target
    assert {"monday", "tuesday"} <= {source.name.rsplit("/", 1)[-1] for source in output.inputs}


def test_streams_with_state_are_traced(spark, data, tmp_path):
    """Aggregates over windows, duplicates within a watermark, and a join of two streams."""
    folder = str(tmp_path / "clicks")
    spark.sql("select id % 2 as k, id as v, timestamp_seconds(id) as at from range(4)").write.parquet(folder)
    schema = "k bigint, v bigint, at timestamp"

    def clicks():
        return spark.readStream.schema(schema).parquet(folder).withWatermark("at", "1 minute")

    queries = {
        "kept": (clicks().dropDuplicatesWithinWatermark(["k"]).select("v"), "append"),
        "counted": (clicks().groupBy("k").sum("v"), "complete"),
        "joined": (
            clicks().alias("a").join(clicks().alias("b"), "k").selectExpr("a.v", "b.v as w"),
            "append",
        ),
    }
    edges = {}
    for name, (stream, mode) in queries.items():
        with capture_lineage(spark) as captured:
            writer = stream.writeStream.option("checkpointLocation", str(tmp_path / name)).outputMode(mode)
            out = str(tmp_path / f"{name}_out")
            keep = lambda rows, _, out=out: rows.write.mode("overwrite").parquet(out)  # noqa: E731
            writer.trigger(availableNow=True).foreachBatch(keep).start().awaitTermination()
        assert captured.lineage.gaps == (), name
        (output,) = captured.lineage.outputs
        edges[name] = {(edge.column, edge.field, edge.kind) for edge in output.edges}
    late = ("", "at", Kind.FILTER)
    assert edges == {
        "kept": {("v", "v", Kind.IDENTITY), ("", "k", Kind.GROUP_BY), late},
        "counted": {
            ("k", "k", Kind.IDENTITY),
            ("sum(v)", "v", Kind.AGGREGATION),
            ("", "k", Kind.GROUP_BY),
            late,
        },
        "joined": {("v", "v", Kind.IDENTITY), ("w", "v", Kind.IDENTITY), ("", "k", Kind.JOIN), late},
    }


def test_streams_with_state_are_counted(spark, tmp_path):
    """Spark runs a batch without data to move the watermark: it wrote 0 rows, and its file has bytes."""
    folder, out = str(tmp_path / "clicks"), tmp_path / "out"
    clicks = spark.sql("select id, timestamp_seconds(id * 7200) as at from range(1, 6)").coalesce(1)
    clicks.write.parquet(folder)
    stream = spark.readStream.schema("id bigint, at timestamp").parquet(folder).withWatermark("at", "1 hour")
    with capture_lineage(spark) as captured:
        writer = stream.dropDuplicates(["id", "at"]).writeStream.trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / "state")).start(str(out)).awaitTermination()
    (output,) = captured.lineage.outputs
    files = list(out.glob("*.parquet"))
    assert output.statistics.rows == 5
    assert output.statistics.size_bytes == sum(file.stat().st_size for file in files)


def test_each_batch_is_one_record(spark, recorded, tmp_path):
    """Two files, one a batch: two records with counts of their own, before the query on the result."""
    folder = str(tmp_path / "days")
    for day in (1, 2):
        spark.range(day).selectExpr("id", f"{day} as day").coalesce(1).write.mode("append").parquet(folder)
    stream = spark.readStream.schema("id bigint, day int").option("maxFilesPerTrigger", 1).parquet(folder)
    with recorded() as records:
        write(stream, tmp_path, "files", availableNow=True)
        spark.read.parquet(str(tmp_path / "out")).count()
    assert [record.name for record in records] == ["microBatch", "microBatch", "count"]
    assert sorted(record.written["rows"] for record in records[:2]) == [1, 2]
    for record in records[:2]:
        assert record.started_at < record.ended_at
        assert record.problems == []
    with recorded() as records:
        write(stream, tmp_path / "nowhere", "memory", availableNow=True)
    batches = [record for record in records if record.name == "microBatch"]
    assert [record.plan[0]["class"].rpartition(".")[2] for record in batches] == [
        "WriteToMicroBatchDataSource"
    ] * 2


def test_a_query_has_its_end_while_the_task_goes_on(spark, data, tmp_path):
    """A task that starts a query after another sends the end of the first before its own."""
    captured, sent = Captured(), []
    sender = Sender(RunIdentity("0190a0a0-0000-7000-8000-000000000000", "tests", "dag.task"), sent.append)
    captured._on_execution, captured.on_stream_end = sender.put, sender.end_streams
    captured.start()
    try:
        write(days(spark, data), tmp_path, "foreachBatch", availableNow=True)
        captured.drain(300)
        sender._waiting.put(None)
        sender._thread.join(300)
        assert [(event.eventType.value, event.job.name) for event in sent] == [
            ("START", "dag.task.out"),
            ("COMPLETE", "dag.task.out"),
        ]
    finally:
        captured.stop()
    [run] = captured.run().stream_runs
    runs = {record.stream_run for record in captured.records([]) if record.name == "command"}
    assert runs == {run.run_id}


def test_a_batch_that_fails_is_a_failure(spark, recorded, data, tmp_path):
    """Its inputs are known, and Spark's reason; in a function, the reason of the function's own query."""
    from pyspark.errors import StreamingQueryException

    bad = SOURCES["folder"](spark, data).selectExpr("assert_true(id < 1, 'too many') as id", "name")
    for sink in ("files", "foreachBatch"):
        with recorded() as records, pytest.raises(StreamingQueryException):
            write(bad, tmp_path / sink, sink, once=True)
        (record,) = [record for record in records if record.failed]
        assert "too many" in record.error["message"]
        assert record.facts


def test_a_batch_that_has_not_ended_is_reported(spark, data, tmp_path):
    """A stream that goes on when the capture ends: the rest of its batch is not claimed."""
    slow = SOURCES["rate"](spark, data)
    running, is_over = threading.Event(), threading.Event()

    def wait(rows, number):
        running.set()
        is_over.wait(600)
        rows.write.mode("append").parquet(str(tmp_path / "out"))

    with capture_lineage(spark) as captured:
        writer = slow.writeStream.option("checkpointLocation", str(tmp_path / "state"))
        query = writer.foreachBatch(wait).start()
        assert running.wait(600)
    is_over.set()
    query.stop()
    assert captured.lineage.outputs == ()
    assert gap_kinds(captured.lineage) == ["not_recorded"]
