"""Reads Spark's event log into records, without a JVM, streamed and in bounded memory.

A log has the plans as text (`plan.spark.explain`): all plans if the application has the settings `SETTINGS`,
else the physical plan only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from airflow_provider_spark_lineage.spark.event_log.executions import LoggedApplication
from airflow_provider_spark_lineage.spark.event_log.files import is_event_log, lines_of, logs
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.records.sql_text import FULL

__all__ = ["SETTINGS", "LoggedApplication", "event_log_settings", "is_event_log", "read_event_log"]

SETTINGS = {
    "spark.eventLog.enabled": "true",
    "spark.sql.ui.explainMode": "extended",
    "spark.sql.maxPlanStringLength": "4000000",
    "spark.sql.maxMetadataStringLength": "100000",
    "spark.sql.debug.maxToStringFields": "100000",
}
"""Settings of an application that let Spark log the analyzed plans in full."""


def event_log_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the settings to add to an application with these properties; its own limits of texts stay."""
    own = {name: properties[name] for name in SETTINGS if name in properties and "eventLog" not in name}
    return {**SETTINGS, **own}


_MAX_LINE = 64 << 20
"""Limit of bytes; a longer event is not read."""


def read_event_log(
    place: Path,
    problems: list[str],
    sql_text: str = FULL,
    applications: list[LoggedApplication] | None = None,
) -> Iterator[Record]:
    """Yield a record for each execution of the log at a place, in the order of their ends.

    A place is a file, a folder of a rolling log, or a folder of logs. Events that cannot be read are added to
    `problems`, one sentence each; raise `RecordError` without a log, or if a library for it is missing.
    `applications` gets an entry for each log, which is complete when all records were read.
    """
    names: dict[str, None] = {}
    for log in logs(place):
        problems += log.problems
        application = LoggedApplication(sql_text)
        if applications is not None:
            applications.append(application)
        yield from application.records(lines_of(log, _MAX_LINE, problems), problems)
        names.update(application.names)
        if not application.names:
            problems.append(f"{log.place.name} does not name the application that wrote it")
    if len(names) > 1:
        problems.append(f"there are {len(names)} applications in one place: {', '.join(names)}")
