"""Kafka with a real broker at the other end: topics that are read and written in batches."""

from __future__ import annotations

import json

import pytest
from gap_kinds import gap_kinds
from live_session import start_spark
from servers.kafka import kafka
from spark_packages import need

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse import load as loads
from airflow_provider_spark_lineage.openlineage.warehouse.asking import rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.load import load
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import read_tables

pytestmark = pytest.mark.spark

need("kafka")


@pytest.fixture(scope="module")
def servers():
    with kafka() as servers:
        yield servers


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    spark = start_spark(tmp_path_factory.mktemp("spark"))
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def options(servers):
    return {"kafka.bootstrap.servers": f"PLAINTEXT://{servers},localhost:1"}


@pytest.fixture(scope="module")
def topics(spark, options):
    """Two topics with three rows each."""
    for topic in ("orders", "orders_old"):
        rows = spark.sql("select cast(id as string) as key, concat('v', id) as value from range(3)")
        rows.write.format("kafka").options(**options, topic=topic).save()


def test_a_batch_is_written_to_its_topic(spark, servers, options, topics, tmp_path):
    """The topic is the output, at its first broker, with the sources of its key and value."""
    spark.sql("select 1 as id, 'ann' as name").write.parquet(str(tmp_path / "in"))
    with capture_lineage(spark) as captured:
        frame = spark.read.parquet(str(tmp_path / "in")).selectExpr("cast(id as string) key", "name value")
        frame.write.format("kafka").options(**options, topic="written").save()
    (output,) = captured.run().lineage.outputs
    assert (output.dataset.id.namespace, output.dataset.id.name) == (f"kafka://{servers}", "written")
    assert {(edge.field, edge.column, edge.kind.name) for edge in output.edges} == {
        ("id", "key", "TRANSFORMATION"),
        ("name", "value", "IDENTITY"),
    }
    assert captured.run().lineage.gaps == ()


@pytest.mark.parametrize(
    ("subscription", "names"),
    [
        ({"subscribe": "orders"}, ["orders"]),
        ({"subscribe": "orders,orders_old"}, ["orders", "orders_old"]),
        ({"assign": '{"orders":[0]}'}, ["orders"]),
    ],
)
def test_each_topic_that_is_read_is_an_input(spark, servers, options, topics, tmp_path, subscription, names):  # noqa: PLR0917
    """By subscription or by partitions: columns come from every topic that was read."""
    with capture_lineage(spark) as captured:
        frame = spark.read.format("kafka").options(**options, **subscription).load()
        frame.selectExpr("cast(value as string) as v").write.parquet(str(tmp_path / "out"))
    lineage = captured.run().lineage
    assert [source.dataset.id.name for source in lineage.inputs] == names
    assert {source.dataset.id.namespace for source in lineage.inputs} == {f"kafka://{servers}"}
    (output,) = lineage.outputs
    assert {(edge.source.name, edge.field, edge.column) for edge in output.edges} == {
        (name, "value", "v") for name in names
    }
    assert lineage.gaps == ()


def test_a_pattern_is_an_input_with_a_gap(spark, servers, options, topics, tmp_path):
    """The topics that it matched are unknown; the read itself is reported."""
    with capture_lineage(spark) as captured:
        frame = spark.read.format("kafka").options(**options, subscribePattern="orders.*").load()
        frame.select("value").write.parquet(str(tmp_path / "out"))
    lineage = captured.run().lineage
    assert [source.dataset.id.name for source in lineage.inputs] == ["orders.*"]
    assert gap_kinds(lineage) == ["several_datasets"]


def test_rows_that_name_their_topics_are_a_gap(spark, servers, options, topics):
    """A column decides for each row, and its values are not recorded."""
    with capture_lineage(spark) as captured:
        rows = spark.range(2).selectExpr("'orders' as topic", "cast(id as string) as value")
        rows.write.format("kafka").options(**options).save()
    lineage = captured.run().lineage
    assert [output.dataset.id.name for output in lineage.outputs] == ["*"]
    assert gap_kinds(lineage) == ["several_datasets"]


def run_stream(write, place, **trigger):
    write.option("checkpointLocation", str(place)).trigger(**trigger).start().awaitTermination()


def test_a_stream_into_a_topic_is_its_output(spark, servers, options, tmp_path):
    """Each batch feeds the topic; columns of the files are traced to key and value."""
    spark.sql("select 1 as id, 'ann' as name").write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema("id int, name string").parquet(str(tmp_path / "in"))
    frame = stream.selectExpr("cast(id as string) key", "name value")
    with capture_lineage(spark) as captured:
        run_stream(
            frame.writeStream.format("kafka").options(**options, topic="streamed"),
            tmp_path / "state",
            availableNow=True,
        )
    lineage = captured.run().lineage
    (output,) = lineage.outputs
    assert (output.dataset.id.namespace, output.dataset.id.name) == (f"kafka://{servers}", "streamed")
    assert {(edge.source.name, edge.field, edge.column, edge.kind.name) for edge in output.edges} == {
        (str(tmp_path / "in"), "id", "key", "TRANSFORMATION"),
        (str(tmp_path / "in"), "name", "value", "IDENTITY"),
    }
    assert lineage.gaps == ()


def test_a_stream_is_read_and_written(spark, servers, options, topics, tmp_path):
    """Batches of a stream have the same names; rows that the connector does not count are unknown."""
    stream = spark.readStream.format("kafka").options(**options, subscribe="orders")
    rows = (
        stream.option("startingOffsets", "earliest").load().selectExpr("key", "upper(string(value)) as value")
    )
    for sink, write in {
        "files": lambda writer: writer.format("parquet").start(str(tmp_path / "out")),
        "kafka": lambda writer: writer.format("kafka").options(**options, topic="copied").start(),
    }.items():
        with capture_lineage(spark) as captured:
            writer = rows.writeStream.option("checkpointLocation", str(tmp_path / sink))
            write(writer.trigger(availableNow=True)).awaitTermination()
        (read,), (output,) = captured.lineage.inputs, captured.lineage.outputs
        assert (read.dataset.id.namespace, read.dataset.id.name) == (f"kafka://{servers}", "orders")
        expected = (f"kafka://{servers}", "copied") if sink == "kafka" else ("file", str(tmp_path / "out"))
        assert (output.dataset.id.namespace, output.dataset.id.name) == expected
        assert (output.statistics.rows is None) is (sink == "kafka")
        assert {(edge.field, edge.column, edge.kind.name) for edge in output.edges} == {
            ("key", "key", "IDENTITY"),
            ("value", "value", "TRANSFORMATION"),
        }
        assert captured.lineage.gaps == ()


def test_a_topic_is_loaded_into_a_warehouse_once(spark, servers, options, tmp_path, monkeypatch):
    """Each load takes the messages that are new; after one that died, its messages are loaded again."""

    def send(*messages, partition):
        rows = spark.createDataFrame([(each, partition) for each in messages], "value STRING, partition INT")
        # One task, so that messages come in this order.
        rows.coalesce(1).write.format("kafka").options(**options, topic="lineage").save()

    def event(number):
        run, job = {"runId": f"run-{number}"}, {"namespace": "jobs", "name": "etl"}
        time = f"2026-01-0{number}T00:00:00Z"
        return json.dumps(
            {"eventType": "COMPLETE", "eventTime": time, "producer": "x", "run": run, "job": job}
        )

    def loaded():
        return load(spark, f"kafka://{servers}/lineage", tmp_path / "w", kafka_options={"minPartitions": "1"})

    send(event(1), "{not json", None, partition=0)
    summary = loaded()
    assert (summary.events, summary.new_events, summary.bad_lines) == (1, 1, 1)
    [rejected] = [
        json.loads(line)
        for file in (tmp_path / "w" / "rejected").glob("*/part-*")
        for line in file.read_text().splitlines()
    ]
    assert rejected["problem"].startswith("lineage[0]@1, line 1: not JSON")
    assert loaded().events == 0
    send(event(2), event(1), partition=0)
    with monkeypatch.context() as patch:
        patch.setattr(loads, "publish", dying)
        with pytest.raises(DiedError):
            loaded()
    summary = loaded()
    assert (summary.events, summary.new_events, summary.bad_lines) == (2, 1, 0)
    events = rows_of(read_tables(tmp_path / "w"), "events")
    assert {row["run_id"]: row["source"] for row in events} == {
        "run-1": "lineage[0]@0",
        "run-2": "lineage[0]@3",
    }


class DiedError(Exception):
    """A process that ended in the middle."""


def dying(_):
    raise DiedError


def test_options_of_a_topic_are_in_no_message(spark, servers, tmp_path):
    """An option that Kafka refuses may be a password."""
    with pytest.raises(BadInputError) as refused:
        load(
            spark,
            f"kafka://{servers}/lineage",
            tmp_path / "w",
            kafka_options={"kafka.security.protocol": "s3cret"},
        )
    assert "Spark cannot read kafka://" in str(refused.value)
    assert "s3cret" not in str(refused.value)
