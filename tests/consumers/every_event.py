"""Events that consumers must be able to read: golden ones, emitted ones, and one run of each recorded job."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from openlineage.client.serde import Serde
from recordings import RECORDS, recordings
from shop_events import GOLDEN, TASKS

from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions
from airflow_provider_spark_lineage.spark.runs.recorded import Recorded
from airflow_provider_spark_lineage.spark.runs.sender import Sender

NEWEST = "4.3"
"""Of jobs recorded on two versions of Spark; their lineage is the same."""

EMITTED = Path(__file__).resolve().parents[1] / "testing" / "emitted"


def golden_and_emitted() -> dict[str, dict[str, Any]]:
    """Return the events of `docs/events.md`, and those of the run behind `system_tests/expected/`."""
    events = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in GOLDEN.glob("*.json")}
    for path in EMITTED.glob("*.jsonl"):
        lines = path.read_text(encoding="utf-8").splitlines()
        events |= {f"{path.stem} line {number}": json.loads(line) for number, line in enumerate(lines, 1)}
    return events


class _Job(Recorded):
    """One recorded job."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def records(self, problems: list[str]) -> Iterator[Record]:
        return (Record.from_json(json.loads(line)) for line in self._lines)


@cache
def every_event() -> dict[str, dict[str, Any]]:
    """Return all events by a name."""
    events = golden_and_emitted()
    for recording in recordings(RECORDS):
        if recording.version != NEWEST:
            continue
        run = _Job(recording.lines).events(namespace="tests", job=recording.case)
        # START has a part of what the end event has.
        ended = (event for event in run if event["eventType"] != "START")
        events |= {f"{recording.case} event {number}": event for number, event in enumerate(ended, 1)}
    return events


def failed_write(*, start_outputs: bool) -> list[dict[str, Any]]:
    """Return START and FAIL of a recorded write of `/shop/ratio` that failed, as a task sends them."""
    task = TASKS["ratio"]
    failed = task.executions[-1]
    # While it runs, capture reports it without an error.
    (begun,) = executions([replace(failed.record, outcome="success", error=None)])
    events: list[dict[str, Any]] = []
    sender = Sender(
        task.identity, lambda event: events.append(Serde.to_dict(event)), start_outputs=start_outputs
    )
    sender.begin(begun)
    sender.put(failed)
    sender.stop(60)
    return events


def without_empty(value: Any) -> Any:
    """Return JSON without nulls, empty lists and empty objects: clients add and leave out some of them."""
    if isinstance(value, dict):
        parts = {key: without_empty(each) for key, each in value.items()}
        return {key: part for key, part in parts.items() if part not in (None, [], {})}
    return [without_empty(each) for each in value] if isinstance(value, list) else value
