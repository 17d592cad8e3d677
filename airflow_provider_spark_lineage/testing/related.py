"""What rules about events look at: the events as runs, and what a rule can say of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.events.model import Instance
from airflow_provider_spark_lineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.testing.instants import instant_ns

TERMINAL = ("complete", "fail", "abort")
"""Types that end a run."""


class Broken(NamedTuple):
    """One place where a rule does not hold."""

    event: Event
    path: str
    reason: str
    expected: Any = ABSENT
    actual: Any = ABSENT


class Unchecked(NamedTuple):
    """Something a rule cannot judge, which is no mistake by this rule: a sentence without its full stop."""

    reason: str

    @classmethod
    def of(cls, events: Sequence[Event], reason: str) -> Iterator[Unchecked]:
        """One sentence for all events that cannot be judged for one reason; none where there are none."""
        if events:
            more = f" and {len(events) - 1} more" if len(events) > 1 else ""
            yield cls(f"`{events[0].key}` ({label(events[0])}){more} {reason}")


Findings = Iterator[Broken | Unchecked]


class NotChecked(Exception):  # noqa: N818 - nothing is wrong with the events
    """A rule could not look at the events; the message says why and what to do."""


@dataclass(frozen=True)
class Related:
    """The events that are compared, seen as runs."""

    events: Sequence[Event]

    all: Events
    """Those that are not compared included: a parent may belong to another DAG."""

    several: Collection[str] = ()
    """Keys of which one run may well emit more than one event."""

    @cached_property
    def runs(self) -> list[list[Event]]:
        """Events of one run each: of one try of one task instance where Airflow tells, else of one run id."""
        groups: dict[Any, list[Event]] = {}
        for event in self.events:
            identity = self.instance_of(event) or event.run_id
            if identity:
                groups.setdefault(identity, []).append(event)
        return list(groups.values())

    def instance_of(self, event: Event) -> Instance | None:
        """Which try of a task it is of, by its facet, else by other events of the same run id and job.

        A state that somebody sets by hand is emitted without the facet: no task is at hand there.
        """
        return event.instance or self._instances.get((event.run_id, event.name))

    @cached_property
    def _instances(self) -> Mapping[tuple[str, str], Instance]:
        found: dict[tuple[str, str], Instance] = {}
        for event in self.all:
            if event.instance and event.run_id:
                found.setdefault((event.run_id, event.name), event.instance)
        return found

    @cached_property
    def by_run_id(self) -> Mapping[str, Event]:
        """The first event of every run, compared or not; the first that names a parent where one does."""
        found: dict[str, Event] = {}
        for event in self.all:
            if event.run_id and not found.setdefault(event.run_id, event).parent_run_id:
                found[event.run_id] = event if event.parent_run_id else found[event.run_id]
        return found


_OBJECT = (dict, Mapping)
"""Python looks for the first at once and for the second in a registry."""


def of_types(run: Iterable[Event], *types: str) -> list[Event]:
    """The events of these types."""
    return [event for event in run if event.type in types]


def or_absent(value: Any) -> Any:
    """The value as a report shows it."""
    return ABSENT if value is None else value


def at(event: Event, *path: str) -> Any:
    """What stands there in an event; None where nothing does."""
    value: Any = event.document
    for part in path:
        value = value.get(part) if isinstance(value, _OBJECT) else None
    return value


def time_ns(event: Event) -> int | None:
    """When it happened, in nanoseconds since 1970; None where it does not say."""
    return _read(time_text(event))


@lru_cache(maxsize=4096)
def _read(text: str) -> int | None:
    try:
        return instant_ns(text.upper())
    except ValueError:
        return None


def time_text(event: Event) -> str:
    """When it happened, as it says."""
    time = event.document.get("eventTime")
    return time if isinstance(time, str) else ""


def label(event: Event) -> str:
    """Type and place, for a person."""
    return f"{event.type.upper()}, {event.source}" if event.source else event.type.upper()
