"""The event log of a job that makes a table from a query, and a reader of logs."""

from __future__ import annotations

from pathlib import Path

from recordings import EVENTS, Recording

from airflow_provider_spark_lineage.spark.event_log import read_event_log
from airflow_provider_spark_lineage.spark.records.record import Record

LOG = Recording("ctas", kind=EVENTS).text.encode()
LINES = LOG.splitlines(keepends=True)


def read(place: Path) -> tuple[list[Record], list[str]]:
    problems: list[str] = []
    return list(read_event_log(place, problems)), problems
