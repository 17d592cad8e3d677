"""Compares emitted events with expected ones, key by key; the only place that decides what counts as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.events.reader import collector_paused as paused
from airflow_provider_spark_lineage.testing.differences import ABSENT, Mismatch
from airflow_provider_spark_lineage.testing.expected import Expected, ExpectedEvent, Scope
from airflow_provider_spark_lineage.testing.keys import parse_key
from airflow_provider_spark_lineage.testing.pairing import Emitted, Group, paired_groups
from airflow_provider_spark_lineage.testing.paths import path_text
from airflow_provider_spark_lineage.testing.reference import ABSENT_KEY, Templates, mismatches, plain
from airflow_provider_spark_lineage.testing.related import Broken, NotChecked, Related, Unchecked
from airflow_provider_spark_lineage.testing.relations import broken
from airflow_provider_spark_lineage.testing.report import Difference, Kind, Report
from airflow_provider_spark_lineage.testing.variables import fill
from airflow_provider_spark_lineage.testing.versions import Versions

_MOST_DAGS = 10
"""DAGs that a message names; an installation has thousands."""


@paused()
def compare(
    expected: Expected,
    events: Events,
    *,
    variables: Mapping[str, str] | None = None,
    scope: Scope | None = None,
    versions: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> Report:
    """A report of every event that is missing, unexpected or not as expected, and of broken relations.

    `variables` replaces `${NAME}` in expected strings. `scope` is `"all"` (every emitted event must be
    expected), `"dags"` (those of the DAGs that the expected keys name) or `"keys"` (those of these keys); by
    default a single file speaks for its own DAGs, a folder for all, and a JSON array for its keys.
    `versions` (`{"spark": "4.1"}`) decides what `when:` asks about, over what the events say and what is
    installed. `without` names rules of `relations.RELATIONS` that are not to be checked. Raises BadInputError
    for a variable that has no value, for a version that nobody knows, for a rule that does not exist, and
    where nothing is expected of these versions.

    >>> key = "dag.task.event.fail"
    >>> compare(Expected.of({key: {}}), Events.of([])).summary
    '0 events match, 1 differ'
    """
    with events.depth_told():
        return _compared(
            expected,
            events,
            variables=variables or {},
            scope=scope or expected.scope,
            versions=versions or {},
            without=without,
        )


def _compared(
    expected: Expected,
    events: Events,
    *,
    variables: Mapping[str, str],
    scope: Scope,
    versions: Mapping[str, str],
    without: Collection[str],
) -> Report:
    meant, refused = expected.meant_for(Versions(events, versions))
    wanted = _filled(meant, variables)
    scoped = _in_scope(events, expected, scope)
    emitted = Emitted(scoped.events, events)
    found = _Collector()
    for group in paired_groups(wanted, emitted):
        _compare_group(group, emitted, found)
    for templates in expected.templates:
        _compare_templates(templates, emitted, found, nothing=not events)
    for event in emitted.left():
        found.add([_unexpected(event, emitted.why_unexpected(event, refused))])
    notes = _of_no_dag((*wanted, *expected.templates), events)
    problems = [*events.problems]
    relations: list[str] = []
    several = {templates.key for templates in expected.templates if templates.several}
    for rule, findings in broken(Related(scoped.related, events, several), without):
        try:
            notes += _relate(rule, findings, found)
            relations.append(rule)
        except NotChecked as error:
            problems.append(f"The relation `{rule}` was not checked: {error}.")
    return Report(
        len(found.passed),
        tuple(found.differences),
        tuple(problems),
        len(events),
        scoped.skipped,
        notes,
        tuple(found.passed),
        tuple(relations),
    )


def paired(
    expected: Expected,
    events: Events,
    *,
    variables: Mapping[str, str] | None = None,
    versions: Mapping[str, str] | None = None,
) -> Iterator[tuple[int | None, Event | None]]:
    """What `compare` compares with what: positions in `expected.events`, and emitted events.

    One of the two is None where an event is missing or unexpected; what is not meant for these versions is
    left out.
    """
    meant, _ = expected.meant_for(Versions(events, versions or {}))
    wanted = _filled(meant, variables or {})
    positions = {id(event): position for position, event in enumerate(expected.events)}
    known = {id(filled): positions[id(event)] for filled, event in zip(wanted, meant, strict=True)}
    emitted = Emitted(_in_scope(events, expected, expected.scope).events, events)
    asked: dict[int, Event] = {}
    taken: set[int] = set()
    for group in paired_groups(wanted, emitted):
        for i, event in enumerate(group.wanted):
            yield known[id(event)], group.emitted[group.pairs[i]] if i in group.pairs else None
        asked.update({id(event): event for event in group.emitted})
        taken.update(id(group.emitted[j]) for j in group.pairs.values())
    # A key, and the same key with an address, may both have asked for an event.
    yield from ((None, event) for number, event in asked.items() if number not in taken)
    yield from ((None, event) for event in emitted.left())


class _Collector:
    """Gathers the differences and numbers the events they belong to."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.differences: list[Difference] = []
        self._events = 0
        self._surplus: set[int] = set()

    def add_surplus(self, event: Event, difference: Difference) -> None:
        """An event too many, once, also where a key and the same key with an address both find it."""
        if id(event) not in self._surplus:
            self._surplus.add(id(event))
            self.add([difference])

    def add(self, differences_of_one_event: Iterable[Difference]) -> None:
        self._events += 1
        self.differences += [replace(one, event=self._events) for one in differences_of_one_event]


class _Scoped(NamedTuple):
    """The events to compare, and how many of which other DAGs are left out."""

    events: list[Event]

    related: list[Event]
    """The events to compare and all others of their DAGs: a run is looked at as a whole."""

    skipped: dict[str, int]


def _filled(events: Sequence[ExpectedEvent], variables: Mapping[str, str]) -> list[ExpectedEvent]:
    return [
        replace(event, document=fill(event.document, variables, f"{event.source}: `{event.key}`"))
        for event in events
    ]


def _in_scope(events: Events, expected: Expected, scope: Scope) -> _Scoped:
    """Choose the events of the DAGs that the keys name, and those that have one of the keys."""
    if scope == "all":
        return _Scoped(list(events), list(events), {})
    dag_ids = frozenset(events.dag_id_of(event) for event in events)
    keys = {plain for event in expected.events for plain in (event.key, parse_key(event.key).plain)}
    keys |= {templates.key for templates in expected.templates}
    by_key: dict[str, set[str]] = {}
    for event in events:
        by_key.setdefault(event.key, set()).add(events.dag_id_of(event))
    named = {dag_id for key in keys for dag_id in dag_ids_of(key, by_key.get(key) or dag_ids)}
    compared: list[Event] = []
    skipped: Counter[str] = Counter()
    for event in events:
        dag_id = events.dag_id_of(event)
        if event.key in keys or (dag_id in named and scope == "dags"):
            compared.append(event)
        else:
            skipped[dag_id] += 1
    whole = set(map(events.dag_id_of, compared))
    related = compared if scope == "dags" else [event for event in events if events.dag_id_of(event) in whole]
    return _Scoped(compared, related, dict(skipped))


def dag_ids_of(key: str, dag_ids: Set[str]) -> tuple[str, ...]:
    """The DAG that a key names, of those there are; ids may contain dots, so the longest that fits."""
    dots = (position for position in range(len(key) - 1, 0, -1) if key[position] == ".")
    return next(((key[:dot],) for dot in dots if key[:dot] in dag_ids), ())


def _of_no_dag(wanted: Sequence[ExpectedEvent | Templates], events: Events) -> tuple[str, ...]:
    """A sentence for each file that speaks of a DAG from which nothing came: its name may be misspelt."""
    emitted = {event.key for event in events}
    keys: dict[str, list[str]] = {}
    for event in wanted:
        keys.setdefault(event.source, []).append(parse_key(event.key).plain)
    strange = [source for source, plain in keys.items() if emitted.isdisjoint(plain)]
    dag_ids = set(map(events.dag_id_of, events)) if strange else set()
    shown = sorted(dag_ids)[:_MOST_DAGS] + ["..."] * (len(dag_ids) > _MOST_DAGS)
    return tuple(
        f"{source}: no event is of a DAG that its keys name; there are events of: {', '.join(shown)}."
        for source in strange
        if dag_ids and not any(dag_ids_of(key, dag_ids) for key in keys[source])
    )


def _compare_group(group: Group, emitted: Emitted, found: _Collector) -> None:
    number = f"{len(group.emitted)} with this key were emitted, {len(group.wanted)} expected"
    for i, event in enumerate(group.wanted):
        if i not in group.pairs:
            found.add([_missing(event, number if group.emitted else "", emitted)])
            continue
        actual, mismatches = group.emitted[group.pairs[i]], group.mismatches[i]
        if mismatches:
            found.add(_changed(group.key, mismatch, actual) for mismatch in mismatches)
        else:
            found.passed.append(event.key)
    for actual in group.surplus():
        found.add_surplus(actual, _unexpected(actual, number, group.key))


def _compare_templates(templates: Templates, emitted: Emitted, found: _Collector, *, nothing: bool) -> None:
    """The same for templates; with `nothing` emitted at all, that one event is not there tells nothing."""
    key, events = templates.key, emitted.take(templates.key)
    if templates.absent:
        for event in events:
            found.add([_unexpected(event, f"must not be emitted: {templates.absent}")])
        if nothing:
            absent = ExpectedEvent(key, {ABSENT_KEY: templates.absent}, templates.source)
            found.add([_missing(absent, "nothing was emitted, so that this was not tells nothing", emitted)])
        elif not events:
            found.passed.append(key)
        return
    pairs = templates.pairs(events)
    for document, event in pairs:
        places = list(mismatches(document, event.document))
        found.add(_changed(key, place, event) for place in places)
        found.passed += [] if places else [key]
    # A template that is compared with nothing proves nothing, unless there must be nothing.
    if (events or templates.count.none) and templates.count.allows(len(events)):
        return
    number = f"{len(events)} with this key were emitted, {templates.count.text} expected"
    if not events or len(events) < templates.count.number:
        for document in templates.documents[len(pairs) :] or templates.documents[-1:]:
            wanted = ExpectedEvent(key, plain(document), templates.source)
            found.add([_missing(wanted, number if events else "", emitted)])
    else:
        paired_events = {id(event) for _, event in pairs}
        for event in [event for event in events if id(event) not in paired_events] or events:
            found.add([_unexpected(event, number)])


def _relate(rule: str, findings: Iterable[Broken | Unchecked], found: _Collector) -> tuple[str, ...]:
    """Adds what does not hold between the events; returns what the rule could not judge."""
    unchecked: list[str] = []
    for _, group in groupby(findings, key=lambda one: id(one.event) if isinstance(one, Broken) else 0):
        places = list(group)
        found.add(_broken(rule, place) for place in places if isinstance(place, Broken))
        unchecked += [f"{rule}: {place.reason}." for place in places if isinstance(place, Unchecked)]
    return tuple(unchecked)


def _broken(rule: str, place: Broken) -> Difference:
    return Difference(
        Kind.RELATION,
        place.event.key,
        place.path,
        place.expected,
        place.actual,
        place.reason,
        _where(place.event),
        rule=rule,
    )


def _changed(key: str, mismatch: Mismatch, event: Event) -> Difference:
    return Difference(
        Kind.CHANGED,
        key,
        path_text(mismatch.path),
        mismatch.expected,
        mismatch.actual,
        mismatch.reason,
        _where(event),
    )


def _missing(event: ExpectedEvent, number: str, emitted: Emitted) -> Difference:
    candidates = () if number else emitted.candidates(event.key)
    reason = number or "no event with this key was emitted"
    return Difference(
        Kind.MISSING, event.key, "", event.document, ABSENT, reason, f"expected in {event.source}", candidates
    )


def _unexpected(event: Event, reason: str, key: str = "") -> Difference:
    return Difference(Kind.UNEXPECTED, key or event.key, "", ABSENT, event.document, reason, _where(event))


def _where(event: Event) -> str:
    index = "" if event.map_index is None else f", map_index {event.map_index}"
    # Almost every event is of the first try, which nobody asks about.
    tried = f", try {event.try_number}" if (event.try_number or 1) > 1 else ""
    return f"{event.source}{index}{tried}"
