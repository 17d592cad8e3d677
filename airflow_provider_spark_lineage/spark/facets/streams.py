"""Run facet of the streaming queries of a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
from openlineage.client.facet_v2 import RunFacet

from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER, OwnSchema
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.streams import FAILURE, Progress, StreamRun, StreamSource

MAX_QUERIES = 20
"""Number of queries that an event lists at most; `count` is the number of all."""

MAX_SOURCES = 10
"""Number of sources that an event lists of one query."""


@attrs.define
class SparkStreamsRunFacet(OwnSchema, RunFacet):
    """Runs of streaming queries of a task: their number, those that failed, and the last others."""

    count: int
    queries: list[dict[str, Any]]


def streams_facets(applications: Sequence[Application]) -> dict[str, RunFacet]:
    """Return `sparkLineage_streams`; empty without a streaming query."""
    runs = [(each.id, run) for each in applications if each.streams for run in each.streams.runs]
    if not runs:
        return {}
    newest_first = sorted(range(len(runs)), key=lambda at: (runs[at][1].outcome != FAILURE, -at))
    entries = [_entry(*runs[at]) for at in sorted(newest_first[:MAX_QUERIES])]
    count = sum(each.streams.count for each in applications if each.streams)
    return {"sparkLineage_streams": SparkStreamsRunFacet(count, entries, producer=PRODUCER)}


def _entry(application: str, run: StreamRun) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "applicationId": application,
        "id": run.id,
        "runId": run.run_id,
        "name": run.name,
        "startedAt": run.started_at,
        "endedAt": run.ended_at,
        "outcome": run.outcome,
        "batches": run.batches,
        "rows": run.rows,
        "errorClass": run.error.get("class"),
        "errorMessage": run.error.get("message"),
        "errorCondition": run.error.get("condition"),
        **(_progress(run.last) if run.last else {}),
    }
    return _known(entry)


def _progress(last: Progress) -> dict[str, Any]:
    return {
        "sink": last.sink,
        "sources": [_source(source) for source in last.sources[:MAX_SOURCES]],
        "lastBatch": last.batch_id,
        "lastProgressAt": last.at,
        "lastDurationMs": last.duration_ms,
        "watermark": last.watermark,
        "inputRowsPerSecond": _sum(source.input_rows_per_second for source in last.sources),
        "processedRowsPerSecond": _sum(source.processed_rows_per_second for source in last.sources),
    }


def _source(source: StreamSource) -> dict[str, Any]:
    return _known(
        {
            "description": source.description,
            "startOffset": source.start_offset,
            "endOffset": source.end_offset,
            "rows": source.rows,
            "lag": dict(source.metrics) or None,
        }
    )


def _sum(rates: Iterable[float | None]) -> float | None:
    """Return the sum of the known rates; None without any."""
    known = [rate for rate in rates if rate is not None]
    return round(sum(known), 3) if known else None


def _known(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if value not in (None, "")}
