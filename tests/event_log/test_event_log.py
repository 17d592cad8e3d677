"""Reading Spark's event logs: their places, rolling ones, and torn ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from one_log import LINES, LOG, read

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.spark.event_log import is_event_log
from airflow_provider_spark_lineage.spark.records.record import Record, RecordError
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder


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
