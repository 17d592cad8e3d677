"""Waits for events that other processes write, by looking again until a deadline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

from airflow_provider_spark_lineage.errors import BadInputError, SparkLineageError
from airflow_provider_spark_lineage.events import Events, read_events

T = TypeVar("T")

LONGEST_PAUSE_S = 0.5
"""Between two looks; the first pauses are shorter, for events that are almost there."""


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
