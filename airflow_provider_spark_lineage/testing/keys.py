"""The keys of expected files: an event type of a job, and optionally an instance and a try of a task.

A key names events; its address (`[<map_index>]`, `#<try>`) selects among them. Ids may contain dots, so a job
name is never split: the airflow run facet of an event says which task it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from airflow_provider_spark_lineage.events import EVENT_TYPES, Event
from airflow_provider_spark_lineage.testing.matchers import nearest

_KEY = re.compile(
    r"(?P<subject>.+?)(\[(?P<map_index>0|[1-9][0-9]*)\])?(#(?P<try>[1-9][0-9]*))?\.event\.(?P<type>[^.]+)"
)


@dataclass(frozen=True)
class ExpectedKey:
    """A key in its parts.

    >>> parse_key("my.dag.group.task[3]#2.event.complete")
    ExpectedKey(subject='my.dag.group.task', type='complete', map_index=3, try_number=2)
    """

    subject: str
    """`<dag_id>.<task_id>`, `<dag_id>` or the name of a job."""

    type: str

    map_index: int | None = None
    """Select this instance of a mapped task; None for all instances."""

    try_number: int | None = None
    """Select this try; None for all tries."""

    def __str__(self) -> str:
        index = "" if self.map_index is None else f"[{self.map_index}]"
        attempt = "" if self.try_number is None else f"#{self.try_number}"
        return f"{self.subject}{index}{attempt}.event.{self.type}"

    @property
    def plain(self) -> str:
        """The key without its address, as an event has it."""
        return f"{self.subject}.event.{self.type}"

    @property
    def has_address(self) -> bool:
        """Whether the key selects an instance or a try."""
        return self.map_index is not None or self.try_number is not None


@lru_cache(maxsize=4096)
def parse_key(text: str) -> ExpectedKey:
    """Return the parts of a key; the message of ValueError completes the sentence "the key ..."."""
    match = _KEY.fullmatch(text)
    if not match:
        raise ValueError(f"`{text}` is not `<dag_id>.<task_id>.event.<type>`")
    if match["type"] not in EVENT_TYPES:
        raise ValueError(f"`{text}` does not end in an event type; {nearest(match['type'], EVENT_TYPES)}")
    map_index, attempt = (None if text is None else int(text) for text in (match["map_index"], match["try"]))
    return ExpectedKey(match["subject"], match["type"], map_index, attempt)


def key_order(key: str) -> tuple[str, int, int, str]:
    """Return what keys are sorted by: the alphabet, but instances and tries by their numbers."""
    parsed = parse_key(key)
    index = -1 if parsed.map_index is None else parsed.map_index
    return f"{parsed.subject}.event.", index, parsed.try_number or 0, parsed.type


class Addresses:
    """The instance and the try of a task that each event is about.

    A child run that does not say so belongs to the instance and try of the run that it is a child of. An
    event without Airflow's facet, as after a state was set by hand, belongs to those of the other events of
    its run.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self._tasks: dict[str, Event] = {}
        self._parents: dict[str, str] = {}
        for event in events:
            if event.try_number is not None or event.map_index is not None:
                self._tasks[event.run_id] = event
            elif event.run_id and event.parent_run_id:
                self._parents[event.run_id] = event.parent_run_id

    def select(self, key: ExpectedKey, events: Iterable[Event]) -> list[Event]:
        """Return the events that the key's address selects; all if it has none."""
        return [event for event in events if self._is_at(key, self._task_of(event))]

    def key_of(self, event: Event) -> ExpectedKey:
        """Return the event's key with its full address."""
        task = self._task_of(event)
        return ExpectedKey(event.subject, event.type, task.map_index, task.try_number)

    @staticmethod
    def _is_at(key: ExpectedKey, task: Event) -> bool:
        return key.map_index in (None, task.map_index) and key.try_number in (None, task.try_number)

    def _task_of(self, event: Event) -> Event:
        """Return the event of the task that this one belongs to; the event itself if there is none."""
        if event.try_number is not None or event.map_index is not None:
            return event
        same_run = self._tasks.get(event.run_id) if event.run_id else None
        if same_run is not None and same_run.name == event.name:
            return same_run
        seen: set[str] = set()
        parent = event.parent_run_id
        while parent and parent not in seen:
            if parent in self._tasks:
                return self._tasks[parent]
            seen.add(parent)
            parent = self._parents.get(parent, "")
        return event
