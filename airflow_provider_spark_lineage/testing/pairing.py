"""Which emitted event every expected one is compared with, key by key, and what then differs.

Which pairs there are decides what is captured, and what is captured decides which pairs fit; so the keys that
leave no choice go first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TypeVar

from airflow_provider_spark_lineage.events import Event
from airflow_provider_spark_lineage.testing.assignment import EXACT_CELLS, pair
from airflow_provider_spark_lineage.testing.captures import Captures
from airflow_provider_spark_lineage.testing.composite import make
from airflow_provider_spark_lineage.testing.differences import ABSENT, Context, Mismatch, differences
from airflow_provider_spark_lineage.testing.expected import ExpectedEvent
from airflow_provider_spark_lineage.testing.keys import Addresses, parse_key
from airflow_provider_spark_lineage.testing.matchers import Matcher

_Keyed = TypeVar("_Keyed", Event, ExpectedEvent)

_TELLING = frozenset({"map_index", "try_number", "runId"})
"""Keys that say which run an event is about; a difference there means that another one was meant."""

_CANDIDATE_BUDGET = 20_000
"""Pairs of keys whose likeness is worked out; beyond, a missing event is reported without candidates."""

_NOTHING_EXPECTED = "nothing with this key is expected"


class Emitted:
    """The events that are compared: found by key and address, with those that no key has asked for."""

    def __init__(self, events: Sequence[Event], known: Iterable[Event] = ()) -> None:
        """`known` are all events, compared or not.

        One of them may be what a missing key meant, and the task whose child is compared may be another one.
        """
        self._everything = (*events, *known)
        self._groups = _by_key(events)
        self._known = tuple(dict.fromkeys(event.key for event in self._everything))
        self._asked: dict[str, set[int]] = {}
        self._addresses: Addresses | None = None
        self._budget = _CANDIDATE_BUDGET

    def take(self, text: str) -> list[Event]:
        """The events of a key as it is written in an expected file."""
        key = parse_key(text)
        # A job may be called `etl[1]`; no task can, because Airflow refuses such ids.
        if text in self._groups or not key.addressed:
            group = self._groups.get(text, [])
            self._asked[text] = {id(event) for event in group}
            return group
        chosen = self.addresses.chosen(key, self._groups.get(key.plain, ()))
        self._asked.setdefault(key.plain, set()).update(map(id, chosen))
        return chosen

    @property
    def addresses(self) -> Addresses:
        """Worked out when the first key asks for it."""
        if self._addresses is None:
            self._addresses = Addresses(self._everything)
        return self._addresses

    def left(self) -> Iterator[Event]:
        """Every event that no key has asked for."""
        for key, group in self._groups.items():
            asked = self._asked.get(key, ())
            yield from (event for event in group if id(event) not in asked)

    def why_unexpected(self, event: Event, refused: Mapping[str, str]) -> str:
        """What a person should know about an event that no key has asked for."""
        if event.key in self._asked:
            return f"nothing is expected of this instance and try, `{self.addresses.key_of(event)}`"
        reason = refused.get(event.key)
        return (
            f"what is expected with this key is not meant for these versions: {reason}"
            if reason
            else _NOTHING_EXPECTED
        )

    def candidates(self, text: str) -> tuple[str, ...]:
        """Emitted keys that look like one that is missing, as long as looking is cheap."""
        same = self._groups.get(parse_key(text).plain, ())
        if same:
            return tuple(dict.fromkeys(str(self.addresses.key_of(event)) for event in same))[:3]
        self._budget -= len(self._known)
        return tuple(get_close_matches(text, self._known, n=3)) if self._budget >= 0 else ()


@dataclass
class Group:
    """The expected and the emitted events of one key, and which of them belong together."""

    key: str
    wanted: Sequence[ExpectedEvent]
    emitted: Sequence[Event]

    pairs: dict[int, int] = field(default_factory=dict)
    """Position in `wanted` -> position in `emitted`, for as many as the shorter of the two has."""

    mismatches: dict[int, list[Mismatch]] = field(default_factory=dict)
    """Position in `wanted` -> where its event differs."""

    def surplus(self) -> list[Event]:
        """The emitted events that no expected one is compared with."""
        taken = set(self.pairs.values())
        return [event for j, event in enumerate(self.emitted) if j not in taken]

    def choices(self) -> int:
        """How many more pairs fit than there can be; 0 where there is no choice, or nothing to capture."""
        rows, columns = len(self.wanted), len(self.emitted)
        if max(rows, columns) <= 1 or not any(event.captures for event in self.wanted):
            return 0
        cells = rows * columns
        if cells > EXACT_CELLS:
            return cells
        attempt = self._attempt(Captures())
        fitting = sum(next(attempt(i, j), None) is None for i in range(rows) for j in range(columns)) - min(
            rows, columns
        )
        # Where not even one fits for each, any choice may be the wrong one.
        return fitting if fitting >= 0 else cells

    def settle(self, captures: Captures) -> None:
        """Choose the pairs that differ least, given what is captured so far, and capture what is in them."""
        attempt = self._attempt(captures)

        def fits(i: int, j: int) -> bool:
            return next(attempt(i, j), None) is None

        def cost(i: int, j: int) -> int:
            return sum(map(_weight, attempt(i, j)))

        wanted = [event.document for event in self.wanted]
        emitted = [event.document for event in self.emitted]
        self.pairs = dict(pair(wanted, emitted, fits, cost))
        for i, j in self.pairs.items():
            context = Context(captures.of_event(self.called(i)))
            self.mismatches[i] = list(differences(wanted[i], emitted[j], (), context))

    def called(self, i: int) -> str:
        """What a message calls the emitted event that an expected one is compared with."""
        return f"{self.key} ({self.emitted[self.pairs[i]].source})"

    def _attempt(self, captures: Captures) -> Callable[[int, int], Iterator[Mismatch]]:
        def attempt(i: int, j: int) -> Iterator[Mismatch]:
            context = Context(captures.attempt())
            return differences(self.wanted[i].document, self.emitted[j].document, (), context)

        return attempt


def paired_groups(wanted: Iterable[ExpectedEvent], emitted: Emitted) -> list[Group]:
    """The groups of all expected keys, in their order, with their pairs."""
    groups = [Group(key, events, emitted.take(key)) for key, events in _by_key(wanted).items()]
    captures = Captures()
    for group in sorted(groups, key=Group.choices):
        group.settle(captures)
    _add_uncompared(groups, captures)
    return groups


def _add_uncompared(groups: Sequence[Group], captures: Captures) -> None:
    """A name that fewer than two places were there for was compared with nothing, and that is a difference.

    Only where all events that capture it are meant for these versions, and nothing else is wrong with them: a
    missing one explains itself.
    """
    users: dict[str, list[tuple[Group, int]]] = {}
    for group in groups:
        for i, event in enumerate(group.wanted):
            for name in event.captures:
                users.setdefault(name, []).append((group, i))
    found = [
        (name, captures.captured(name), events)
        for name, events in users.items()
        if all(i in group.pairs and not group.mismatches[i] for group, i in events)
        and all(len(events) == group.wanted[i].captures[name] for group, i in events)
    ]
    for name, captured, events in found:
        if captured is None:
            group, i = events[0]
            reason = f"captures `{name}`, which no place was there for, so nothing was compared"
            group.mismatches[i].append(Mismatch((), make("capture", name), ABSENT, reason))
        elif captured.places == 1:
            group, i = next(one for one in events if one[0].called(one[1]) == captured.event)
            reason = f"is captured as `{name}` at no other place, so it was compared with nothing"
            group.mismatches[i].append(Mismatch(captured.path, make("capture", name), captured.value, reason))


def _by_key(events: Iterable[_Keyed]) -> dict[str, list[_Keyed]]:
    groups: dict[str, list[_Keyed]] = {}
    for event in events:
        groups.setdefault(event.key, []).append(event)
    return groups


def _weight(mismatch: Mismatch) -> int:
    captured = isinstance(mismatch.expected, Matcher) and mismatch.expected.name == "capture"
    return 100 if captured or (mismatch.path[-1:] and mismatch.path[-1] in _TELLING) else 1
