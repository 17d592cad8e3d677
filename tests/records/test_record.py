"""The record on disk: written whole or not at all, and read with a sentence for each cause."""

from __future__ import annotations

import dataclasses
import gzip
import json

import pytest

from airflow_provider_spark_lineage.spark.records import record as record_module
from airflow_provider_spark_lineage.spark.records.record import (
    FORMAT,
    SUFFIX,
    VERSION,
    Record,
    RecordError,
    read_record,
    read_records,
    record_paths,
    write_record,
)


def a_record(number: int = 1, **changes: object) -> Record:
    record = Record(
        application_id="local-1",
        application_name="orders of the day",
        spark_version="4.1.4",
        number=number,
        name="command",
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:00:01.500000+00:00",
        outcome="success",
        sql="select 'ünï\U0001f600'",
        plan=[{"class": "Project", "num-children": 0}],
        facts=[{"node": "LogicalRelation", "expr_id": 3, "probed": {"paths": ["file:/in"]}}],
        metrics=[{"node": "Scan parquet", "rows": 3}],
        problems=["nothing to speak of"],
    )
    return dataclasses.replace(record, **changes)


def as_json(**changes: object) -> bytes:
    return json.dumps({**a_record().to_json(), **changes}).encode()


def test_record_survives_the_disk(tmp_path):
    """A record is read as it was written, texts of any language included."""
    record = a_record(error={"class": "E", "message": "m", "sql_state": "22012"}, outcome="failure")
    assert read_record(write_record(tmp_path, record)) == record


def test_unknown_fields_are_left_out_and_optional_fields_have_defaults():
    """A record may gain fields within its version, and lack those that have defaults."""
    value = {**a_record().to_json(), "new_field": 1}
    del value["sql"], value["error"], value["metrics"]
    assert Record.from_json(value) == a_record(sql="", metrics=[])


def test_fields_of_earlier_releases_are_left_out():
    """Older records have the version that wrote them."""
    assert Record.from_json({**a_record().to_json(), "agent_version": "0.1.0"}) == a_record()


def test_a_reader_sees_a_whole_record_or_none(tmp_path, monkeypatch):
    """A driver killed while it writes leaves no record that is half there, and all earlier ones."""
    first = write_record(tmp_path, a_record(1))
    seen = []
    replace = record_module.os.replace

    def killed_before_rename(source, target):
        seen.append(source)
        raise KeyboardInterrupt

    monkeypatch.setattr(record_module.os, "replace", killed_before_rename)
    with pytest.raises(KeyboardInterrupt):
        write_record(tmp_path, a_record(2))
    assert seen[0].exists()
    assert record_paths(tmp_path) == [first]
    monkeypatch.setattr(record_module.os, "replace", replace)
    assert len(record_paths(write_record(tmp_path, a_record(2)).parent)) == 2


def test_a_write_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    """A full disk must not be filled further with unfinished files."""

    def disk_full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record_module.os, "replace", disk_full)
    with pytest.raises(OSError, match="No space left"):
        write_record(tmp_path, a_record())
    assert list(tmp_path.iterdir()) == []


def test_executions_are_read_in_the_order_in_which_they_ended(tmp_path):
    """Applications stay together, and the millionth execution comes after the second."""
    for number in (1_000_000, 2, 10):
        write_record(tmp_path, a_record(number))
    write_record(tmp_path, a_record(1, application_id="local-2"))
    read = list(read_records(record_paths(tmp_path), []))
    assert [(r.application_id, r.number) for r in read] == [
        ("local-1", 2),
        ("local-1", 10),
        ("local-1", 1_000_000),
        ("local-2", 1),
    ]


@pytest.mark.parametrize("application_id", ["application_1700000000000_0001", "spark-abc", "a/b:c d", "ü"])
def test_any_application_id_makes_a_file_name(tmp_path, application_id):
    """Cluster managers invent ids; none of them leads out of the folder."""
    path = write_record(tmp_path, a_record(application_id=application_id))
    assert path.parent == tmp_path
    assert record_paths(tmp_path) == [path]


BAD = {
    "empty": (b"", "truncated"),
    "truncated": (gzip.compress(as_json())[:-40], "truncated"),
    "damaged": (gzip.compress(as_json())[:30] + b"\0" * 30 + gzip.compress(as_json())[60:], "damaged"),
    "not gzip": (as_json(), "not a record"),
    "not JSON": (gzip.compress(b"orders,3"), "not a record"),
    "not UTF-8": (gzip.compress(b"\xff\xfe{}"), "not a record"),
    "number of too many digits": (gzip.compress(b"[" + b"1" * 5000 + b"]"), "not a record"),
    "foreign JSON": (gzip.compress(b'{"eventType": "START"}'), "not a spark-lineage record"),
    "list": (gzip.compress(b"[1]"), "not a spark-lineage record"),
    "later version": (gzip.compress(as_json(version=99)), "record version 99, .* reads version 1"),
    "no version": (gzip.compress(as_json(version=None)), "record version None"),
    "lacking fields": (
        gzip.compress(json.dumps({"format": FORMAT, "version": VERSION}).encode()),
        "lacks fields",
    ),
    "wrong number": (gzip.compress(as_json(number="one")), "'number'"),
    "wrong time": (gzip.compress(as_json(started_at="yesterday")), "'started_at'"),
    "time without zone": (gzip.compress(as_json(ended_at="2026-01-01T00:00:00")), "'ended_at'"),
    "wrong outcome": (gzip.compress(as_json(outcome="perhaps")), "'outcome'"),
    "facts of strings": (gzip.compress(as_json(facts=["a"])), "'facts'"),
    "plan of numbers": (gzip.compress(as_json(plan=[1])), "'plan'"),
    "error as text": (gzip.compress(as_json(error="boom")), "'error'"),
    "problems of objects": (gzip.compress(as_json(problems=[{}])), "'problems'"),
    "deeply nested": (gzip.compress(b"[" * 200_000), "nested too deeply"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_record_is_reported_in_one_sentence_with_file_and_cause(tmp_path, case):
    """Whatever lies there, the reader names the file and the cause, in one line, as a RecordError."""
    content, cause = BAD[case]
    path = tmp_path / ("bad" + SUFFIX)
    path.write_bytes(content)
    with pytest.raises(RecordError, match=cause) as caught:
        read_record(path)
    assert str(caught.value).startswith(f"{path} ")
    assert "\n" not in str(caught.value)


def test_readable_records_are_used_beside_bad_ones(tmp_path):
    """One torn file costs its own execution and nothing else."""
    for number in (1, 2, 3):
        write_record(tmp_path, a_record(number))
    torn = record_paths(tmp_path)[1]
    torn.write_bytes(torn.read_bytes()[:20])
    problems: list[str] = []
    assert [r.number for r in read_records(record_paths(tmp_path), problems)] == [1, 3]
    assert len(problems) == 1
    assert str(torn) in problems[0]


def test_a_folder_without_records_is_reported(tmp_path):
    """No folder, a folder with nothing, and a folder where a record should be: a sentence each."""
    with pytest.raises(RecordError, match=r"nowhere does not exist"):
        record_paths(tmp_path / "nowhere")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(RecordError, match=r"has no records"):
        record_paths(tmp_path)
    with pytest.raises(RecordError, match=r"gone\S* does not exist"):
        read_record(tmp_path / "gone")
    with pytest.raises(RecordError, match=r"cannot be read: Is a directory"):
        read_record(tmp_path)
