from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.records.record import Record, write_record

RECORDS = Path(__file__).resolve().parent.parent / "records"


@pytest.fixture
def recorded(tmp_path: Path):
    """Return a function that makes a folder of records from one of the captured cases."""

    def make(case: str) -> Path:
        folder = tmp_path / case
        folder.mkdir()
        lines = gzip.decompress((RECORDS / case / "record-4.1.json.gz").read_bytes()).splitlines()
        for line in lines:
            write_record(folder, Record.from_json(json.loads(line)))
        return folder

    return make
