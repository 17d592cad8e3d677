"""Executions of a log: which of them are the program's, and what they read, wrote and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from one_log import LOG, read
from recordings import EVENTS, Recording

from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder


def test_an_execution_that_ran_inside_another_is_its_part(whole: list[Record]) -> None:
    """CREATE TABLE AS SELECT is one action of the user, though Spark runs the insert as an execution."""
    created = [record for record in whole if "CreateDataSourceTableAsSelectCommand" in record.explain]
    assert [["InsertIntoHadoopFs" in part["explain"] for part in record.parts] for record in created] == [
        [True]
    ]


@pytest.mark.parametrize(("failed", "parts"), [({274}, 0), ({273, 274}, 1)], ids=["the part", "both"])
def test_a_part_that_failed_is_nothing_that_its_execution_did(
    tmp_path: Path, failed: set[int], parts: int
) -> None:
    """A command that succeeds repeated the part or did without it; one that fails has the part's inputs."""
    log = LOG
    for number in failed:
        end = b'"executionId":%d,"time":1704067200000,"errorMessage":"' % number
        log = log.replace(end, end + b"no room")
    path = tmp_path / "app-1"
    path.write_bytes(log)
    records, _ = read(path)
    assert [len(record.parts) for record in records] == [0, parts]


def test_counts_are_read_from_the_accumulators(tmp_path: Path) -> None:
    """Counts of tasks and driver are in other events than the plan that names the metric."""
    path = tmp_path / "app-1"
    path.write_bytes(LOG)
    text = RecordedFolder(path).text()
    assert "rows=2" in next(line for line in text.splitlines() if line.startswith("writes"))


@pytest.mark.parametrize(("action", "problems"), [("parquet", 0), ("collect", 1)])
def test_a_job_that_infers_a_schema_is_not_the_programs(tmp_path: Path, action: str, problems: int) -> None:
    """Reading Parquet files runs a job that is of no query; a job over an RDD of the program is a gap."""
    call = f"{action} at App.scala:3"
    stage = {"Stage ID": 90, "Stage Name": call, "RDD Info": [{"RDD ID": 1, "Callsite": call}]}
    job = {"Event": "SparkListenerJobStart", "Job ID": 90, "Stage Infos": [stage], "Stage IDs": [90]}
    path = tmp_path / "app-1"
    path.write_bytes(LOG + json.dumps({**job, "Properties": {}}, separators=(",", ":")).encode() + b"\n")
    assert len(read(path)[1]) == problems


def test_rows_that_a_program_collected_have_its_line(tmp_path: Path) -> None:
    """Spark describes an action by its line; a library of Spark that collects is not the program."""
    log = Recording("collect_only", kind=EVENTS).text
    path = tmp_path / "app-1"
    path.write_text(log, encoding="utf-8")
    assert [record.collected for record in read(path)[0]] == ["job.py:5", "", "job.py:7", ""]
    events = [json.loads(line) for line in log.splitlines()]
    started = [event for event in events if event["Event"].endswith("SQLExecutionStart")]
    for event, caller in zip(
        started, ("com.acme.Load$.main", "org.apache.spark.ml.Pipeline.fit"), strict=False
    ):
        event["description"] = "head at Load.scala:12"
        calls = ["org.apache.spark.sql.Dataset.head(Dataset.scala:99)", f"{caller}(Load.scala:12)"]
        event["details"] = "\n".join(calls)
    path.write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events), "utf-8")
    assert [record.collected for record in read(path)[0]] == ["Load.scala:12", "", "job.py:7", ""]


def batch_with(log: Recording, *writes: tuple[str, str], at_once: bool = False) -> str:
    """Return the log of a batch whose function writes to folders, each with its error, in place of one.

    At once, all writes begin before the first ends.
    """
    events = [json.loads(line) for line in log.lines]
    inside = [event for event in events if event.get("executionId") == 1293]
    begin = events.index(inside[0])
    rest = [event for event in events[begin:] if event not in inside]

    def of_write(event: dict[str, object], number: int, **more: object) -> dict[str, object]:
        text = json.dumps(event).replace("/data/sums", writes[number][0])
        return {**json.loads(text), "executionId": 1293 + number, **more}

    begins = [of_write(inside[0], number) for number in range(len(writes))]
    ends = [of_write(inside[-1], number, errorMessage=error) for number, (_, error) in enumerate(writes)]
    in_turn = (event for pair in zip(begins, ends, strict=True) for event in pair)
    rest = [*([*begins, *ends] if at_once else in_turn), *rest]
    return "".join(json.dumps(e, separators=(",", ":")) + "\n" for e in events[:begin] + rest)


@pytest.mark.parametrize("at_once", [False, True], ids=["in turn", "at once"])
@pytest.mark.parametrize("log", ["events", "formatted"])
def test_queries_of_a_batchs_function_are_the_programs(tmp_path: Path, log: str, at_once: bool) -> None:
    """`foreachBatch` often writes a batch to several places; a failure that it handles leaves no output."""
    path = tmp_path / "app-1"
    writes = ("/data/a", ""), ("/data/b", "org.apache.spark.SparkException: disk"), ("/data/c", "")
    path.write_text(batch_with(Recording("stream_foreach_batch", kind=log), *writes, at_once=at_once))
    lines = RecordedFolder(path).text().splitlines()
    datasets = [line.split()[:3] for line in lines if line.startswith(("reads", "writes"))]
    assert datasets == [
        ["reads", "file", "/data/orders"],
        ["writes", "file", "/data/a"],
        ["writes", "file", "/data/c"],
    ]


def test_queries_inside_a_write_of_a_batch_belong_to_it(tmp_path: Path) -> None:
    """Spark runs the steps of a recursive query as executions inside the write of files."""
    batch, recursive = (
        [json.loads(line) for line in Recording(case, kind=EVENTS).lines]
        for case in ("stream_foreach_batch", "recursive_cte")
    )
    inside = [event for event in batch if event.get("executionId") == 1293]
    begins = [event for event in recursive if event["Event"].endswith("SQLExecutionStart")]
    write = next(
        event for event in begins if "Execute InsertIntoHadoopFs" in event["physicalPlanDescription"]
    )
    numbers = sorted(e["executionId"] for e in begins if e["rootExecutionId"] == write["rootExecutionId"])
    renumbered = {number: 1293 + index for index, number in enumerate(numbers)}
    grafted = [
        {**event, "executionId": renumbered[event["executionId"]]}
        for event in recursive
        if event.get("executionId") in renumbered
    ]
    for event in grafted:
        if "rootExecutionId" in event:
            event["rootExecutionId"] = inside[0]["rootExecutionId"]
    begin = batch.index(inside[0])
    events = [*batch[:begin], *grafted, *(event for event in batch[begin:] if event not in inside)]
    path = tmp_path / "app-1"
    path.write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events))
    assert [len(record.parts) for record in read(path)[0]] == [2, 0]


def in_shell_of_spark_4_2(log: Recording) -> str:
    """Return the log of a statement as `spark-sql` of Spark 4.2 writes it.

    The execution around the statement begins when the statement has ended, and shows its result.
    """
    events = [json.loads(line) for line in log.lines]
    for event in events:
        if "rootExecutionId" in event:
            event["rootExecutionId"] = 490 if event["executionId"] > 491 else 491
    begin = next(event for event in events if event.get("executionId") == 492)
    text = begin["physicalPlanDescription"].replace(
        "== Physical Plan ==\n", "== Physical Plan ==\nCommandResult (9)\n   +- "
    )
    end = next(event for event in events if event.get("executionId") == 492 and "errorMessage" in event)
    around = {**begin, "executionId": 490, "rootExecutionId": 490, "physicalPlanDescription": text}
    events += [around, {**end, "executionId": 490}]
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


@pytest.mark.parametrize("log", ["events", "formatted"])
def test_a_statement_of_the_sql_shell_is_one_execution(tmp_path: Path, log: str) -> None:
    """It has the counts of the write inside; displaying it in the shell is not an execution."""
    path = tmp_path / "app-1"
    usual = Recording("insert_directory", kind=log)
    path.write_text(in_shell_of_spark_4_2(usual))
    assert [len(record.parts) for record in read(path)[0]] == [0, 1]
    plain = tmp_path / "app-2"
    plain.write_text(usual.text)
    assert RecordedFolder(path).text() == RecordedFolder(plain).text()


def test_a_folder_that_hive_writes_is_named(tmp_path: Path) -> None:
    """INSERT OVERWRITE DIRECTORY without a format writes text by Hive's classes."""
    text = Recording("insert_directory", kind=EVENTS).text
    of_spark = "InsertIntoDataSourceDirCommand Storage(Location: /data/out), parquet, true"
    assert of_spark in text
    serde = "Serde Library: org.a.LazySimpleSerDe, InputFormat: org.a.Text, OutputFormat: org.a.Out"
    of_hive = f"InsertIntoHiveDirCommand false, Storage(Location: /data/out, {serde}), true, [id, item]"
    path = tmp_path / "app-1"
    path.write_text(text.replace(of_spark, of_hive))
    lines = RecordedFolder(path).text().splitlines()
    assert [line.split()[:4] for line in lines if line.startswith("writes")] == [
        ["writes", "file", "/data/out", "overwrite"]
    ]
    assert not [line for line in lines if line.startswith("gap")]
