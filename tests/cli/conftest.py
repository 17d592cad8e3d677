from __future__ import annotations

import json
from pathlib import Path

import pytest
from recordings import Recording

from airflow_provider_spark_lineage.spark.records.record import Record, write_record


@pytest.fixture
def recorded(tmp_path: Path):
    """Return a function that makes a folder of records from one of the captured cases."""

    def make(case: str) -> Path:
        folder = tmp_path / case
        folder.mkdir()
        for line in Recording(case).lines:
            write_record(folder, Record.from_json(json.loads(line)))
        return folder

    return make
