"""Functions over batches of rows, which Spark calls in its Python workers by `mapInArrow`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused
from airflow_provider_spark_lineage.openlineage.warehouse.derive import (
    Row,
    derived,
    event_of,
    event_rows,
    of_events,
)

with extra("warehouse"):
    import pyarrow as pa

_PARSED = pa.schema(
    [
        ("event_id", pa.string()),
        ("event_date", pa.int32()),
        ("event_time", pa.int64()),
        *(
            (name, pa.string())
            for name in "event_type run_id parent_run_id job_namespace job_name producer raw source".split()
        ),
        ("problem", pa.string()),
    ]
)

PARSED = (
    "event_id STRING, event_date INT, event_time BIGINT, event_type STRING, run_id STRING,"
    " parent_run_id STRING, job_namespace STRING, job_name STRING, producer STRING, raw STRING,"
    " source STRING, problem STRING"
)
"""Schema of what `parse` yields."""

_DERIVED = pa.schema([("kind", pa.string()), ("payload", pa.string())])

DERIVED = "kind STRING, payload STRING"
"""Schema of the batches of the other functions: the table, and a row of it as JSON."""

_MOST_ROWS = 1000
"""Limit of the rows of a batch."""


def parsing(dropped_facets: frozenset[str]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a function that yields events without some facets, and problems, of batches of lines.

    The lines come with their file and where their part of it begins.
    """

    def parse(batches: Iterator[Any]) -> Iterator[Any]:
        place, number = None, 0
        for batch in batches:
            rows: list[dict[str, Any]] = []
            for line in batch.to_pylist():
                if place != (line["file"], line["start"]):
                    place, number = (line["file"], line["start"]), 0
                number += 1
                file = _shown(line["file"])
                where = f"{file}, from byte {line['start']}" if line["start"] else file
                rows += event_rows(line["line"], where, number, dropped_facets)
            yield from _batches(rows, _PARSED)

    return parse


def derive(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the rows that follow from families of runs, each given with the texts of its events."""
    once = _EachOnce()
    for batch in batches:
        with collector_paused():
            rows = [
                each
                for family in batch.to_pylist()
                for kind, row in derived(family["texts"])
                for each in once.new(kind, row)
            ]
        yield from _batches(rows, _DERIVED)
    yield from _batches(once.rest(), _DERIVED)


def name(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the statements of events about names, and about tags, of events that `derive` is not given."""
    once = _EachOnce()
    for batch in batches:
        events = (event_of(event["raw"]) for event in batch.to_pylist())
        rows = [each for kind, row in of_events(events) for each in once.new(kind, row)]
        yield from _batches(rows, _DERIVED)
    yield from _batches(once.rest(), _DERIVED)


_CONTENTS = {"versions": "lineage_id", "schemas": "schema_id", "names": "dataset_id"}
"""Kinds of rows that are equal if their ids are."""


class _EachOnce:
    """Leaves out rows that a task has yielded already: most runs are like a run before them."""

    def __init__(self) -> None:
        self._contents: set[tuple[str, int]] = set()
        self._statements: dict[tuple[Any, ...], tuple[Row, Row]] = {}
        """Name and dataset -> the first and the last statement."""

    def new(self, kind: str, row: Row) -> Iterator[dict[str, str]]:
        """Yield a row with its kind, unless it is known, or has to wait for others."""
        if kind == "statements":
            key = row["namespace"], row["name"], row["dataset_id"]
            both = (*self._statements.get(key, ()), row)
            self._statements[key] = min(both, key=_said), max(both, key=_said)
            return
        if kind in _CONTENTS:
            content = kind, row[_CONTENTS[kind]]
            if content in self._contents:
                return
            self._contents.add(content)
        yield _with_kind(kind, row)

    def rest(self) -> list[dict[str, str]]:
        """Return the statements: of each name and dataset the first and the last one."""
        return [
            _with_kind("statements", row)
            for first, last in self._statements.values()
            for row in ([first] if _said(first) == _said(last) else [first, last])
        ]


def _said(row: Row) -> int:
    time_ns: int = row["said_ns"]
    return time_ns


def _with_kind(kind: str, row: Row) -> dict[str, str]:
    return {"kind": kind, "payload": json.dumps(row)}


def _batches(rows: list[dict[str, Any]], schema: Any) -> Iterator[Any]:
    for first in range(0, len(rows), _MOST_ROWS):
        yield pa.RecordBatch.from_pylist(rows[first : first + _MOST_ROWS], schema=schema)


def _shown(address: str) -> str:
    """Return the path of a local file, for an address of Spark."""
    parts = urlsplit(address)
    return unquote(parts.path) if parts.scheme == "file" else address
