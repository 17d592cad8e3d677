"""Puts the cases of `tests/records` on the path; the records of one log."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from one_log import LOG, read

from airflow_provider_spark_lineage.spark.records.record import Record

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "records"))


@pytest.fixture
def whole(tmp_path: Path) -> list[Record]:
    """The records of the log in one plain file."""
    path = tmp_path / "app-1"
    path.write_bytes(LOG)
    records, problems = read(path)
    assert records
    assert problems == []
    return records
