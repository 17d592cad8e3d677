"""Which emitted event each expected event is compared with, key by key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.differences import Mismatch, best_pairs, differences
from airflow_provider_spark_lineage.testing.expected import Expected, ExpectedEvent, Scope
from airflow_provider_spark_lineage.testing.keys import Addresses, parse_key

_RUN_KEYS = frozenset({"map_index", "try_number", "runId"})
"""Keys that say which run an event is about; a difference there means that another run was meant."""

_CANDIDATE_BUDGET = 20_000
"""Pairs of keys that are compared for likeness; after that, no candidates are named."""


class Scoped(NamedTuple):
    """The events that a comparison is about."""

    compared: list[Event]

    related: list[Event]
    """Those, and all other events of their DAGs: relations look at whole runs."""

    skipped: dict[str, int]
    """DAG id -> number of events that are left out."""


def in_scope(events: Events, expected: Expected, scope: Scope) -> Scoped:
    """Return the events of the DAGs that the expected keys name, or those with one of the keys."""
    if scope == "all":
        return Scoped(list(events), list(events), {})
    dag_ids = {id(event): events.dag_id_of(event) for event in events}
    known = frozenset(dag_ids.values())
    keys = {plain for event in expected.events for plain in (event.key, parse_key(event.key).plain)}
    keys |= {templates.key for templates in expected.templates}
    dags_with_key: dict[str, set[str]] = {}
    for event in events:
        dags_with_key.setdefault(event.key, set()).add(dag_ids[id(event)])
    named = {dag_id for key in keys for dag_id in dag_named_by(key, dags_with_key.get(key) or known)}
    compared: list[Event] = []
    skipped: Counter[str] = Counter()
    for event in events:
        dag_id = dag_ids[id(event)]
        if event.key in keys or (dag_id in named and scope == "dags"):
            compared.append(event)
        else:
            skipped[dag_id] += 1
    whole = {dag_ids[id(event)] for event in compared}
    related = compared if scope == "dags" else [event for event in events if dag_ids[id(event)] in whole]
    return Scoped(compared, related, dict(skipped))


def dag_named_by(key: str, dag_ids: Set[str]) -> tuple[str, ...]:
    """Return the DAG that a key names; ids may contain dots, so the longest that is among these."""
    dots = (position for position in range(len(key) - 1, 0, -1) if key[position] == ".")
    return next(((key[:dot],) for dot in dots if key[:dot] in dag_ids), ())


class Emitted:
    """The events that are compared, by key and address; knows which of them a key has asked for."""

    def __init__(self, events: Sequence[Event], all_events: Iterable[Event] = ()) -> None:
        """`all_events` may hold the parent of a child run, or the event that a misspelt key meant."""
        self._all = (*events, *all_events)
        self._by_key: dict[str, list[Event]] = {}
        for event in events:
            self._by_key.setdefault(event.key, []).append(event)
        self._known_keys = tuple(dict.fromkeys(event.key for event in self._all))
        self._asked: dict[str, set[int]] = {}
        self._cached_addresses: Addresses | None = None
        self._budget = _CANDIDATE_BUDGET

    def take(self, text: str) -> list[Event]:
        """Return the events of a key as it is written in an expected file."""
        key = parse_key(text)
        # A job may be named `etl[1]`; a task may not, because Airflow refuses such ids.
        if text in self._by_key or not key.has_address:
            key_of_events, events = text, self._by_key.get(text, [])
        else:
            key_of_events, events = key.plain, self._addresses.select(key, self._by_key.get(key.plain, ()))
        self._asked.setdefault(key_of_events, set()).update(map(id, events))
        return events

    @property
    def _addresses(self) -> Addresses:
        if self._cached_addresses is None:
            self._cached_addresses = Addresses(self._all)
        return self._cached_addresses

    def left(self) -> Iterator[Event]:
        """Yield every event that no key has asked for."""
        for key, events in self._by_key.items():
            asked = self._asked.get(key, ())
            yield from (event for event in events if id(event) not in asked)

    def why_unexpected(self, event: Event, refused: Mapping[str, str]) -> str:
        """Return why no key has asked for the event; `refused` says which keys are for other versions."""
        if event.key in self._asked:
            return f"nothing is expected of this instance and try, `{self._addresses.key_of(event)}`"
        if event.key in refused:
            return f"what is expected with this key is not meant for these versions: {refused[event.key]}"
        return "nothing with this key is expected"

    def candidates(self, text: str) -> tuple[str, ...]:
        """Return up to three emitted keys that look like a missing one."""
        same = self._by_key.get(parse_key(text).plain, ())
        if same:
            return tuple(dict.fromkeys(str(self._addresses.key_of(event)) for event in same))[:3]
        self._budget -= len(self._known_keys)
        return tuple(get_close_matches(text, self._known_keys, n=3)) if self._budget >= 0 else ()


@dataclass(frozen=True)
class Group:
    """The expected and the emitted events of one key, and which of them are compared with each other."""

    key: str
    wanted: Sequence[ExpectedEvent]
    emitted: Sequence[Event]

    pairs: Mapping[int, int]
    """Position in `wanted` -> position in `emitted`; as many pairs as the shorter of the two has events."""

    def surplus(self) -> list[Event]:
        """Return the emitted events that no expected one is compared with."""
        paired = set(self.pairs.values())
        return [event for j, event in enumerate(self.emitted) if j not in paired]


def groups_of(wanted: Iterable[ExpectedEvent], emitted: Emitted) -> Iterator[Group]:
    """Yield the events of each expected key, in the order of the keys."""
    by_key: dict[str, list[ExpectedEvent]] = {}
    for event in wanted:
        by_key.setdefault(event.key, []).append(event)
    for key, expected in by_key.items():
        events = emitted.take(key)
        yield Group(key, expected, events, best_pairs(expected, events, _differences, _weight))


def _differences(expected: ExpectedEvent, event: Event) -> Iterator[Mismatch]:
    return differences(expected.document, event.document)


def _weight(mismatch: Mismatch) -> int:
    return 100 if mismatch.path and mismatch.path[-1] in _RUN_KEYS else 1
