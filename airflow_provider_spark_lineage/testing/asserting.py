"""What a test calls: compare events and raise if they differ, and wait for events of other processes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeAlias, TypeVar

from airflow_provider_spark_lineage.errors import BadInputError, SparkLineageError
from airflow_provider_spark_lineage.events import Events, read_events
from airflow_provider_spark_lineage.testing.comparison import compare
from airflow_provider_spark_lineage.testing.expected import Expected, Scope, read_expected
from airflow_provider_spark_lineage.testing.matchers import json_type
from airflow_provider_spark_lineage.testing.report import Line, Report
from airflow_provider_spark_lineage.testing.runs import DagRun

T = TypeVar("T")

Emitted: TypeAlias = DagRun | Events | Iterable[Mapping[str, Any]] | Path | str
"""Where events are: a run, a file or folder that they were written to, or they themselves."""


LONGEST_PAUSE_S = 0.5
"""Between two looks; the first pauses are shorter, for events that are almost there."""


class LineageDiffersError(AssertionError):
    """Events are not as expected; `report` says how, and `lines` are its text.

    `kept` are the places where the events still are, for a person: files, Variables, a log.
    """

    def __init__(self, report: Report, kept: tuple[object, ...] = ()) -> None:
        self.report = report
        self.lines: tuple[Line, ...] = (*report.lines(), *(Line(f"kept: {place}") for place in kept))
        super().__init__("\n".join(line.text for line in self.lines))


def assert_lineage(
    expected: Expected | Mapping[str, Any] | Path | str,
    events: Emitted,
    *,
    variables: Mapping[str, str] | None = None,
    scope: Scope | None = None,
    versions: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> Report:
    """Return the report of a comparison without differences; raise LineageDiffersError if there are some.

    `expected` is a file, a folder, or a mapping of key to event. `events` is a run, the place that they were
    written to, or a list of them as plain mappings. The other arguments are those of `compare`. Raises
    BadInputError if that does, or for arguments that are none of these.
    """
    if isinstance(expected, str | Path):
        expected = read_expected(expected)
    elif isinstance(expected, Mapping):
        expected = Expected.of(expected)
    elif not isinstance(expected, Expected):
        raise BadInputError(
            f"What is expected is {json_type(expected)}; give a file, a folder, or a mapping of"
            " `<dag_id>.<task_id>.event.<type>` to events."
        )
    report = compare(
        expected, events_of(events), variables=variables, scope=scope, versions=versions, without=without
    )
    if not report.ok:
        raise LineageDiffersError(report, _kept(events))
    return report


def events_of(events: Emitted) -> Events:
    """Return the events of a run, a file, a folder or a list; BadInputError for anything else."""
    if isinstance(events, DagRun):
        return events.read()
    if isinstance(events, str | Path):
        return read_events(events)
    if isinstance(events, Events):
        return events
    if isinstance(events, Mapping) or not isinstance(events, Iterable):
        raise BadInputError(
            f"The events are {json_type(events)}; give a file, a folder, or a list of events."
        )
    documents = list(events)
    for number, document in enumerate(documents, 1):
        if not isinstance(document, Mapping):
            raise BadInputError(f"Event {number} of the list is not an event but {json_type(document)}.")
    return Events.of(documents)


def _kept(events: Emitted) -> tuple[str, ...]:
    if isinstance(events, DagRun):
        return (f"events in {events.events}", f"log in {events.log}")
    return (f"events in {events}",) if isinstance(events, str | Path) else ()


class DeadlineError(SparkLineageError):
    """The events did not come in time; the message says which were there."""


def wait_for_events(path: Path | str, until: Callable[[Events], bool] | int, timeout_s: float = 30) -> Events:
    """Return the events of a file or folder as soon as `until` holds, or as soon as there are that many.

    A path that does not exist yet has no events. Raises DeadlineError after `timeout_s`.

    >>> wait_for_events("/nowhere", until=0)
    Events(items=(), problems=())
    """
    path = Path(path)

    def look() -> Events:
        try:
            return read_events(path)
        except BadInputError:
            return Events((), ())

    events, holds = poll(look, until if callable(until) else lambda events: len(events) >= until, timeout_s)
    if not holds:
        keys = ", ".join(sorted({event.key for event in events})) or "none"
        raise DeadlineError(
            f"{path}: the events waited for did not come within {timeout_s:g} s; there are {len(events)}:"
            f" {keys}."
        )
    return events


def poll(look: Callable[[], T], holds: Callable[[T], bool], timeout_s: float) -> tuple[T, bool]:
    """Return what `look` returns as soon as it holds, or at the deadline, and whether it holds."""
    deadline = monotonic() + timeout_s
    pause = 0.01
    while True:
        is_late = monotonic() >= deadline
        seen = look()
        if holds(seen):
            return seen, True
        if is_late:
            return seen, False
        sleep(min(pause, max(0.0, deadline - monotonic())))
        pause = min(pause * 1.5, LONGEST_PAUSE_S)
