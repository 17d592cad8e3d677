"""Compares emitted events with expected ones, and returns a report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.events.reader import collector_paused
from airflow_provider_spark_lineage.testing.differences import ABSENT, Mismatch, differences, path_text
from airflow_provider_spark_lineage.testing.expected import Expected, ExpectedEvent, Scope
from airflow_provider_spark_lineage.testing.pairing import Emitted, Group, groups_of, in_scope
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
