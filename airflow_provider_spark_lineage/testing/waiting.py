"""Waits for events that other processes write: looks again until a deadline, and never just sleeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

from airflow_provider_spark_lineage.errors import BadInputError, SparkLineageError
from airflow_provider_spark_lineage.events import Events, read_events

T = TypeVar("T")

LONGEST_POLL_S = 0.5
"""Between two looks; the first ones follow faster, for events that are almost there."""


class DeadlineError(SparkLineageError):
    """The events did not come in time; the message says which were there."""


def wait_for_events(path: Path | str, until: Callable[[Events], bool] | int, timeout_s: float = 30) -> Events:
    """The events of a file or folder as soon as `until` holds of them, or as soon as there are that many.

    What does not exist yet holds no events, and an event that is being written is not there yet. Raises
    DeadlineError after `timeout_s`.

    >>> wait_for_events("/nowhere", until=0)
    Events(items=(), problems=())
    """
    path = Path(path)
    holds = until if callable(until) else lambda events: len(events) >= until
    events, held = poll(lambda: _events(path), holds, timeout_s)
    if not held:
        raise DeadlineError(_message(path, events, timeout_s))
    return events


def poll(look: Callable[[], T], holds: Callable[[T], bool], timeout_s: float) -> tuple[T, bool]:
    """What is seen as soon as it holds, or at the deadline, and whether it holds."""
    deadline = monotonic() + timeout_s
    pause = 0.01
    while True:
        late = monotonic() >= deadline
        seen = look()
        if holds(seen):
            return seen, True
        if late:
            return seen, False
        sleep(min(pause, max(0.0, deadline - monotonic())))
        pause = min(pause * 1.5, LONGEST_POLL_S)


def _events(path: Path) -> Events:
    try:
        return read_events(path)
    except BadInputError:
        return Events((), ())


def _message(path: Path, events: Events, timeout_s: float) -> str:
    keys = ", ".join(sorted({event.key for event in events})) or "none"
    return (
        f"{path}: the events waited for did not come within {timeout_s:g} s; there are {len(events)}: {keys}."
    )
