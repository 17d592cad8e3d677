"""Functions over batches of rows, which Spark calls in its Python workers by `mapInArrow`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.warehouse.derive import (
    derived,
    event_rows,
    statements,
    tag_rows,
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
    for batch in batches:
        rows = [
            {"kind": kind, "payload": json.dumps(row)}
            for family in batch.to_pylist()
            for kind, row in derived(family["texts"])
        ]
        yield from _batches(rows, _DERIVED)


def name(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the statements of events about names, and about tags."""
    for batch in batches:
        rows = [
            {"kind": kind, "payload": json.dumps(row)}
            for event in batch.to_pylist()
            for kind, rows_in in (("statements", statements), ("tags", tag_rows))
            for row in rows_in(event["raw"])
        ]
        yield from _batches(rows, _DERIVED)


def _batches(rows: list[dict[str, Any]], schema: Any) -> Iterator[Any]:
    for first in range(0, len(rows), _MOST_ROWS):
        yield pa.RecordBatch.from_pylist(rows[first : first + _MOST_ROWS], schema=schema)


def _shown(address: str) -> str:
    """Return the path of a local file, for an address of Spark."""
    parts = urlsplit(address)
    return unquote(parts.path) if parts.scheme == "file" else address
