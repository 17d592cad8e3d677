"""Runs of streaming queries of a logged application, with the same facts as `Streams.java` in a live one."""

from __future__ import annotations

import json
import re
from typing import Any

from airflow_provider_spark_lineage.spark.records.streams import (
    FAILURE,
    MOST_RUNS,
    RUNNING,
    SUCCESS,
    Streams,
    error_of,
)

_VALUE = re.compile(r"(/[^/=]+)=[^/\]]*")
"""A partition's folder, `/name=value`, in a description such as `FileSink[/out/day=1]`."""


class LoggedStreams:
    """Keeps what each run of a streaming query did.

    `with_messages` is off where values are not reported: messages of errors, names of partition folders.
    """

    def __init__(self, *, with_messages: bool = True) -> None:
        self._with_messages = with_messages
        self._count = 0
        self._runs: dict[str, dict[str, Any]] = {}
        """Run id -> the fields of `records.streams.StreamRun`."""

    def started(self, line: bytes) -> None:
        """Begin a run, from the line of its start."""
        event = json.loads(line)
        self._run(event)["started_at"] = event.get("timestamp") or ""

    def progressed(self, line: bytes) -> None:
        """Add a report of Spark, which may repeat the number of a batch, without rows."""
        progress = json.loads(line)["progress"]
        if isinstance(progress, str):
            progress = json.loads(progress)
        run, sources = self._run(progress), progress.get("sources") or []
        run["batches"] += run["last"].get("batch_id") != progress["batchId"]
        run["rows"] += sum(int(source.get("numInputRows") or 0) for source in sources)
        run["last"] = {
            "batch_id": progress["batchId"],
            "at": progress.get("timestamp"),
            "duration_ms": (progress.get("durationMs") or {}).get("triggerExecution"),
            "watermark": (progress.get("eventTime") or {}).get("watermark"),
            "sink": self._place(progress.get("sink") or {}),
            "sources": [{**_source(source), "description": self._place(source)} for source in sources],
        }

    def ended(self, line: bytes) -> None:
        """End a run, from the line of its end, which has no time."""
        event = json.loads(line)
        run, exception = self._run(event), event.get("exception")
        run["outcome"] = FAILURE if exception else SUCCESS
        if exception:
            run["error"] = error_of(str(exception), str(event.get("errorClassOnException") or ""))
            if not self._with_messages:
                run["error"]["message"] = ""

    def streams(self) -> Streams | None:
        """Return the runs so far."""
        return Streams.from_json({"count": self._count, "runs": [*self._runs.values()]})

    def _place(self, about: dict[str, Any]) -> str:
        """Return the description of a source or sink."""
        text = str(about.get("description") or "")
        return text if self._with_messages else _VALUE.sub(r"\1=_", text)

    def _run(self, about: dict[str, Any]) -> dict[str, Any]:
        run_id = str(about["runId"])
        if run_id not in self._runs:
            if len(self._runs) >= MOST_RUNS:
                ended = (of for of, run in self._runs.items() if run["outcome"] != RUNNING)
                del self._runs[next(ended, next(iter(self._runs)))]
            self._count += 1
            sums = {"outcome": RUNNING, "batches": 0, "rows": 0, "last": {}}
            self._runs[run_id] = {"id": str(about["id"]), "run_id": run_id, **sums}
        run = self._runs[run_id]
        # The event of the end has no name.
        run["name"] = run.get("name") or about.get("name") or ""
        return run


def _source(source: dict[str, Any]) -> dict[str, Any]:
    return {
        "start_offset": source.get("startOffset"),
        "end_offset": source.get("endOffset"),
        "rows": source.get("numInputRows"),
        "input_rows_per_second": source.get("inputRowsPerSecond"),
        "processed_rows_per_second": source.get("processedRowsPerSecond"),
        "metrics": source.get("metrics"),
    }
