"""The driver of an application that a stand-in of a service is asked to run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from recordings import Recording

from airflow_provider_spark_lineage.spark.records.record import Record, encode_record
from airflow_provider_spark_lineage.spark.records.status import DriverNote

RECORD = Record.from_json(json.loads(Recording("scan_write_parquet").lines[0]))
_PLACE = re.compile(r"spark\.lineage\.records\W+file://(/[^\s\"',\\]+)")


def driver(request: Any) -> bool:
    """Write the files of a driver with the agent, if the request names a place; return whether it succeeds.

    `request` is the service's, JSON or text. One that has the word `fails` in it fails.
    """
    text = request if isinstance(request, str) else json.dumps(request, default=dict)
    place = _PLACE.search(text)
    if place:
        folder = Path(place[1])
        folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(tz=timezone.utc).isoformat()
        record = replace(RECORD, started_at=now, ended_at=now)
        note = DriverNote(
            record.application_id, record.application_name, record.spark_version, is_complete=True
        )
        for name, content in (encode_record(record), note.encode()):
            (folder / name).write_bytes(content)
    return "fails" not in text
