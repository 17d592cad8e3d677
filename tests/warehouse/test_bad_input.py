"""Input that a load cannot use, and what ends it early: one sentence, and the tables are as before."""

from __future__ import annotations

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from warehouse.histories import history

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse.derive import (
    derived,
    event_of,
    event_rows,
    of_events,
)
from airflow_provider_spark_lineage.openlineage.warehouse.early_ends import ended_early
from airflow_provider_spark_lineage.openlineage.warehouse.load import load
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import CURRENT, read_tables

EVENTS = Path(__file__).resolve().parents[1] / "viewer" / "events" / "pipeline.jsonl.gz"

WRONG: tuple[Any, ...] = (
    *(None, [], {}, "", "1", "é" * 50, "\ud800", 0, -1, 1.5, float("inf"), 2**70, True),
    *([None], [[]], [{}], {"a": None}, [1, "a", None, {}]),
)
"""Values of types that the spec has at no place, or at another one."""


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return all objects and lists below a value, each with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in [(value, key), *places(value[key])]]


@pytest.mark.parametrize("seed", range(20))
def test_values_of_other_types_are_no_exception(seed):
    """A value whose type is not the spec's counts as absent: a worker that failed would end every load."""
    chance = random.Random(seed)  # noqa: S311  can be repeated
    with gzip.open(EVENTS) as file:
        documents = [*map(json.loads, file), *history(seed, days=1)]
    for _ in range(20):
        some = copy.deepcopy(chance.sample(documents, 3))
        for document in some:
            for _ in range(chance.choice([1, 1, 2, 5])):
                whole, key = chance.choice(places(document))
                value = whole[key]
                # A copy: one list at two places might come to hold itself.
                whole[key] = copy.deepcopy(chance.choice([*WRONG, [value], {"a": value}]))
        texts = [row["raw"] for each in some for row in event_rows(json.dumps(each).encode(), "f", 1)]
        texts = [
            text for text in texts if not any(row.get("problem") for row in event_rows(text.encode(), "f", 1))
        ]
        rows = [*derived(texts), *of_events(map(event_of, texts))]
        json.dumps(rows).encode()


def test_a_folder_without_files_is_one_sentence(tmp_path):
    """Nothing would be loaded, which a wrong path does, too."""
    with pytest.raises(BadInputError, match="the folder has no files, so no events can be loaded from it"):
        load(None, tmp_path, tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_a_time_that_no_date_can_have_counts_as_none():
    """In UTC it is before the year 1, or after 9999: every load of its date would end."""
    for time in ("0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"):
        event = {"eventType": "COMPLETE", "eventTime": time, "run": {"runId": "1"}, "producer": "x"}
        event["job"] = {"namespace": "jobs", "name": "etl"}
        [row] = event_rows(json.dumps(event).encode(), "f", 1)
        assert (row["event_time"], row["event_date"]) == (None, 0)


def test_an_event_that_is_nested_too_deeply_is_a_bad_line():
    """However deep it is: a worker that failed would end every load."""
    event = {"eventType": "COMPLETE", "run": {"runId": "1"}, "job": {"namespace": "jobs", "name": "etl"}}
    for depth in range(800, 1100):
        text = json.dumps(event)[:-1] + f', "x": {"[" * depth}{"]" * depth}}}'
        [row] = event_rows(text.encode(), "f", 1)
        assert row.get("problem") or row["run_id"] == "1"


@pytest.mark.parametrize(
    "tables", [5, {"runs": 5}, {"runs": {"2026-01-01": 5}}, {"runs": {"2026-01-01": [5]}}]
)
def test_tables_of_another_shape_are_one_sentence(tmp_path, tables):
    """A file that somebody edited names its cure."""
    document = {"format": 1, "load_id": "1", "sources": {}, "tables": tables}
    (tmp_path / CURRENT).write_text(json.dumps(document))
    with pytest.raises(BadInputError, match="was not written by a load: give another folder"):
        read_tables(tmp_path)


class _JavaError:
    def __init__(self, text: str, cause: _JavaError | None = None) -> None:
        self._text, self._cause = text, cause

    def getCause(self) -> _JavaError | None:  # noqa: N802  as in Java
        return self._cause

    def toString(self) -> str:  # noqa: N802
        return self._text

    getMessage = toString  # noqa: N815


def error_of_spark(text: str, java: _JavaError | None = None) -> Exception:
    error = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})(text)
    error.java_exception = java
    return error


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (OSError(28, "No space left on device"), "No space left on device."),
        (OSError(30, "Read-only file system", "/w/data"), "/w/data: Read-only file system."),
        (ConnectionRefusedError(111, "refused"), "Spark has stopped, perhaps for want of memory"),
        (error_of_spark("[X] No such column.\n== SQL =="), "[X] No such column."),
        (
            error_of_spark(
                "failed", _JavaError("SparkException: Job\naborted", _JavaError("java.io.IOException: disk"))
            ),
            "java.io.IOException: disk.",
        ),
        (
            error_of_spark(
                "failed",
                _JavaError(
                    "[FAILED_READ_FILE] Encountered error while reading file file:/e/a.gz. SQLSTATE: KD001",
                    _JavaError("java.io.EOFException: Unexpected end"),
                ),
            ),
            "file:/e/a.gz: java.io.EOFException: Unexpected end.",
        ),
        (error_of_spark("Traceback (most recent call last):\n  File\nKeyError: 'x'"), "KeyError: 'x'."),
    ],
)
def test_what_ends_a_load_early_is_one_sentence(error, cause):
    """The cause of all others, without a traceback of two languages."""
    with pytest.raises(BadInputError) as raised, ended_early("the load"):
        raise error
    assert str(raised.value).startswith(f"the load ended early, and the tables are as before: {cause}")


def test_a_fault_of_this_package_keeps_its_traceback():
    """Nobody could report it otherwise."""
    with pytest.raises(KeyError), ended_early("the load"):
        raise KeyError("x")


@pytest.mark.spark
def test_a_folder_that_cannot_be_written_leaves_the_tables(tmp_path):
    """Also the summary of earlier loads stays, and the next load works."""
    from warehouse.test_command import load_in_own_process

    events, target = tmp_path / "events.jsonl", tmp_path / "lineage"
    events.write_text("".join(f"{json.dumps(each)}\n" for each in history(0, days=1, jobs=2)))
    target.mkdir()
    (target / "loading.json").touch()
    (target / "data").write_text("a file where Spark makes a folder")
    arguments = ["--events", str(events), "--warehouse", str(target)]
    done = load_in_own_process(arguments, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "spark-lineage: the load ended early, and the tables are as before: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (target / CURRENT).exists()
