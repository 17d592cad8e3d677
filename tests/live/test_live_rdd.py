"""Jobs over RDDs, which no query listener sees: recorded at the call, in their true order."""

from __future__ import annotations

import contextlib
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

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
    """pyspark makes its actions of one another: the program's own call is recorded, once."""
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
    # Jobs of these may go on after the call.
    uncounted = {record.name for record in records if record.jobs is None}
    assert uncounted == {"toLocalIterator", "countApprox"}


def test_spark_names_jobs_as_without_capture(spark, recorded):
    """The name of a job in Spark's user interface has the user's line, not a file of ours."""
    context = spark.sparkContext
    tracker, names = context.statusTracker(), []
    for capture in (contextlib.nullcontext, recorded):
        with capture():
            context.setJobGroup(f"names of {capture}", "")
            context.parallelize([1]).map(lambda number: number + 1).count()
            context._jsc.sc().listenerBus().waitUntilEmpty(300_000)
            [job] = tracker.getJobIdsForGroup(f"names of {capture}")
            [stage] = tracker.getJobInfo(job).stageIds
            names.append(tracker.getStageInfo(stage).name)
    context._jsc.sc().clearJobGroup()
    assert names[0] == names[1]
    assert names[0].startswith(f"count at {__file__}:")


def test_records_keep_the_order_of_the_program(spark, recorded, tmp_path):
    """A query is reported after its end; jobs over RDDs are recorded between the queries before and after."""
    with recorded() as records:
        for number in range(10):
            folder = str(tmp_path / str(number))
            spark.range(3).selectExpr("string(id)").write.text(folder)
            spark.sparkContext.textFile(folder).saveAsTextFile(folder + "_copy")
    assert [record.name for record in records] == ["command", "saveAsTextFile"] * 10
    assert [record.number for record in records] == list(range(1, 21))


def test_a_save_that_fails_is_a_failure_with_sparks_reason(spark, lines, tmp_path):
    """The exception reaches the program as it was. No job began, so nothing was read."""
    from py4j.protocol import Py4JJavaError

    with capture_lineage(spark) as captured, pytest.raises(Py4JJavaError, match="already exists"):
        spark.sparkContext.textFile(lines).saveAsTextFile(str(tmp_path))
    (failure,) = captured.lineage.failures
    assert failure.error_class == "org.apache.hadoop.mapred.FileAlreadyExistsException"
    assert (captured.lineage.inputs, captured.lineage.outputs) == ((), ())


def test_a_save_that_fails_has_the_job_of_one_that_succeeds(spark, lines, tmp_path):
    """Its event is named after where it was to save, without an output."""
    with capture_lineage(spark) as captured, pytest.raises(Exception, match="by zero"):
        spark.sparkContext.textFile(lines).map(lambda line: 1 / 0).saveAsTextFile(str(tmp_path / "out"))
    event = [event for event in captured.events(job="job") if event["job"]["name"] == "job.out"][-1]
    assert (event["eventType"], event["outputs"]) == ("FAIL", [])


def test_a_save_that_cannot_begin_is_not_a_fault_of_the_capture(spark, lines, caplog):
    """The program sees why: nothing is lost that a warning or a gap could be about."""
    rdd = spark.sparkContext.textFile(lines)
    with capture_lineage(spark) as wrong_path, pytest.raises(Exception, match="No FileSystem for scheme"):
        rdd.saveAsTextFile("nowhere://bucket/out")
    with capture_lineage(spark) as no_path, pytest.raises(TypeError):
        rdd.saveAsTextFile()
    for captured in (wrong_path, no_path):
        assert len(captured.lineage.failures) == 1
        assert "capture" not in [gap.where for gap in captured.lineage.gaps]
    assert [entry.message for entry in caplog.records if entry.levelno >= logging.WARNING] == []


def test_missing_files_are_not_inputs(spark, lines, tmp_path):
    """A call that fails before its first job read nothing; one whose tasks fail did."""
    with capture_lineage(spark) as captured, pytest.raises(Exception, match="does not exist"):
        spark.sparkContext.textFile(str(tmp_path / "nothing")).count()
    assert captured.lineage.inputs == ()
    with capture_lineage(spark) as captured, pytest.raises(Exception, match="by zero"):
        spark.sparkContext.textFile(lines).map(lambda line: 1 / 0).count()
    assert [source.dataset.id.name for source in captured.lineage.inputs] == [lines]


def test_a_failed_call_in_a_batch_of_a_stream_has_its_inputs(spark, lines, tmp_path):
    """Jobs of a call in foreachBatch belong to the execution of the batch, too."""

    def divide(batch, number):
        with pytest.raises(Exception, match="by zero"):
            spark.sparkContext.textFile(lines).map(lambda line: 1 / 0).count()

    with capture_lineage(spark) as captured:
        rates = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
        writer = rates.writeStream.option("checkpointLocation", str(tmp_path / "state"))
        writer.foreachBatch(divide).trigger(once=True).start().awaitTermination()
    assert [source.dataset.id.name for source in captured.lineage.inputs] == [lines]


def test_no_method_of_pyspark_stays_replaced(spark, recorded):
    """After the last capture RDDs and frames are pyspark's own again."""
    from pyspark import RDD

    frame = type(spark.range(1))
    before = dict(RDD.__dict__), dict(frame.__dict__)
    with recorded():
        assert RDD.__dict__["collect"] is not before[0]["collect"]
    assert (dict(RDD.__dict__), dict(frame.__dict__)) == before


def test_a_job_that_lineage_cannot_read_is_not_harmed(spark, lines, monkeypatch):
    """Whatever breaks while a call is recorded, the call returns its own result."""
    from airflow_provider_spark_lineage.spark.capture import this_process

    def breaks(*_):
        raise RuntimeError("on purpose")

    monkeypatch.setattr(this_process, "record_of", breaks)
    with capture_lineage(spark) as captured:
        assert spark.sparkContext.textFile(lines).count() == 2
    assert "on purpose" in captured.text()


def test_the_sources_of_an_rdd_are_asked_once(spark, recorded, lines, monkeypatch):
    """A later action of it asks the JVM for less than the first one."""
    client = spark.sparkContext._gateway._gateway_client
    commands, send = [], client.send_command

    def counted(*arguments, **options):
        # Capture fetches records on a thread of its own, at any time.
        if threading.current_thread() is threading.main_thread():
            commands.append(arguments[0])
        return send(*arguments, **options)

    monkeypatch.setattr(client, "send_command", counted)
    rdd = spark.sparkContext.textFile(lines).map(len)

    def requests():
        commands.clear()
        rdd.count()
        return len(commands)

    requests()
    without = requests()
    with recorded():
        first, *later = (requests() for _ in range(3))
    assert first > max(later) + 5
    assert max(later) < without + 10, (without, later)


def counts(spark, rdd, action="count", *arguments):
    """Return the rows that an action of an RDD read, and those that it wrote."""
    with capture_lineage(spark) as captured:
        getattr(rdd, action)(*arguments)
    (read,) = captured.lineage.inputs
    return read.statistics.rows, [output.statistics.rows for output in captured.lineage.outputs]


def test_rows_of_jobs_are_those_that_their_tasks_counted(spark, lines, tmp_path):
    """Rows that each task reads once, whatever follows. Sequence files need the first pair."""
    upper, pairs, pickled = (str(tmp_path / name) for name in ("upper", "pairs", "pickled"))
    rdd = spark.sparkContext.textFile(lines)
    assert counts(spark, rdd, "collect") == (2, [])
    assert counts(spark, rdd.keyBy(len).groupByKey()) == (2, [])
    assert counts(spark, rdd.filter(lambda line: "p" in line), "saveAsTextFile", upper) == (2, [1])
    assert counts(spark, rdd.map(lambda line: (line, 1)), "saveAsSequenceFile", pairs) == (None, [2])
    assert counts(spark, rdd, "saveAsPickleFile", pickled) == (2, [None])
    assert counts(spark, spark.sparkContext.pickleFile(pickled)) == (None, [])


def test_rows_that_were_read_twice_are_not_counted(spark, lines):
    """Tasks count each reading; a job that goes on is not done."""
    rdd = spark.sparkContext.textFile(lines)
    for twice in (rdd.union(rdd), rdd.cartesian(rdd), rdd.keyBy(len).join(rdd.keyBy(len))):
        assert counts(spark, twice) == (None, [])
    assert counts(spark, rdd, "toLocalIterator") == (None, [])


@pytest.mark.parametrize("call", [("first",), ("take", 1), ("isEmpty",), ("takeSample", False, 1)])
def test_a_call_that_may_stop_early_counts_no_rows(spark, lines, call):
    """Half of the rows would be taken for all of them."""
    assert counts(spark, spark.sparkContext.textFile(lines), *call) == (None, [])


def test_blocks_of_a_cached_rdd_are_not_counted(spark, lines):
    """Tasks also count rows read from memory."""
    rdd = spark.sparkContext.textFile(lines)
    cached = rdd.map(len).cache()
    for _ in range(2):
        assert counts(spark, cached) == (None, [])


def test_calls_of_several_threads_have_their_own_counts(spark, tmp_path):
    """Each thread's jobs are its own, though they run at once."""
    paths = [tmp_path / f"{number}.txt" for number in range(1, 5)]
    for number, path in enumerate(paths, 1):
        path.write_text("line\n" * number)
    with capture_lineage(spark) as captured, ThreadPoolExecutor(4) as pool:
        rows = pool.map(lambda path: spark.sparkContext.textFile(str(path)).count(), paths)
        assert list(rows) == [1, 2, 3, 4]
    assert [source.statistics.rows for source in captured.lineage.inputs] == [1, 2, 3, 4]


def test_a_cached_frame_is_read_from_its_sources(spark, lines):
    """Also when it is used again, and in a capture that began later."""
    frame = spark.read.text(lines).cache()
    rdd = spark.sparkContext.textFile(lines).cache()
    for read in (frame, frame.filter("value > 'o'"), rdd, rdd.map(len)):
        with capture_lineage(spark) as captured:
            read.collect()
        assert [source.dataset.id.name for source in captured.lineage.inputs] == [lines]


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
