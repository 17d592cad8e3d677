"""Reading the files of OpenLineage's own FileTransport, also after a writer was killed."""

from __future__ import annotations

import gc
import gzip
import json
from pathlib import Path

import pytest
from openlineage.client import event_v2 as ol
from openlineage.client.transport.file import FileConfig, FileTransport
from openlineage_client import needs_newest_client

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events import read_events

STATES = [ol.RunState.START, ol.RunState.RUNNING, ol.RunState.COMPLETE]
KEYS = ["dag.task.event.start", "dag.task.event.running", "dag.task.event.complete"]


def client_event(state: ol.RunState, name: str = "dag.task") -> ol.RunEvent:
    return ol.RunEvent(
        eventTime="2024-05-01T10:00:00.000000+00:00",
        producer="https://example.com/producer",
        run=ol.Run(runId="018f3a5e-7d2b-7c43-8f6a-2b1d0c9e8f7a"),
        job=ol.Job(namespace="tests", name=name),
        eventType=state,
        inputs=[ol.InputDataset(namespace="file", name="/in/{odd} \u00e4")],
    )


def emit(path: Path, **config: bool) -> None:
    transport = FileTransport(FileConfig(log_file_path=str(path), **config))
    for state in STATES:
        transport.emit(client_event(state))


def written(tmp_path: Path) -> list[str]:
    emit(tmp_path / "source.jsonl", append=True)
    return (tmp_path / "source.jsonl").read_text().splitlines()


def keys(path: Path) -> list[str]:
    return sorted(event.key for event in read_events(path))


def test_append_writes_one_file(tmp_path):
    """With `append`, one file holds one event per line."""
    emit(tmp_path / "events.jsonl", append=True)
    events = read_events(tmp_path / "events.jsonl")
    assert [event.key for event in events] == KEYS
    assert [event.source.rpartition(", ")[2] for event in events] == ["line 1", "line 2", "line 3"]
    assert events.items[0].document["inputs"][0]["name"] == "/in/{odd} \u00e4"
    assert events.problems == ()


@needs_newest_client
@pytest.mark.parametrize("debug_mode", [False, True])
def test_without_append_one_file_per_event(tmp_path, debug_mode):
    """Without `append` there are many files; the folder or the `log_file_path` itself finds them all."""
    (tmp_path / "sub").mkdir()
    emit(tmp_path / "sub" / "ol", debug_mode=debug_mode)
    assert len(list((tmp_path / "sub").iterdir())) == 3
    for path in (tmp_path, tmp_path / "sub", tmp_path / "sub" / "ol"):
        assert keys(path) == sorted(KEYS)


def test_a_path_is_not_a_pattern(tmp_path):
    """`log_file_path` is taken literally, and neighbours with a longer name are not its files."""
    emit(tmp_path / "ol[1]*")
    emit(tmp_path / "ol1x")
    assert len(read_events(tmp_path / "ol[1]*")) == 3


def test_concatenated_objects(tmp_path):
    """Objects need no newline between them, and blank lines mean nothing."""
    lines = written(tmp_path)
    file = tmp_path / "joined.json"
    file.write_text(lines[0] + lines[1] + "\n\n \r\n" + lines[2])
    events = read_events(file)
    assert [event.key for event in events] == KEYS
    assert [event.source for event in events][2].endswith("line 4")


def test_array_of_events(tmp_path):
    """A JSON array of events counts as its events."""
    file = tmp_path / "array.json"
    file.write_text(f"[{','.join(written(tmp_path))}]")
    assert keys(file) == sorted(KEYS)


def test_a_compressed_file_may_have_any_name(tmp_path):
    """gzip is known by the first bytes; and a plain file may be called .gz."""
    lines = "\n".join(written(tmp_path)).encode()
    (tmp_path / "packed.jsonl").write_bytes(gzip.compress(lines))
    (tmp_path / "plain.gz").write_bytes(lines)
    for name in ("packed.jsonl", "plain.gz"):
        assert keys(tmp_path / name) == sorted(KEYS)


def test_a_text_is_not_a_torn_event(tmp_path):
    """Only what begins like an event can end in the middle of one."""
    (tmp_path / "text.jsonl").write_text("Dear reader")
    (problem,) = read_events(tmp_path / "text.jsonl").problems
    assert "not JSON" in problem
    assert "ends in the middle" not in problem


def test_every_torn_end_is_a_problem(tmp_path):
    """Wherever the last event is cut off, the others are kept and one problem names file and line."""
    lines = written(tmp_path)
    file = tmp_path / "torn.jsonl"
    for length in range(1, len(lines[2])):
        file.write_text("\n".join([lines[0], lines[1], lines[2][:length]]))
        events = read_events(file)
        assert [event.key for event in events] == KEYS[:2]
        assert len(events.problems) == 1
        assert f"{file}, line 3:" in events.problems[0]
        assert "ends in the middle of an event" in events.problems[0]


def test_every_torn_middle_loses_one_event_only(tmp_path):
    """A killed writer leaves no newline: the next writer's event on that line is kept."""
    lines = written(tmp_path)
    file = tmp_path / "torn.jsonl"
    for length in range(1, len(lines[0])):
        file.write_text("\n".join([lines[0][:length] + lines[1], lines[2]]))
        events = read_events(file)
        assert [event.key for event in events] == KEYS[1:], lines[0][:length]
        assert len(events.problems) == 1


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"not json at all\n", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"hello": 1}', "it has no `run`, `job` or `dataset`"),
        (b'{"run": {}, "job": {"name": 5}}', "neither `job.name` nor `dataset.name`"),
        (b'{"run": {}, "job": {"name": "a.b"}, "eventType": 3}', "`eventType` is not a string"),
        (b"42", "not a JSON object"),
        (b"\xff\xfe\x00{", "not UTF-8"),
    ],
)
def test_foreign_content_is_a_problem(tmp_path, content, cause):
    """Content other than an event becomes a sentence with file and cause; other files are still read."""
    emit(tmp_path / "good.jsonl", append=True)
    (tmp_path / "bad.json").write_bytes(content)
    events = read_events(tmp_path)
    assert len(events) == 3
    assert "bad.json" in events.problems[0]
    assert cause in events.problems[0]


def test_log_lines_between_events(tmp_path):
    """Text between two events is a problem of its own; both events are kept."""
    lines = written(tmp_path)
    file = tmp_path / "mixed.log"
    file.write_text(f"{lines[0]}\nWARNING {{'a': 1}} something\n{lines[1]}\n")
    events = read_events(file)
    assert [event.key for event in events] == KEYS[:2]
    assert [problem.split(":")[0] for problem in events.problems] == [f"{file}, line 2"]


def test_hidden_files_are_skipped(tmp_path):
    """Files and folders that begin with a dot are editors' and file systems' own."""
    (tmp_path / ".DS_Store").write_bytes(b"\x00\x01")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config.json").write_text("{}")
    assert read_events(tmp_path).problems == ()


def test_empty_place(tmp_path):
    """An empty folder or file has no events and no problems: nothing was emitted."""
    (tmp_path / "empty.jsonl").touch()
    assert len(read_events(tmp_path)) == 0
    assert read_events(tmp_path / "empty.jsonl").problems == ()


def test_missing_path(tmp_path):
    """A path that does not exist is an error that names it: nothing was looked at."""
    with pytest.raises(BadInputError, match=r"nowhere.*no such file or folder"):
        read_events(tmp_path / "nowhere")


def test_long_garbage_is_read_in_linear_time(tmp_path):
    """A megabyte of braces costs a glance, not a minute: this test hangs when recovery is quadratic."""
    file = tmp_path / "garbage.jsonl"
    file.write_text("{x" * 200_000 + "\n" + json.dumps({"a": [{}] * 50_000}) + "{" * 100_000)
    assert read_events(file).problems


def test_the_garbage_collector_is_as_it_was(tmp_path):
    """It rests while events are read, and is on or off afterwards as before, whatever happened."""
    file = tmp_path / "events.jsonl"
    file.write_text("{")
    for turn in (gc.disable, gc.enable):
        turn()
        before = gc.isenabled()
        read_events(file)
        with pytest.raises(BadInputError):
            read_events(tmp_path / "none")
        assert gc.isenabled() == before
