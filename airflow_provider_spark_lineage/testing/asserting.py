"""Compares and raises: one call for a test, whose failure says everything and where the events are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.events import Events, read_events
from airflow_provider_spark_lineage.testing.comparison import compare
from airflow_provider_spark_lineage.testing.expected import Expected, Scope, read_expected
from airflow_provider_spark_lineage.testing.render import Line, lines
from airflow_provider_spark_lineage.testing.report import Report
from airflow_provider_spark_lineage.testing.runs.progress import DagRun


class LineageDiffersError(AssertionError):
    """Events are not as expected; `report` says how, and `lines` says it to a person.

    `kept` are the places, as a person can find them, where the events and logs still are.
    """

    def __init__(self, report: Report, kept: tuple[object, ...] = ()) -> None:
        self.report = report
        self.lines: tuple[Line, ...] = (
            *lines(report),
            *(Line(f"events and logs are kept: {place}") for place in kept),
        )
        super().__init__("\n".join(line.text for line in self.lines))


def assert_lineage(
    expected: Expected | Mapping[str, Any] | Path | str,
    events: DagRun | Events | Path | str,
    *,
    variables: Mapping[str, str] | None = None,
    scope: Scope | None = None,
    versions: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> Report:
    """The report of a comparison that found nothing; LineageDiffersError otherwise.

    `expected` is a file, a folder, or a mapping of key to event; `events` a run, or where they were written.
    The rest is that of `compare`, which also says what BadInputError is raised for.
    """
    if isinstance(expected, str | Path):
        expected = read_expected(expected)
    elif not isinstance(expected, Expected):
        expected = Expected.of(expected)
    report = compare(
        expected,
        events_of(events),
        variables=variables,
        scope=scope,
        versions=versions,
        without=without,
    )
    if not report.ok:
        raise LineageDiffersError(report, _kept(events))
    return report


def events_of(events: DagRun | Events | Path | str) -> Events:
    """The events of a run, a file or a folder."""
    if isinstance(events, DagRun):
        return events.read()
    return read_events(events) if isinstance(events, str | Path) else events


def _kept(events: DagRun | Events | Path | str) -> tuple[Path, ...]:
    if isinstance(events, DagRun):
        return (events.events, events.log)
    return (Path(events),) if isinstance(events, str | Path) else ()
