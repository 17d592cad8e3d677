"""Records in memory: in order, spilled above a limit, and without a trace on the disk."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from spark_trees import record, scan

from airflow_provider_spark_lineage.spark.runs import memory
from airflow_provider_spark_lineage.spark.runs.memory import Memory

ONE = record(scan())


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, and room for nothing in memory."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(memory, "SPILL_BYTES", 0)
    return tmp_path


def numbers(stored: Memory) -> list[int]:
    return [each.number for each in stored.read()]


def test_records_are_read_as_they_came(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory, in the file, and in memory again where the disk is full; each time they are asked for."""
    records = Memory()
    monkeypatch.setattr(memory, "SPILL_BYTES", 10_000_000)
    records.write(replace(ONE, number=1))
    monkeypatch.setattr(memory, "SPILL_BYTES", 0)
    records.write(replace(ONE, number=2))
    records.write(replace(ONE, number=3))
    monkeypatch.setattr(os, "pwrite", lambda *_: 0)
    records.write(replace(ONE, number=4))
    assert numbers(records) == [1, 2, 3, 4]
    assert next(records.read()) == replace(ONE, number=1)
    assert numbers(records) == [1, 2, 3, 4]


def test_nothing_is_seen_on_the_disk(temporary: Path) -> None:
    """The file has no name from the beginning: nothing is left of a process that is killed."""
    records = Memory()
    records.write(ONE)
    assert list(temporary.iterdir()) == []


def test_without_a_place_for_temporary_files_records_stay_in_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk that is full, read-only or not there costs a line of the log, and no record."""
    monkeypatch.setattr(memory, "SPILL_BYTES", 0)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    records = Memory()
    records.write(ONE)
    assert numbers(records) == [1]
    assert "records stay in memory" in caplog.text


def test_a_forked_child_reads_without_moving_its_parent(temporary: Path) -> None:
    """Both have the same file: reading in one does not move the position in the other."""
    records = Memory()
    for number in range(3):
        records.write(replace(ONE, number=number))
    child = os.fork()
    if not child:
        os._exit(0 if numbers(records) == [0, 1, 2] else 1)
    assert numbers(records) == [0, 1, 2]
    assert os.waitpid(child, 0)[1] == 0
