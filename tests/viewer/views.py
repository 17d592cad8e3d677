"""The golden documents of the viewer: events of several producers, each with the documents made from them.

`python tests/viewer/views.py` writes the documents again; read what changed before you commit it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.viewer.listing import listing

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = Path(__file__).resolve().parent / "golden"

EVENTS = {
    "java_agent": TESTS / "viewer" / "events" / "java_agent.jsonl",
    "nycflights": TESTS / "testing" / "emitted" / "nycflights.jsonl",
    "shop": TESTS / "docs" / "events",
}


def events_of(name: str) -> Events:
    place = EVENTS[name]
    if place.is_file():
        return read_events(place)
    # The page of events is in the order of the run.
    order = "task_start execution_start execution_complete task_complete execution_fail task_fail".split()
    return Events.of(json.loads((place / f"{event}.json").read_text(encoding="utf-8")) for event in order)


def text_of(value: Any, indent: int = 0) -> str:
    """Return JSON whose innermost objects and lists have a line each, so that a person can compare it."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) <= 180 - indent or not isinstance(value, dict | list) or not value:
        return flat
    pad = " " * (indent + 1)
    if isinstance(value, list):
        return (
            "[\n" + ",\n".join(pad + text_of(each, indent + 1) for each in value) + "\n" + " " * indent + "]"
        )
    rows = (f"{pad}{json.dumps(key)}: {text_of(each, indent + 1)}" for key, each in value.items())
    return "{\n" + ",\n".join(rows) + "\n" + " " * indent + "}"


def view_of(name: str) -> str:
    return text_of(listing(events_of(name), title=name)) + "\n"


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in EVENTS:
        (GOLDEN / f"{name}.json").write_text(view_of(name), encoding="utf-8")
