"""The keys of expected files: which event type of which job, and of which instance and try of a task.

A key names events, an address (`[<map_index>]`, `#<try>`) chooses among them. Ids may contain dots, so
no name is ever split: what an event is about, its airflow run facet says.
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

_NEAR_ADDRESS = re.compile(r".*(\[\s*-?[0-9]+\s*\]|#\s*-?[0-9]+)")
"""A subject that ends like this was meant as an address: `[-1]`, `#0`, `#2[0]`."""


@dataclass(frozen=True)
class ExpectedKey:
    """A key, taken apart.

    >>> parse_key("my.dag.group.task[3]#2.event.complete")
    ExpectedKey(subject='my.dag.group.task', type='complete', map_index=3, try_number=2)
    """

    subject: str
    """`<dag_id>.<task_id>`, `<dag_id>` or the name of a job."""

    type: str

    map_index: int | None = None
    """Only events of this instance of a mapped task; None for those of every instance."""

    try_number: int | None = None
    """Only events of this try; None for those of every try."""

    def __str__(self) -> str:
        return f"{self.subject}{_address_text(self.map_index, self.try_number)}.event.{self.type}"

    @property
    def plain(self) -> str:
        """The key without its address, as an event has it."""
        return f"{self.subject}.event.{self.type}"

    @property
    def addressed(self) -> bool:
        """Whether the key chooses an instance or a try."""
        return self.map_index is not None or self.try_number is not None


@lru_cache(maxsize=4096)
def parse_key(text: str) -> ExpectedKey:
    """The key that is written like this; ValueError completes the sentence "the key ..."."""
    match = _KEY.fullmatch(text)
    if not match:
        raise ValueError(f"`{text}` is not `<dag_id>.<task_id>.event.<type>`")
    if match["type"] not in EVENT_TYPES:
        raise ValueError(f"`{text}` ends in no event type; {nearest(match['type'], EVENT_TYPES)}")
    if _NEAR_ADDRESS.fullmatch(match["subject"]):
        raise ValueError(
            f"`{text}` has no proper address; write `[<map_index>]` from 0, then `#<try>` from 1,"
            " before `.event.`"
        )
    return ExpectedKey(match["subject"], match["type"], _number(match["map_index"]), _number(match["try"]))


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _address_text(map_index: int | None, try_number: int | None) -> str:
    index = "" if map_index is None else f"[{map_index}]"
    return index if try_number is None else f"{index}#{try_number}"


class Addresses:
    """Which instance and try of a task every event is about.

    A child run that says nothing itself belongs to the instance and try of the run that it is a child of; an
    event without Airflow's facet, as a state set by hand emits it, to those of the other events of its run.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self._tasks: dict[str, Event] = {}
        self._parents: dict[str, str] = {}
        for event in events:
            if event.try_number is not None or event.map_index is not None:
                self._tasks[event.run_id] = event
            elif event.run_id and event.parent_run_id:
                self._parents[event.run_id] = event.parent_run_id

    def chosen(self, key: ExpectedKey, events: Iterable[Event]) -> list[Event]:
        """Those events that the key's address chooses; all where it has none."""
        return [event for event in events if self._is_at(key, self._task_of(event))]

    def key_of(self, event: Event) -> ExpectedKey:
        """The event's key with its full address."""
        task = self._task_of(event)
        subject, _, event_type = event.key.rpartition(".event.")
        return ExpectedKey(subject, event_type, task.map_index, task.try_number)

    @staticmethod
    def _is_at(key: ExpectedKey, task: Event) -> bool:
        return key.map_index in (None, task.map_index) and key.try_number in (None, task.try_number)

    def _task_of(self, event: Event) -> Event:
        if event.try_number is not None or event.map_index is not None:
            return event
        same = self._tasks.get(event.run_id) if event.run_id else None
        if same is not None and same.name == event.name:
            return same
        seen: set[str] = set()
        parent = event.parent_run_id
        while parent and parent not in seen:
            if parent in self._tasks:
                return self._tasks[parent]
            seen.add(parent)
            parent = self._parents.get(parent, "")
        return event
