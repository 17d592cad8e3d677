"""Compares emitted events with expected ones, and returns a report or raises if they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events import Event, Events, read_events
from airflow_provider_spark_lineage.openlineage.events.checks import (
    ASSERTIONS,
    TEST,
    has_failed_check,
    lines_of_event,
)
from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused
from airflow_provider_spark_lineage.openlineage.testing.differences import (
    ABSENT,
    best_pairs,
    differences,
    others,
    path_text,
)
from airflow_provider_spark_lineage.openlineage.testing.expected import (
    Expected,
    ExpectedEvent,
    Scope,
    read_expected,
)
from airflow_provider_spark_lineage.openlineage.testing.keys import ExpectedKey, Versions, full_key, parse_key
from airflow_provider_spark_lineage.openlineage.testing.matchers import json_type
from airflow_provider_spark_lineage.openlineage.testing.relations import (
    Broken,
    Findings,
    Runs,
    relations_without,
)
from airflow_provider_spark_lineage.openlineage.testing.report import Difference, Kind, Line, Report
from airflow_provider_spark_lineage.openlineage.testing.runs import DagRun

Emitted: TypeAlias = DagRun | Events | Iterable[Mapping[str, Any]] | Path | str
"""Source of events: a run, a file or folder, or the events themselves."""


_TESTS = ("run", "facets", TEST)


class LineageDiffersError(AssertionError):
    """Events differ from the expected ones; `report` has the differences, and `lines` are its text.

    `kept` are the places of the events, for people: files, Variables, a log.
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
    """Return the report of a comparison without differences; raise LineageDiffersError if events differ.

    `expected` is a file, a folder, or a mapping of key to event. `events` is a run, a file or folder, or a
    list of plain mappings. The other arguments are passed to `compare`. Raises BadInputError if `compare`
    does, or if an argument has another type.
    """
    if isinstance(expected, str | Path):
        expected = read_expected(expected)
    elif isinstance(expected, Mapping):
        expected = Expected.of(expected)
    elif not isinstance(expected, Expected):
        raise BadInputError(
            f"The expected events are {json_type(expected)}; give a file, a folder, or a mapping of"
            " `<dag_id>.<task_id>.event.<type>` to events."
        )
    read = events_of(events)
    report = compare(expected, read, variables=variables, scope=scope, versions=versions, without=without)
    if not report.ok:
        places: tuple[str, ...] = ()
        if isinstance(events, DagRun):
            places = (f"events in {events.events}", f"log in {events.log}")
        elif isinstance(events, str | Path):
            places = (f"events in {events}",)
        raise LineageDiffersError(report, places)
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
    if not all(isinstance(document, Mapping) for document in documents):
        raise BadInputError("The list of events has an item that is not a mapping.")
    return Events.of(documents)


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
    """Return a report of missing, unexpected and different events, and of broken relations.

    `variables` replaces `${NAME}` in expected strings. `scope` tells which emitted events must be expected:
    `"all"`, `"dags"` (events of the DAGs that the expected keys name) or `"keys"` (events of these keys); the
    default is dags for a file, and all for a folder. `versions`, for example
    `{"airflow": "3.2"}`, wins over versions in events and installed ones. `without` names relations to skip.
    Raises BadInputError for a variable without value, an unknown version, an unknown relation, and if no
    event is expected for these versions.

    >>> key = "dag.task.event.fail"
    >>> compare(Expected.of({key: {}}), Events.of([])).summary
    '0 events match, 1 differs'
    """
    wanted = expected.meant_for(Versions(events, versions or {}))
    filled = [event.filled(variables or {}) for event in wanted]
    return _Comparison(expected, events, scope or expected.scope).report(filled, without)


class _Comparison:
    """Collects the differences of one comparison, numbered by event."""

    def __init__(self, expected: Expected, events: Events, scope: Scope) -> None:
        self._expected = expected
        self._plain_keys = {parse_key(key).plain for key in expected.keys}
        self._events = events
        self._scoped = in_scope(events, expected, scope)
        self._emitted = ByKey(self._scoped.compared, events)
        self._passed: list[str] = []
        self._differences: list[Difference] = []
        self._surplus: set[int] = set()
        self._count = 0

    def report(self, wanted: list[ExpectedEvent], without: Collection[str]) -> Report:
        for group in groups_of(wanted, self._emitted):
            self._compare_group(group)
        for event in self._emitted.left():
            self._add_unexpected(event, self._why_unexpected(event))
        relations = relations_without(without)
        compared = frozenset(map(id, self._scoped.compared))
        runs = Runs(self._scoped.related, self._events, compared)
        notes = [note for name, check in relations.items() for note in self._add_findings(name, check(runs))]
        return Report(
            passed=tuple(self._passed),
            differences=tuple(self._differences),
            problems=self._events.problems,
            emitted=len(self._events),
            skipped=self._scoped.skipped,
            notes=tuple(notes),
            relations=tuple(relations),
            skipped_keys=self._scoped.skipped_keys,
        )

    def _compare_group(self, group: Group) -> None:
        for i, j in sorted(group.pairs.items()):
            expected, event = group.wanted[i], group.emitted[j]
            mismatches = list(differences(expected.document, event.document))
            if mismatches:
                where = _where(event)
                is_of_checks = any(ASSERTIONS in path or path[:3] == _TESTS for path, *_ in mismatches)
                checks = tuple(lines_of_event(event.document)) if is_of_checks else ()
                self._add(
                    Difference(
                        Kind.CHANGED, group.key, path_text(path), wanted, actual, reason, where, checks=checks
                    )
                    for path, wanted, actual, reason in mismatches
                )
            else:
                self._passed.append(group.key)
        count = f"{len(group.emitted)} with this key were emitted, {len(group.wanted)} expected"
        for i in others(group.wanted, group.pairs):
            reason = count if group.emitted else "no event with this key was emitted"
            self._add_missing(group.wanted[i], reason)
        for event in group.surplus():
            # A key and the same key with an address may both select the event.
            if id(event) not in self._surplus:
                self._surplus.add(id(event))
                self._add_unexpected(event, count, group.key)

    def _why_unexpected(self, event: Event) -> str:
        if event.key in self._emitted.asked:
            return f"no event of this instance and try is expected, `{full_key(event, self._events)}`"
        is_for_others = event.key in self._plain_keys
        return f"no event with this key is expected{' for these versions' if is_for_others else ''}"

    def _add_findings(self, name: str, findings: Findings) -> list[str]:
        """Add broken relations as differences; return notes on relations that could not be checked."""
        items = list(findings)
        broken = [item for item in items if isinstance(item, Broken)]
        for _, group in groupby(broken, key=lambda item: id(item.event)):
            self._add(
                Difference(Kind.RELATION, event.key, path, expected, actual, reason, _where(event), rule=name)
                for event, path, reason, expected, actual in group
            )
        return [f"{name}: {item}." for item in items if isinstance(item, str)]

    def _add_missing(self, expected: ExpectedEvent, reason: str) -> None:
        where = f"expected in {expected.source}"
        document = expected.document
        self._add([Difference(Kind.MISSING, expected.key, "", document, ABSENT, reason, where)])

    def _add_unexpected(self, event: Event, reason: str, key: str = "") -> None:
        document, where = event.document, _where(event)
        checks = tuple(lines_of_event(document)) if has_failed_check(document) else ()
        self._add(
            [
                Difference(
                    Kind.UNEXPECTED, key or event.key, "", ABSENT, document, reason, where, checks=checks
                )
            ]
        )

    def _add(self, differences_of_event: Iterable[Difference]) -> None:
        self._count += 1
        self._differences += [replace(difference, event=self._count) for difference in differences_of_event]


def _where(event: Event) -> str:
    index = "" if event.map_index is None else f", map_index {event.map_index}"
    # Almost every event is of the first try.
    attempt = f", try {event.try_number}" if (event.try_number or 1) > 1 else ""
    return f"{event.source}{index}{attempt}"


# Pairs of expected and emitted events.


class Scoped(NamedTuple):
    """The events of a comparison."""

    compared: list[Event]

    related: list[Event]
    """The compared events and all other events of their DAGs: relations need whole runs."""

    skipped: dict[str, int]
    """DAG id -> number of events that are not compared."""

    skipped_keys: tuple[str, ...] = ()
    """Keys of the events not compared, if the scope is keys; with the address if another one is expected."""


def in_scope(events: Events, expected: Expected, scope: Scope) -> Scoped:
    """Return the events in scope: all, events of the DAGs of the expected keys, or events of these keys."""
    if scope == "all":
        return Scoped(list(events), list(events), {})
    dag_ids = {id(event): events.dag_id_of(event) for event in events}
    known = frozenset(dag_ids.values())
    keys = {plain for key in expected.keys for plain in (key, parse_key(key).plain)}
    dags_with_key: dict[str, set[str]] = {}
    for event in events:
        dags_with_key.setdefault(event.key, set()).add(dag_ids[id(event)])
    named = {dag_named_by(key, dags_with_key.get(key) or known) for key in keys}
    if scope == "dags":
        compared = [event for event in events if event.key in keys or dag_ids[id(event)] in named]
        return Scoped(compared, compared, _number_by_dag(events, compared, dag_ids))
    by_key = ByKey(list(events), events)
    selected = {id(event) for key in expected.keys for event in by_key.take(key)}
    compared = [event for event in events if id(event) in selected]
    whole = {dag_ids[id(event)] for event in compared}
    related = [event for event in events if dag_ids[id(event)] in whole]
    # If an expected key selects another instance or try of the task, add the address to the key.
    skipped_keys = {
        str(full_key(event, events)) if event.key in keys else event.key
        for event in events
        if id(event) not in selected
    }
    skipped = _number_by_dag(events, compared, dag_ids)
    return Scoped(compared, related, skipped, tuple(sorted(skipped_keys)))


def _number_by_dag(
    events: Iterable[Event], compared: Iterable[Event], dag_ids: Mapping[int, str]
) -> dict[str, int]:
    """Return the number of events that are not compared."""
    of_compared = set(map(id, compared))
    return dict(Counter(dag_ids[id(event)] for event in events if id(event) not in of_compared))


def dag_named_by(key: str, dag_ids: Set[str]) -> str | None:
    """Return the longest of the DAG ids that starts the key, because ids may contain dots."""
    dots = (position for position in range(len(key) - 1, 0, -1) if key[position] == ".")
    return next((key[:dot] for dot in dots if key[:dot] in dag_ids), None)


class ByKey:
    """The compared events by key and address; remembers which events a key has selected."""

    def __init__(self, events: Sequence[Event], all_events: Events) -> None:
        """Group events by key; `all_events` may hold the parent of a child run."""
        self._all_events = all_events
        self.asked: dict[str, set[int]] = {}
        self._by_key: dict[str, list[Event]] = {}
        for event in events:
            self._by_key.setdefault(event.key, []).append(event)

    def take(self, text: str) -> list[Event]:
        """Return the events that a key of an expected file selects."""
        key = parse_key(text)
        # A job may be named `etl[1]`; a task may not, because Airflow refuses such ids.
        if text in self._by_key:
            events = self._by_key[text]
        else:
            text = key.plain
            events = self._select(key, self._by_key.get(text, ()))
        self.asked.setdefault(text, set()).update(map(id, events))
        return events

    def _select(self, key: ExpectedKey, events: Iterable[Event]) -> list[Event]:
        """Return the events that the key's address selects; all if the key has no address."""
        return [
            event
            for event in events
            for map_index, attempt in [self._all_events.instance_of(event)]
            if key.map_index in (None, map_index) and key.try_number in (None, attempt)
        ]

    def left(self) -> Iterator[Event]:
        """Yield every event that no key has selected."""
        for key, events in self._by_key.items():
            selected = self.asked.get(key, ())
            yield from (event for event in events if id(event) not in selected)


class Group(NamedTuple):
    """The expected and the emitted events of one key, and the pairs to compare."""

    key: str
    wanted: Sequence[ExpectedEvent]
    emitted: Sequence[Event]

    pairs: Mapping[int, int]
    """Position in `wanted` -> position in `emitted`; as many pairs as the shorter list has events."""

    def surplus(self) -> list[Event]:
        """Return the emitted events without an expected one."""
        return [self.emitted[j] for j in others(self.emitted, self.pairs.values())]


def groups_of(wanted: Iterable[ExpectedEvent], emitted: ByKey) -> Iterator[Group]:
    """Yield the events of each expected key, in the order of the keys."""
    by_key: dict[str, list[ExpectedEvent]] = {}
    for event in wanted:
        by_key.setdefault(event.key, []).append(event)
    for key, expected in by_key.items():
        events = emitted.take(key)
        documents = [event.document for event in expected], [event.document for event in events]
        yield Group(key, expected, events, best_pairs(*documents, differences))
