"""Compares emitted events with expected ones, key by key; the only place that decides what counts as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TypeVar

from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.assignment import pair
from airflow_provider_spark_lineage.testing.differences import ABSENT, Mismatch, differences
from airflow_provider_spark_lineage.testing.expected import Expected, ExpectedEvent, Scope
from airflow_provider_spark_lineage.testing.report import Difference, Kind, Report, path_text
from airflow_provider_spark_lineage.testing.variables import fill

_Keyed = TypeVar("_Keyed", Event, ExpectedEvent)

_TELLING = frozenset({"map_index", "try_number", "runId"})
"""Keys that say which run an event is about; a difference there means that another one was meant."""

_CANDIDATE_BUDGET = 20_000
"""Pairs of keys whose likeness is worked out; beyond, a missing event is reported without candidates."""


def compare(
    expected: Expected,
    events: Events,
    *,
    variables: Mapping[str, str] | None = None,
    scope: Scope | None = None,
) -> Report:
    """A report of every event that is missing, unexpected or not as expected.

    `variables` replaces `${NAME}` in expected strings. `scope` is `"all"` (every emitted event must be
    expected) or `"dags"` (those of the DAGs that the expected keys name); by default a single file speaks
    for its own DAGs and a folder for all. Raises BadInputError for a variable that has no value.

    >>> key = "dag.task.event.fail"
    >>> compare(Expected.of({key: {}}), Events.of([])).summary
    '0 events match, 1 differ'
    """
    wanted = _filled(expected.events, variables or {})
    compared, skipped = _in_scope(events, wanted, scope or expected.scope)
    emitted = _by_key(compared)
    suggest = _Suggestions(emitted)
    found = _Collector()
    for key, group in _by_key(wanted).items():
        found.matched += _compare_key(group, emitted.pop(key, []), suggest, found)
    for extra in emitted.values():
        for event in extra:
            found.add([_unexpected(event, "nothing with this key is expected")])
    return Report(found.matched, tuple(found.differences), events.problems, len(events), skipped)


class _Collector:
    """Gathers the differences and numbers the events they belong to."""

    def __init__(self) -> None:
        self.matched = 0
        self.differences: list[Difference] = []
        self._events = 0

    def add(self, differences_of_one_event: Iterable[Difference]) -> None:
        self._events += 1
        self.differences += [replace(one, event=self._events) for one in differences_of_one_event]


class _Suggestions:
    """Emitted keys that look like one that is missing, as long as looking is cheap."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = tuple(keys)
        self._budget = _CANDIDATE_BUDGET

    def __call__(self, key: str) -> tuple[str, ...]:
        self._budget -= len(self._keys)
        return tuple(get_close_matches(key, self._keys, n=3)) if self._budget >= 0 else ()


def _filled(events: Sequence[ExpectedEvent], variables: Mapping[str, str]) -> list[ExpectedEvent]:
    return [
        replace(event, document=fill(event.document, variables, f"{event.source}: `{event.key}`"))
        for event in events
    ]


def _in_scope(
    events: Events, wanted: Sequence[ExpectedEvent], scope: Scope
) -> tuple[list[Event], dict[str, int]]:
    """The events to compare, and how many of which other DAGs are left out.

    An expected key is not split into ids, which may contain dots; it is asked whether it starts with one.
    """
    if scope == "all":
        return list(events), {}
    keys = {event.key for event in wanted}
    named: dict[str, bool] = {}
    compared: list[Event] = []
    skipped: Counter[str] = Counter()
    for event in events:
        dag_id = event.dag_id
        if dag_id not in named:
            named[dag_id] = any(key.startswith(f"{dag_id}.") for key in keys)
        if named[dag_id] or event.key in keys:
            compared.append(event)
        else:
            skipped[dag_id] += 1
    return compared, dict(skipped)


def _by_key(events: Iterable[_Keyed]) -> dict[str, list[_Keyed]]:
    groups: dict[str, list[_Keyed]] = {}
    for event in events:
        groups.setdefault(event.key, []).append(event)
    return groups


def _compare_key(
    wanted: Sequence[ExpectedEvent], emitted: Sequence[Event], suggest: _Suggestions, found: _Collector
) -> int:
    """How many expected events of one key were emitted as expected; all else goes to `found`."""
    pairs = dict(_assigned(wanted, emitted))
    matched = 0
    for i, event in enumerate(wanted):
        if i not in pairs:
            found.add([_missing(event, len(wanted), len(emitted), suggest)])
            continue
        mismatches = list(differences(event.document, emitted[pairs[i]].document))
        if mismatches:
            found.add(_changed(event.key, mismatch, emitted[pairs[i]]) for mismatch in mismatches)
        else:
            matched += 1
    taken = set(pairs.values())
    for j, actual in enumerate(emitted):
        if j not in taken:
            reason = f"{len(emitted)} with this key were emitted, {len(wanted)} expected"
            found.add([_unexpected(actual, reason)])
    return matched


def _assigned(wanted: Sequence[ExpectedEvent], emitted: Sequence[Event]) -> list[tuple[int, int]]:
    def fits(i: int, j: int) -> bool:
        return next(differences(wanted[i].document, emitted[j].document), None) is None

    def cost(i: int, j: int) -> int:
        return sum(_weight(one) for one in differences(wanted[i].document, emitted[j].document))

    return pair([event.document for event in wanted], [event.document for event in emitted], fits, cost)


def _weight(mismatch: Mismatch) -> int:
    return 100 if mismatch.path[-1:] and mismatch.path[-1] in _TELLING else 1


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


def _missing(event: ExpectedEvent, wanted: int, emitted: int, suggest: _Suggestions) -> Difference:
    reason = f"{emitted} with this key were emitted, {wanted} expected"
    candidates: tuple[str, ...] = ()
    if not emitted:
        reason, candidates = "no event with this key was emitted", suggest(event.key)
    return Difference(
        Kind.MISSING, event.key, "", event.document, ABSENT, reason, f"expected in {event.source}", candidates
    )


def _unexpected(event: Event, reason: str) -> Difference:
    return Difference(Kind.UNEXPECTED, event.key, "", ABSENT, event.document, reason, _where(event))


def _where(event: Event) -> str:
    return event.source if event.map_index is None else f"{event.source}, map_index {event.map_index}"
