"""Reading Spark's event logs: their places, their compression, and torn ones."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from recordings import EVENTS, Recording

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.spark.event_log import is_event_log, read_event_log
from airflow_provider_spark_lineage.spark.records.record import Record, RecordError
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

LOG = Recording("ctas", kind=EVENTS).text.encode()
LINES = LOG.splitlines(keepends=True)


def read(place: Path) -> tuple[list[Record], list[str]]:
    problems: list[str] = []
    return list(read_event_log(place, problems)), problems


@pytest.fixture
def whole(tmp_path: Path) -> list[Record]:
    """The records of the log in one plain file."""
    path = tmp_path / "app-1"
    path.write_bytes(LOG)
    records, problems = read(path)
    assert records
    assert problems == []
    return records


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


def test_a_rolling_log_is_read_in_the_order_of_its_numbers(tmp_path: Path, whole: list[Record]) -> None:
    """File 10 comes after file 9, and a compacted file takes the place of those before it."""
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    (folder / "appstatus_app-1").touch()
    for number, line in enumerate(LINES, 1):
        (folder / f"events_{number}_app-1").write_bytes(line)
    assert read(folder)[0] == whole
    assert read(tmp_path)[0][-len(whole) :] == whole
    middle = len(LINES) // 2
    (folder / f"events_{middle}_app-1.compact").write_bytes(b"".join(LINES[:middle]))
    for number in range(1, middle):
        (folder / f"events_{number}_app-1").write_bytes(b"no event")
    assert read(folder)[0] == whole


def test_a_torn_log_keeps_its_readable_events(tmp_path: Path, whole: list[Record]) -> None:
    """A driver that was killed leaves half a line, and executions without an end."""
    ends = [number for number, line in enumerate(LINES) if b"SQLExecutionEnd" in line[:90]]
    path = tmp_path / "torn.inprogress"
    path.write_bytes(b"".join(LINES[: ends[-1]]) + LINES[ends[-1]][:90])
    records, problems = read(path)
    assert records == whole[: len(records)]
    assert len(records) < len(whole)
    assert any("ends in the middle of an event" in problem for problem in problems)
    assert any("had not ended" in problem for problem in problems)


STARTED = b'{"Event":"SparkListenerApplicationStart","App Name":"idle","App ID":"app-9","Timestamp":1000}\n'
ENDED = b'{"Event":"SparkListenerApplicationEnd","Timestamp":61000}\n'


def command(name: str, place: Path) -> Result:
    return CliRunner().invoke(main, [name, str(place)])


def pieces() -> Iterator[bytes]:
    """Yield beginnings and ends of a log: cut at each line, and at odd bytes."""
    for number in range(len(LINES) + 1):
        yield b"".join(LINES[:number])
        yield b"".join(LINES[number:])
    for byte in range(3, len(LOG), len(LOG) // 40):
        yield LOG[:byte]
        yield LOG[byte:]


@pytest.mark.parametrize("name", ["events", "explain"])
def test_a_log_that_is_cut_anywhere_gives_its_events_or_a_reason(tmp_path: Path, name: str) -> None:
    """A driver may be killed at any moment, and a file may be copied while it grows."""
    path = tmp_path / "app-1"
    for piece in pieces():
        path.write_bytes(piece)
        result = command(name, path)
        assert result.exception is None or isinstance(result.exception, SystemExit), (piece[-80:], result)
        assert result.exit_code == (2 if result.stderr else 0)
        assert all(line.startswith("spark-lineage: ") for line in result.stderr.splitlines())
        assert result.stdout or result.stderr.count("\n") == 1


def test_an_application_that_ended_before_its_first_statement_has_a_start_and_an_end(tmp_path: Path) -> None:
    """Its log has no execution, but the times of its begin and end."""
    path = tmp_path / "app-9"
    path.write_bytes(LINES[0] + STARTED + ENDED)
    events = [json.loads(line) for line in command("events", path).stdout.splitlines()]
    assert [(event["eventType"], event["eventTime"], event["job"]["name"]) for event in events] == [
        ("START", "1970-01-01T00:00:01.000+00:00", "idle"),
        ("COMPLETE", "1970-01-01T00:01:01.000+00:00", "idle"),
    ]
    assert command("explain", path).stdout == "Spark read and wrote no dataset.\n"


@pytest.mark.parametrize("mark", ["app-9.inprogress", "eventlog_v2_app-9/appstatus_app-9.inprogress"])
def test_a_log_whose_application_has_not_ended_says_so(tmp_path: Path, mark: str) -> None:
    """Spark marks such a log in its name; later executions of the application are missing from it."""
    place = (tmp_path / mark).parent if "/" in mark else tmp_path / mark
    (tmp_path / mark).parent.mkdir(exist_ok=True)
    (tmp_path / mark).touch()
    (place / "events_1_app-9" if "/" in mark else place).write_bytes(LINES[0] + STARTED)
    result = command("events", place)
    assert [json.loads(line)["eventType"] for line in result.stdout.splitlines()] == ["START", "COMPLETE"]
    assert result.stderr == (
        f"spark-lineage: {place.name} had not ended: its application runs, or was killed; later events are"
        " missing\n"
    )
    assert "had not ended" in result.stdout


def test_a_rolling_log_says_what_is_missing_from_it(tmp_path: Path) -> None:
    """A missing file, and events that Spark removed when it compacted the log, are lost lineage."""
    folder = tmp_path / "eventlog_v2_app-9"
    folder.mkdir()
    (folder / "events_1_app-9").write_bytes(LINES[0] + STARTED)
    (folder / "events_3_app-9").write_bytes(ENDED)
    assert read(folder)[1] == ["eventlog_v2_app-9 has no file events_2: its events are missing"]
    (folder / "events_2_app-9.compact").write_bytes(LINES[0] + STARTED)
    (problem,) = read(folder)[1]
    assert problem.startswith("eventlog_v2_app-9 was compacted: Spark removed the executions")


@pytest.mark.parametrize("line", [b'{"Event":"SparkListenerApplicationEnd","Timestamp":1e40}\n', b"deep"])
def test_an_event_that_no_reader_takes_is_counted(tmp_path: Path, line: bytes) -> None:
    """A time beyond the calendar, or a plan that is nested deeper than Python reads, loses one event only."""
    deep = b'{"Event":"SparkListenerApplicationEnd","Timestamp":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
    path = tmp_path / "app-9"
    path.write_bytes(LINES[0] + STARTED + (deep if line == b"deep" else line))
    assert read(path)[1] == ["1 event of the log could not be read: damaged, or of an unknown Spark"]


def test_secrets_do_not_leave_the_log(tmp_path: Path) -> None:
    """A plan's text has the options of a write, and the literals of a query."""
    path = tmp_path / "app-1"
    path.write_bytes(LOG.replace(b"Parquet, [path=", b"Parquet, [password=hunter2, path="))
    records, _ = read(path)
    assert "hunter2" not in json.dumps([record.to_json() for record in records])


def test_a_folder_of_records_is_not_an_event_log(tmp_path: Path) -> None:
    """The command takes both, and tells them apart by their contents."""
    (tmp_path / "local-1-000001.record.json.gz").write_bytes(b"")
    (tmp_path / "spark-lineage-run.json").write_text("{}", encoding="utf-8")
    assert not is_event_log(tmp_path)
    with pytest.raises(RecordError, match="has no Spark event log"):
        read(tmp_path)


@pytest.mark.parametrize(("suffix", "library"), [("zstd", "zstandard"), ("lz4", "lz4")])
def test_a_missing_library_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, library: str
) -> None:
    """The error for a compressed log names the extra to install."""
    for module in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    path = tmp_path / f"app-1.{suffix}"
    path.write_bytes(b"x")
    with pytest.raises(RecordError, match=r"airflow-provider-spark-lineage\[event-log\]"):
        read(path)


def test_zstd(tmp_path: Path, whole: list[Record]) -> None:
    """Spark's default codec: also where the last frame was not finished."""
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "app-1.zstd"
    compressor = zstandard.ZstdCompressor().compressobj()
    flushed = b"".join(
        compressor.compress(line) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for line in LINES
    )
    path.write_bytes(flushed + compressor.flush())
    assert read(path) == (whole, [])
    path.write_bytes(flushed)
    assert read(path) == (
        whole,
        ["app-1.zstd ends in the middle (its last frame has no end): later events are missing"],
    )
    path.write_bytes(flushed[:-40])
    records, problems = read(path)
    assert records == whole[: len(records)]
    assert any("ends in the middle" in problem for problem in problems)
    path.write_bytes(flushed[:-40] + b"no frame")
    assert any("ends in the middle" in problem for problem in read(path)[1])
    half = len(LINES) // 2
    path.write_bytes(b"".join(zstandard.compress(b"".join(part)) for part in (LINES[:half], LINES[half:])))
    assert read(path)[0] == whole


def test_lz4_blocks(tmp_path: Path, whole: list[Record]) -> None:
    """Blocks of net.jpountz: compressed ones, raw ones, and several streams in one file."""
    block = pytest.importorskip("lz4.block")

    def framed(data: bytes, *, compressed: bool) -> bytes:
        content = block.compress(data, store_size=False) if compressed else data
        token = (0x20 if compressed else 0x10) | 5
        return struct.pack("<8sBiii", b"LZ4Block", token, len(content), len(data), 0) + content

    end = struct.pack("<8sBiii", b"LZ4Block", 0x15, 0, 0, 0)
    blocks = [framed(line, compressed=number % 2 == 0) for number, line in enumerate(LINES)]
    path = tmp_path / "app-1.lz4"
    path.write_bytes(b"".join(blocks[:5]) + end + b"".join(blocks[5:]) + end)
    assert read(path)[0] == whole
    for torn in (b"".join(blocks)[:-30], b"".join(blocks) + end[:9], b"".join(blocks) + b"no block" * 4):
        path.write_bytes(torn)
        records, problems = read(path)
        assert records == whole[: len(records)]
        assert [problem for problem in problems if "ends in the middle" in problem]


def test_a_damaged_block_is_a_torn_end(tmp_path: Path, whole: list[Record]) -> None:
    """Events before it are kept, and only the library's own exception counts as damage."""
    block = pytest.importorskip("lz4.block")
    data = block.compress(LOG, store_size=False)
    path = tmp_path / "app-1.lz4"
    damaged = struct.pack("<8sBiii", b"LZ4Block", 0x25, 9, 1000, 0) + b"\xff" * 9
    path.write_bytes(struct.pack("<8sBiii", b"LZ4Block", 0x25, len(data), len(LOG), 0) + data + damaged)
    records, problems = read(path)
    assert records == whole
    assert [problem for problem in problems if "app-1.lz4 ends in the middle" in problem]


@pytest.mark.parametrize("codec", ["snappy", "lzf"])
def test_a_codec_that_is_not_read_is_one_sentence(tmp_path: Path, codec: str) -> None:
    """The log is there, so the sentence names the setting and not a missing log."""
    path = tmp_path / f"app-1.{codec}"
    path.write_bytes(b"x")
    assert is_event_log(path)
    with pytest.raises(
        RecordError, match=r"is not supported: set spark\.eventLog\.compression\.codec to zstd or lz4"
    ):
        read(path)


def test_an_empty_log_is_one_sentence(tmp_path: Path) -> None:
    """Spark makes the file before it writes the first event."""
    path = tmp_path / "app-1"
    path.write_bytes(b"")
    with pytest.raises(RecordError, match="app-1 is empty: Spark has written no event"):
        RecordedFolder(path).text()
    folder = tmp_path / "eventlog_v2_app-2"
    folder.mkdir()
    (folder / "events_1_app-2").write_bytes(b"")
    assert read(folder) == ([], ["eventlog_v2_app-2 does not name the application that wrote it"])


def test_a_file_of_another_program_is_one_sentence(tmp_path: Path) -> None:
    """Many programs write a JSON object a line."""
    path = tmp_path / "log"
    path.write_bytes(b'{"event": "started"}\n')
    with pytest.raises(RecordError, match="log has no Spark event log"):
        RecordedFolder(path).text()


@pytest.mark.parametrize("kept", [15, len(LINES[0]) // 2])
def test_a_log_that_begins_in_the_middle_says_so(tmp_path: Path, whole: list[Record], kept: int) -> None:
    """The executions are there; which Spark ran them is not."""
    path = tmp_path / "app-1"
    path.write_bytes(LINES[0][kept:] + b"".join(LINES[1:]))
    records, problems = read(path)
    assert [record.explain for record in records] == [record.explain for record in whole]
    assert [problem for problem in problems if "begins in the middle of an event" in problem]


def test_a_log_of_half_a_line_says_so(tmp_path: Path) -> None:
    """A driver may be killed while it writes its first event."""
    path = tmp_path / "app-1"
    path.write_bytes(LINES[0][:20])
    assert read(path)[0] == []
    assert "app-1 ends in the middle of an event: later events are missing" in read(path)[1]


def test_logs_of_several_applications_say_so(tmp_path: Path, whole: list[Record]) -> None:
    """A folder that applications share has the lineage of all of them."""
    (tmp_path / "app-1").write_bytes(LOG)
    (tmp_path / "app-2").write_bytes(LOG.replace(b'"App ID":"0"', b'"App ID":"local-2"'))
    records, problems = read(tmp_path)
    assert len(records) == 2 * len(whole)
    assert problems == ["there are 2 applications in one place: 0, local-2"]


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
