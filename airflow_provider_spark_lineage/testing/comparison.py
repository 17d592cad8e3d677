"""Compares emitted events with expected ones, and returns a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import groupby
from typing import NamedTuple

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.events.reader import collector_paused
from airflow_provider_spark_lineage.testing.differences import (
    ABSENT,
    Mismatch,
    best_pairs,
    differences,
    path_text,
)
from airflow_provider_spark_lineage.testing.expected import Expected, ExpectedEvent, Scope
from airflow_provider_spark_lineage.testing.keys import Addresses, parse_key
from airflow_provider_spark_lineage.testing.relations import (
    Broken,
    Findings,
    NotChecked,
    Runs,
    Unchecked,
    check_relations,
)
from airflow_provider_spark_lineage.testing.report import Difference, Kind, Report
from airflow_provider_spark_lineage.testing.templates import Templates
from airflow_provider_spark_lineage.testing.versions import Versions

_RUN_KEYS = frozenset({"map_index", "try_number", "runId"})
"""Keys that say which run an event is about; a difference there means that another run was meant."""

_CANDIDATE_BUDGET = 20_000
"""Pairs of keys that are compared for likeness; after that, no candidates are named."""


@collector_paused()
def compare(
    expected: Expected,
    events: Events,
    *,
    variables: Mapping[str, str] | None = None,
    scope: Scope | None = None,
    versions: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> Report:
    """Return a report of every event that is missing, unexpected or different, and of broken relations.

    `variables` replaces `${NAME}` in expected strings. `scope` is `"all"` (every emitted event must be
    expected), `"dags"` (those of the DAGs that the expected keys name) or `"keys"` (those of these keys); by
    default a file is about its own DAGs, a folder about all, and a JSON array about its keys. `versions`, for
    example `{"airflow": "3.2"}`, wins over what the events say and what is installed. `without` names
    relations that are not to be checked. Raises BadInputError for a variable without value, for a version
    that nobody knows, for a relation that does not exist, and if nothing is expected of these versions.

    >>> key = "dag.task.event.fail"
    >>> compare(Expected.of({key: {}}), Events.of([])).summary
    '0 events match, 1 differ'
    """
    try:
        return _Comparison(expected, events).report(
            variables or {}, scope or expected.scope, Versions(events, versions or {}), without
        )
    except RecursionError:
        raise BadInputError(
            "An event, or what is expected of it, is nested too deeply to be compared."
        ) from None


class _Comparison:
    """Collects the differences of one comparison, numbered by event."""

    def __init__(self, expected: Expected, events: Events) -> None:
        self._expected = expected
        self._events = events
        self._passed: list[str] = []
        self._differences: list[Difference] = []
        self._count = 0
        self._reported_surplus: set[int] = set()

    def report(
        self, variables: Mapping[str, str], scope: Scope, versions: Versions, without: Collection[str]
    ) -> Report:
        meant, refused = self._expected.meant_for(versions)
        wanted = [event.filled(variables) for event in meant]
        scoped = in_scope(self._events, self._expected, scope)
        emitted = Emitted(scoped.compared, self._events)
        for group in groups_of(wanted, emitted):
            self._compare_group(group, emitted)
        for templates in self._expected.templates:
            self._compare_templates(templates, emitted)
        for event in emitted.left():
            self._add([_unexpected(event, emitted.why_unexpected(event, refused))])
        notes: tuple[str, ...] = ()
        problems = [*self._events.problems]
        checked: list[str] = []
        several = {templates.key for templates in self._expected.templates if templates.allows_several}
        for name, findings in check_relations(Runs(scoped.related, self._events, several), without):
            try:
                notes += self._add_findings(name, findings)
                checked.append(name)
            except NotChecked as error:
                problems.append(f"The relation `{name}` was not checked: {error}.")
        return Report(
            len(self._passed),
            tuple(self._differences),
            tuple(problems),
            len(self._events),
            scoped.skipped,
            notes,
            tuple(self._passed),
            tuple(checked),
        )

    def _add(self, differences_of_event: Iterable[Difference]) -> None:
        self._count += 1
        self._differences += [replace(difference, event=self._count) for difference in differences_of_event]

    def _compare_group(self, group: Group, emitted: Emitted) -> None:
        count = f"{len(group.emitted)} with this key were emitted, {len(group.wanted)} expected"
        for i, expected in enumerate(group.wanted):
            if i not in group.pairs:
                self._add([_missing(expected, count if group.emitted else "", emitted)])
                continue
            event = group.emitted[group.pairs[i]]
            mismatches = list(differences(expected.document, event.document))
            if mismatches:
                self._add(_changed(group.key, mismatch, event) for mismatch in mismatches)
            else:
                self._passed.append(expected.key)
        for event in group.surplus():
            # A key, and the same key with an address, may both have asked for the event.
            if id(event) not in self._reported_surplus:
                self._reported_surplus.add(id(event))
                self._add([_unexpected(event, count, group.key)])

    def _compare_templates(self, templates: Templates, emitted: Emitted) -> None:
        key, events = templates.key, emitted.take(templates.key)
        if templates.absent:
            self._compare_absent(templates, events, emitted)
            return
        pairs = templates.pairs(events)
        for document, event in pairs:
            mismatches = list(differences(document, event.document))
            if mismatches:
                self._add(_changed(key, mismatch, event) for mismatch in mismatches)
            else:
                self._passed.append(key)
        # A template that is compared with no event passes only if there must be none.
        if (events or templates.count.is_none) and templates.count.allows(len(events)):
            return
        count = f"{len(events)} with this key were emitted, {templates.count.text} expected"
        if not events or len(events) < templates.count.number:
            for document in templates.documents[len(pairs) :] or templates.documents[-1:]:
                expected = ExpectedEvent(key, document, templates.source)
                self._add([_missing(expected, count if events else "", emitted)])
        else:
            paired = {id(event) for _, event in pairs}
            for event in [event for event in events if id(event) not in paired] or events:
                self._add([_unexpected(event, count)])

    def _compare_absent(self, templates: Templates, events: Sequence[Event], emitted: Emitted) -> None:
        for event in events:
            self._add([_unexpected(event, f"must not be emitted: {templates.absent}")])
        if not self._events:
            expected = ExpectedEvent(templates.key, {"$absent": templates.absent}, templates.source)
            self._add(
                [_missing(expected, "nothing at all was emitted, so its absence proves nothing", emitted)]
            )
        elif not events:
            self._passed.append(templates.key)

    def _add_findings(self, rule: str, findings: Findings) -> tuple[str, ...]:
        """Add what does not hold between the events; return what the relation could not check."""
        unchecked: list[str] = []
        for _, group in groupby(findings, key=lambda item: id(item.event) if isinstance(item, Broken) else 0):
            items = list(group)
            self._add(_broken(rule, item) for item in items if isinstance(item, Broken))
            unchecked += [f"{rule}: {item.reason}." for item in items if isinstance(item, Unchecked)]
        return tuple(unchecked)


def _changed(key: str, mismatch: Mismatch, event: Event) -> Difference:
    path = path_text(mismatch.path)
    return Difference(
        Kind.CHANGED, key, path, mismatch.expected, mismatch.actual, mismatch.reason, _where(event)
    )


def _missing(expected: ExpectedEvent, count: str, emitted: Emitted) -> Difference:
    candidates = () if count else emitted.candidates(expected.key)
    reason = count or "no event with this key was emitted"
    where = f"expected in {expected.source}"
    return Difference(Kind.MISSING, expected.key, "", expected.document, ABSENT, reason, where, candidates)


def _unexpected(event: Event, reason: str, key: str = "") -> Difference:
    return Difference(Kind.UNEXPECTED, key or event.key, "", ABSENT, event.document, reason, _where(event))


def _broken(rule: str, item: Broken) -> Difference:
    event = item.event
    return Difference(
        Kind.RELATION,
        event.key,
        item.path,
        item.expected,
        item.actual,
        item.reason,
        _where(event),
        rule=rule,
    )


def _where(event: Event) -> str:
    index = "" if event.map_index is None else f", map_index {event.map_index}"
    # Almost every event is of the first try.
    attempt = f", try {event.try_number}" if (event.try_number or 1) > 1 else ""
    return f"{event.source}{index}{attempt}"


# Which emitted event each expected event is compared with.


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
