"""The result of a comparison, as data, text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events import LIKELY_CAUSES
from airflow_provider_spark_lineage.openlineage.testing.differences import Absent
from airflow_provider_spark_lineage.openlineage.testing.matchers import HOLDERS, Matcher, as_object, json_text
from airflow_provider_spark_lineage.openlineage.testing.yaml_text import yaml_line
from airflow_provider_spark_lineage.openlineage.words import counted

_LONGEST = 400
"""Maximum of characters of a value in the text; a whole facet would hide the difference in it."""

_MOST_NAMES = 20
"""Maximum of keys or DAGs that the text lists as not compared."""


class Kind(Enum):
    """Kind of a difference."""

    CHANGED = "changed"
    """It has another value somewhere."""

    MISSING = "missing"
    """It was expected, but not emitted."""

    UNEXPECTED = "unexpected"
    """It was emitted, but not expected, or more often than expected."""

    RELATION = "relation"
    """It contradicts other events; `rule` names the broken one of `relations.RELATIONS`."""


@dataclass(frozen=True)
class Difference:
    """One place where an event differs; a missing or unexpected event is one difference."""

    kind: Kind
    key: str
    path: str
    """Path in the event, for example `inputs[file /in].facets.schema`; empty for a whole event."""

    expected: Any
    """The expected value or matcher; `ABSENT` if nothing was expected."""

    actual: Any
    """The actual value; `ABSENT` if there is none."""

    reason: str
    """Completes the sentence "the actual value ..."."""

    where: str
    """Place of the event: file and line, map index and try."""

    event: int = 0
    """The same number for all differences of one event."""

    rule: str = ""
    """For a broken relation, its name."""

    checks: tuple[str, ...] = ()
    """Lines on the checks of data in the event, if one of them differs, or failed in an unexpected event."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain JSON values, without whole events; `where` has their place."""
        values: dict[str, Any] = {"kind": self.kind.value, "key": self.key, "event": self.event}
        if self.kind is Kind.RELATION:
            values["rule"] = self.rule
        if self.kind in (Kind.CHANGED, Kind.RELATION):
            values["path"] = self.path
            for name, value in (("expected", self.expected), ("actual", self.actual)):
                if not isinstance(value, Absent):
                    values[name] = json.loads(json.dumps(value, default=as_object))
        if self.checks:
            values["checks"] = [*self.checks]
        return {**values, "reason": self.reason, "where": self.where}


class Line(NamedTuple):
    """One line of the text, and its style on a terminal."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Report:
    """Result of a comparison: `ok` for code, `text()` for people."""

    passed: tuple[str, ...]
    """The keys of the expected events that were emitted as expected."""

    differences: tuple[Difference, ...]
    problems: tuple[str, ...]
    """Events that could not be read; a report with problems is not `ok`."""

    emitted: int
    """Events that were read, compared or not."""

    skipped: Mapping[str, int]
    """DAG id -> events that were not compared, because of the scope."""

    notes: tuple[str, ...] = ()
    """Possible causes of the differences, and events that relations could not check, one sentence each."""

    relations: tuple[str, ...] = ()
    """Names of the relations that were checked."""

    skipped_keys: tuple[str, ...] = ()
    """Keys of the events that were not compared, each once, if the scope is keys."""

    @property
    def ok(self) -> bool:
        """True if every expected event was emitted as expected, no other was, and all could be read.

        False without any events: then even an expected absence is not proved.
        """
        return bool(self.emitted) and not self.differences and not self.problems

    @property
    def matched(self) -> int:
        """Number of expected events that were emitted as expected."""
        return len(self.passed)

    @property
    def causes(self) -> tuple[str, ...]:
        """Likely causes if no event was emitted; else empty."""
        return () if self.emitted else LIKELY_CAUSES

    @property
    def differing(self) -> int:
        """Number of events that are changed, missing or unexpected."""
        return len({item.event for item in self.differences if item.kind is not Kind.RELATION})

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the relations that do not hold, in the order of the checks."""
        return tuple(dict.fromkeys(item.rule for item in self.differences if item.kind is Kind.RELATION))

    @property
    def summary(self) -> str:
        """`N events match, M differ`, and the broken relations."""
        relations = f"; broken: {', '.join(self.broken)}" if self.broken else ""
        match = "matches" if self.matched == 1 else "match"
        differ = "differs" if self.differing == 1 else "differ"
        return f"{counted(self.matched, 'event')} {match}, {self.differing:,} {differ}{relations}"

    def by_event(self) -> list[tuple[Difference, ...]]:
        """Return the differences grouped by event."""
        return [tuple(group) for _, group in groupby(self.differences, key=lambda item: item.event)]

    def lines(self) -> Iterator[Line]:
        """Yield the text from top to bottom; the last line is the summary."""
        for problem in self.problems:
            yield Line(f"unreadable  {problem}", "yellow")
        for group in self.by_event():
            yield from _group_lines(group)
        if self.differences or self.problems:
            yield Line("")
        if self.causes:
            yield Line("No events at all. Likely causes:", "yellow")
            yield from (Line(f"  - {cause}", "yellow") for cause in self.causes)
        elif self.skipped:
            what = "keys" if self.skipped_keys else "DAGs"
            names = sorted(self.skipped_keys or self.skipped)
            events = counted(sum(self.skipped.values()), "event")
            head = f"{events} of {what} with no expectation, not compared:"
            if len(names) == 1:
                names, head = [], f"{head} {names[0]}"
            yield Line(head)
            yield from (Line(f"  {name}") for name in names[:_MOST_NAMES])
            if len(names) > _MOST_NAMES:
                yield Line(f"  and {len(names) - _MOST_NAMES:,} more")
        yield from (Line(note, "yellow") for note in self.notes)
        yield Line(self.summary, "bold green" if self.ok else "bold red")

    def text(self) -> str:
        """Return the whole report for people; the last line is the summary."""
        return "\n".join(line.text for line in self.lines())

    def as_dict(self) -> dict[str, Any]:
        """Return the whole report for programs, in plain JSON values."""
        return {
            "summary": self.summary,
            "ok": self.ok,
            "matched": self.matched,
            "differing": self.differing,
            "broken": list(self.broken),
            "emitted": self.emitted,
            "skipped": dict(self.skipped),
            "problems": list(self.problems),
            "causes": list(self.causes),
            "notes": list(self.notes),
            "differences": [difference.as_dict() for difference in self.differences],
        }


def _group_lines(group: tuple[Difference, ...]) -> Iterator[Line]:
    """Yield the lines of all differences of one event."""
    first = group[0]
    rule = f"{first.rule}: " if first.rule else ""
    yield Line(f"{first.kind.value:<11} {rule}{first.key}  ({first.where})", "bold")
    if first.kind in (Kind.MISSING, Kind.UNEXPECTED):
        yield Line(f"  {first.reason}")
        yield from _check_lines(first)
        return
    for difference in group:
        yield Line(f"  {difference.path or 'the event'} {difference.reason}", "cyan")
        values = ("expected", difference.expected, "green"), ("actual", difference.actual, "red")
        for name, value, style in values:
            # A relation may have only one value to show, or none.
            if first.kind is Kind.CHANGED or not isinstance(value, Absent):
                yield Line(f"    {name:<8}  {value_text(value)}", style)
    yield from _check_lines(first)


def _check_lines(difference: Difference) -> Iterator[Line]:
    for line in difference.checks:
        yield Line(f"  {line}", {"failed": "red", "passed": "green"}.get(line.split()[0], ""))


def value_text(value: Any) -> str:
    """Return a value on one line, as in YAML; a single text is in quotes."""
    if isinstance(value, Mapping | list) or (isinstance(value, Matcher) and value.name in HOLDERS):
        text = yaml_line(value)
    else:
        text = str(value) if isinstance(value, Absent | Matcher) else json_text(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
