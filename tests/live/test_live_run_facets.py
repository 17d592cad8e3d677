"""Facts about a Spark application and what it used: the same from every way to run Spark, and Spark's own."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from dataclasses import replace

import pytest
from live_session import start_spark
from pyspark.errors import StreamingQueryException
from pyspark.sql.functions import expr
from servers.connect import client, connect
from servers.spark_home import spark_home

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.agent.zipped import write_agent
from airflow_provider_spark_lineage.spark.event_log import SETTINGS
from airflow_provider_spark_lineage.spark.facets import resources
from airflow_provider_spark_lineage.spark.facets.events import plain
from airflow_provider_spark_lineage.spark.facets.resources import bottlenecks
from airflow_provider_spark_lineage.spark.records.status import read_notes
from airflow_provider_spark_lineage.spark.records.streams import Streams
from airflow_provider_spark_lineage.spark.runs.facets import RUN_FACETS
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

pytestmark = pytest.mark.spark

OF_THE_LOG = {"ui_url", "python_version", "streams"}
"""A log does not tell these; of streams, it does not tell when they ended."""

SUMS = {
    "executorRunTime": "run_ms",
    "jvmGcTime": "gc_ms",
    "memoryBytesSpilled": "memory_spilled_bytes",
    "diskBytesSpilled": "disk_spilled_bytes",
    "inputBytes": "input_bytes",
    "inputRecords": "input_rows",
    "outputBytes": "output_bytes",
    "outputRecords": "output_rows",
    "shuffleReadBytes": "shuffle_read_bytes",
    "shuffleWriteBytes": "shuffle_written_bytes",
    "numCompleteTasks": "tasks",
}
"""Field of a stage in Spark's REST API -> field of `Usage`."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """An application with a skewed stage, as captured and as logged, and Spark's own figures about it."""
    folder = tmp_path_factory.mktemp("facets")
    (folder / "log").mkdir()
    log = {**SETTINGS, "spark.eventLog.dir": (folder / "log").as_uri()}
    ui = {"spark.ui.enabled": "true", "spark.ui.port": "0"}
    spark = start_spark(folder, **log, **ui, **{"spark.executorEnv.DB_PASSWORD": "hunter2"})
    try:
        context = spark.sparkContext

        def work(number, seconds):
            until = time.monotonic() + (seconds if number == 0 else 0)
            while time.monotonic() < until:
                pass
            return (number, number % 2)

        with capture_lineage(spark) as captured:
            began = time.monotonic()
            context.parallelize(range(4), 4).map(lambda number: work(number, 0)).collect()
            slow = max(3.0, 8 * (time.monotonic() - began))
            rows = context.parallelize(range(4), 4).map(lambda number: work(number, slow))
            rows.toDF("number int, part int").write.parquet(str(folder / "rows"))
            rows = spark.read.parquet(str(folder / "rows"))
            rows.groupBy("part").count().write.csv(str(folder / "counts"))
            stream(spark, folder)
            doubled = spark.udf.register("doubled", lambda number: 2 * number, "int")
            few, renamed = rows.filter(doubled("number") < 100), rows.toDF("other", "rest")
            spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
            few.crossJoin(renamed).write.parquet(str(folder / "pairs"))
            few.join(renamed.hint("broadcast"), expr("number < other")).count()
        context._jsc.sc().listenerBus().waitUntilEmpty(300_000)
        address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}"
        stages, executors = (answer_of(f"{address}/{name}") for name in ("stages", "executors"))
    finally:
        spark.stop()
    written = RecordedFolder(folder / "log")
    stages = [stage for stage in stages if stage["status"] == "COMPLETE"]
    return captured.run(), written.run(), stages, executors, (streams_of(captured), streams_of(written))


def stream(spark, folder):
    """Copy two files of one and of two rows; stop, restart for a third file; a second query fails later."""
    source = str(folder / "arrived")
    for counts in ((1, 2), (4,)):
        for count in counts:
            spark.range(count).coalesce(1).write.mode("append").parquet(source)
        rows = spark.readStream.schema("id bigint").option("maxFilesPerTrigger", 1).parquet(source)
        copy = rows.writeStream.queryName("copy").option("checkpointLocation", str(folder / "copy_state"))
        copy.trigger(availableNow=True).start(str(folder / "copied")).awaitTermination()

    def keep_first(batch, number):
        if number:
            raise ValueError(number)
        batch.sparkSession.sparkContext.setJobDescription("of the function")
        batch.count()
        batch.write.mode("append").parquet(str(folder / "kept"))

    bad = rows.writeStream.option("checkpointLocation", str(folder / "bad_state")).foreachBatch(keep_first)
    with pytest.raises(StreamingQueryException):
        bad.trigger(availableNow=True).start().awaitTermination()


def streams_of(recorded):
    """Return state, job and written rows of the events of streaming queries."""
    return [
        (
            event["eventType"],
            event["job"]["name"],
            [
                output.get("outputFacets", {}).get("outputStatistics", {}).get("rowCount")
                for output in event["outputs"]
            ],
        )
        for event in recorded.events(namespace="tests", job="load")
        if event["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    ]


def answer_of(url):
    with urllib.request.urlopen(url) as answer:  # noqa: S310  Spark's own address
        return json.load(answer)


def test_sums_are_those_of_sparks_own_interface(ran):
    """A figure that differs from Spark's user interface is not believed."""
    run, _, stages, executors, _ = ran
    usage = run.applications[0].usage
    assert {name: getattr(usage, name) for name in SUMS.values()} == {
        name: sum(stage[field] for stage in stages) for field, name in SUMS.items()
    }
    assert (usage.stages, usage.failed_stages, usage.failed_tasks) == (len(stages), 0, 0)
    assert (usage.executors, usage.cores) == (1, 2)
    assert usage.python_ms > 0
    assert usage.memory_bytes == sum(executor["maxMemory"] for executor in executors)
    assert usage.cpu_ms == sum(stage["executorCpuTime"] // 1_000_000 for stage in stages)


def test_the_skewed_stage_is_named(ran):
    """Whoever asks why a task was slow learns the stage, the slowest task and the share of its rows."""
    run, _, stages, *_ = ran
    skewed = max(stages, key=lambda stage: stage["executorRunTime"])
    usage = run.applications[0].usage
    # Ten times as slow: a stage of three seconds is not worth a sentence.
    slower = [
        replace(
            stage, **{name: 10 * getattr(stage, name) for name in ("elapsed_ms", "slowest_ms", "median_ms")}
        )
        for stage in usage.longest_stages
    ]
    usage = replace(usage, span_ms=0, longest_stages=tuple(slower))
    _, costliest = max(bottlenecks(usage), key=lambda pair: pair[0])
    assert (costliest["kind"], costliest["stage"]) == ("skew", skewed["stageId"])
    assert "The slowest of 4 tasks" in costliest["message"]


def test_a_log_tells_the_same(ran):
    """An event log reports the same as the live session, except for two facts that a log does not have."""
    [application], [logged] = (way.applications for way in ran[:2])
    expected = {name: value for name, value in application.details.items() if name not in OF_THE_LOG}
    assert {name: value for name, value in logged.details.items() if name not in OF_THE_LOG} == expected
    assert (logged.id, logged.name, logged.spark_version) == (
        application.id,
        application.name,
        application.spark_version,
    )
    assert expected["master"] == "local[2]"
    assert expected["user"]
    assert "hunter2" not in str(application.details)


def test_a_log_tells_the_same_of_streams(ran):
    """Each run of a query counts its own batches, also after a restart, and says how far it came."""
    [application], [logged] = (way.applications for way in ran[:2])
    runs = application.streams.runs
    assert logged.streams == Streams(3, tuple(replace(run, ended_at="") for run in runs))
    first, second, failed = runs
    assert [(run.name, run.outcome, run.batches, run.rows) for run in runs] == [
        ("copy", "success", 2, 3),
        ("copy", "success", 1, 4),
        # The function reads its batch twice, and Spark counts both.
        ("", "failure", 1, 2),
    ]
    assert first.id == second.id != failed.id
    for run in runs:
        assert run.started_at < run.ended_at
    assert first.last.sources[0].end_offset == second.last.sources[0].start_offset == '{"logOffset":1}'
    assert second.last.sink.endswith("/copied]")
    assert failed.error["class"]


def test_each_run_of_a_query_is_one_child_run(ran):
    """The same from a session and from its log: one end, and the rows of its own batches."""
    captured, logged = ran[-1]
    assert (
        captured
        == logged
        == [
            ("START", "load.copied", [None]),
            ("COMPLETE", "load.copied", [3]),
            ("START", "load.copied.2", [None]),
            ("COMPLETE", "load.copied.2", [4]),
            ("START", "load.kept", [None]),
            ("FAIL", "load.kept", [1]),
        ]
    )


def test_joins_without_an_equality_are_in_the_plan(ran):
    """Both ways tell the join, the execution that Spark's interface shows, and the rows of each side."""
    joins, logged = ([join for each in way.executions for join in each.joins] for way in ran[:2])
    assert [(join.operator, join.rows, join.left_rows, join.right_rows) for join in joins] == [
        ("CartesianProduct", 16, None, None),
        ("BroadcastNestedLoopJoin", 6, 4, 4),
    ]
    assert [replace(join, elapsed_ms=0) for join in logged] == [replace(join, elapsed_ms=0) for join in joins]


PROGRAM = """
def program(spark, folder):
    rows = spark.range(6, numPartitions=2).selectExpr("id", "id % 2 part")
    rows.write.parquet(folder + "/rows")
    spark.read.parquet(folder + "/rows").groupBy("part").count().write.parquet(folder + "/counts")
    wrong = spark.sql("select raise_error('no') wrong, id from parquet.`" + folder + "/rows`")
    try:
        wrong.write.mode("overwrite").parquet(folder + "/counts")
    except Exception:  # The failure is what the facets tell; the program goes on.
        pass
"""

MAIN = """
import sys
from pyspark.sql import SparkSession
program(SparkSession.builder.getOrCreate(), sys.argv[1])
"""


def program(spark, folder):
    """Run the program in this process."""
    names = {}
    exec(PROGRAM, names)  # noqa: S102  our own text
    names["program"](spark, str(folder))


@pytest.fixture(scope="module")
def of_session(tmp_path_factory):
    """Return the run of a session of this process."""
    folder = tmp_path_factory.mktemp("session")
    spark = start_spark(folder)
    try:
        with capture_lineage(spark) as captured:
            program(spark, folder)
    finally:
        spark.stop()
    return captured.run()


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    """The folder of a submitted job that ran the program: with `records` of the agent, and a `log`."""
    folder = tmp_path_factory.mktemp("submitted")
    (folder / "log").mkdir()
    (folder / "app.py").write_text(PROGRAM + MAIN)
    agent = write_agent(folder / "agent.zip")
    conf = {
        "spark.ui.enabled": "false",
        "spark.lineage.records": str(folder / "records"),
        "spark.lineage.properties": "spark.master;spark.redis.*",
        "spark.redis.auth": "hunter2",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "log").as_uri(),
    }
    options = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
    command = [
        "spark-submit",
        "--master",
        "local[1]",
        "--py-files",
        str(agent),
        *options,
        "app.py",
        str(folder),
    ]
    environment = {**os.environ, **spark_home()}
    subprocess.run(
        [*command, "app.py", str(folder)],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        timeout=300,
    )
    return folder


@pytest.fixture(scope="module")
def of_log(submitted):
    """Return the run in the log of the submitted job."""
    return RecordedFolder(submitted / "log", properties=["spark.master", "spark.redis.*"]).run()


@pytest.fixture(scope="module")
def of_connect(tmp_path_factory):
    """Return the run of a client of Spark Connect, and the server's version."""
    folder = tmp_path_factory.mktemp("connect")
    with connect(folder) as url, client(url) as spark:
        with capture_lineage(spark) as captured:
            program(spark, folder)
        version = spark.version
    return captured.run(), version


def test_an_agent_tells_the_same(submitted, of_log):
    """The driver of a submitted job writes what the job's event log says; secrets stay in the driver."""
    [note] = read_notes(submitted / "records", [])
    [logged] = of_log.applications
    details = note.application.details
    assert details["properties"] == {"spark.master": "local[1]", "spark.redis.auth": "***"}
    assert details["usage"]["output_rows"] == 8
    assert {name: details[name] for name in details if name not in OF_THE_LOG} == {
        name: value for name, value in logged.details.items() if name not in OF_THE_LOG
    }
    for file in (submitted / "records").iterdir():
        assert b"hunter2" not in file.read_bytes()


def test_a_connect_server_tells_its_place_and_settings(of_connect):
    """A Connect client knows no tasks of the server; the rest is as for other sessions."""
    run, version = of_connect
    [application] = run.applications
    assert (application.spark_version, application.usage) == (version, None)
    assert application.master.startswith("local")
    assert application.properties["spark.master"] == application.master


NOT_TOLD = {"log": {"pythonVersion"}, "connect": {"scalaVersion", "javaVersion", "rowsWritten"}}
"""Way -> fields that it does not tell."""

NOT_OF_CONNECT = {"spark_bottlenecks", "spark_resources"}
"""Functions that have no facet: a server does not tell a client about its tasks."""


def test_the_four_ways_give_facets_of_one_shape(of_session, submitted, of_log, of_connect, monkeypatch):
    """A consumer of facets needs no cases: what a way does not tell is absent, as usage.md says."""
    for limit in ("_SLOW_MS", "_WORTH_MS", "_WORTH_SHARE"):
        monkeypatch.setattr(resources, limit, 0)
    ways = {"agent": RecordedFolder(submitted / "records").run(), "log": of_log, "connect": of_connect[0]}
    for name, function in RUN_FACETS.items():
        expected = shape_of(facets_of(function, of_session))
        # The program has no stream; `test_a_log_tells_the_same_of_streams` has.
        assert expected or name == "spark_streams", name
        for way, run in ways.items():
            absent = way == "connect" and name in NOT_OF_CONNECT
            told = {} if absent else without(expected, NOT_TOLD.get(way, ()))
            assert shape_of(facets_of(function, run)) == told, (name, way)


def facets_of(function, run):
    """The facets of a function, as in an event."""
    return {key: plain(facet) for key, facet in function(run).items()}


def shape_of(value):
    """The names and types of a facet; those of a list are of all its items."""
    if isinstance(value, list):
        shape = {}
        for item in value:
            shape = merged(shape, shape_of(item))
        return [shape]
    if isinstance(value, dict):
        # A property has any name.
        return {name: {} if name == "properties" else shape_of(item) for name, item in value.items()}
    return type(value).__name__


def merged(first, second):
    """A shape with the fields of both."""
    if isinstance(first, list) and isinstance(second, list):
        return [merged(*first, *second)]
    if isinstance(first, dict) and isinstance(second, dict):
        both = {name: merged(first[name], second[name]) for name in first if name in second}
        return {**first, **second, **both}
    return second or first


def without(shape, names):
    """A shape without fields of these names, at any depth."""
    if isinstance(shape, list):
        return [without(item, names) for item in shape]
    if isinstance(shape, dict):
        return {name: without(item, names) for name, item in shape.items() if name not in names}
    return shape
