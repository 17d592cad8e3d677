"""Renders a report as lines for a person, each with a style that only a terminal sees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.testing.differences import Absent
from airflow_provider_spark_lineage.testing.matchers import Matcher, plain
from airflow_provider_spark_lineage.testing.report import Difference, Kind, Report

_LONGEST = 400
"""Characters of a value that are shown; a whole facet would bury the difference in it."""


class Line(NamedTuple):
    """One line and the style that a terminal shows it in."""

    text: str
    style: str = ""


def lines(report: Report) -> Iterator[Line]:
    """The report from top to bottom; the last line is the summary."""
    for problem in report.problems:
        yield Line(f"unreadable  {problem}", "yellow")
    for group in report.by_event():
        yield from group_lines(group)
    if report.differences or report.problems:
        yield Line("")
    if not report.emitted:
        yield Line("No events at all. Likely causes:", "yellow")
        yield from (Line(f"  - {cause}", "yellow") for cause in report.causes)
    elif report.skipped:
        yield Line(_skipped(report))
    yield from (Line(text, "yellow") for text in report.notes)
    yield Line(report.summary, "bold green" if report.ok else "bold red")


def group_lines(group: tuple[Difference, ...]) -> Iterator[Line]:
    """All differences of one event."""
    return _EVENT[group[0].kind](group)


def _skipped(report: Report) -> str:
    dags = ", ".join(sorted(report.skipped))
    number = sum(report.skipped.values())
    return f"{number} events that the expected file does not speak for were not compared, of: {dags}"


def _changed(group: tuple[Difference, ...]) -> Iterator[Line]:
    yield Line(f"changed     {group[0].key}  ({group[0].where})", "bold")
    for one in group:
        yield Line(f"  {one.path or '(the event)'} {one.reason}", "cyan")
        yield Line(f"    expected  {value_text(one.expected)}", "green")
        yield Line(f"    actual    {value_text(one.actual)}", "red")


def _missing(group: tuple[Difference, ...]) -> Iterator[Line]:
    yield Line(f"missing     {group[0].key}  ({group[0].where})", "bold")
    yield Line(f"  {group[0].reason}")
    if group[0].candidates:
        yield Line(f"  nearest emitted: {', '.join(group[0].candidates)}")


def _unexpected(group: tuple[Difference, ...]) -> Iterator[Line]:
    yield Line(f"unexpected  {group[0].key}  ({group[0].where})", "bold")
    yield Line(f"  {group[0].reason}")


def _relation(group: tuple[Difference, ...]) -> Iterator[Line]:
    yield Line(f"relation    {group[0].rule}: {group[0].key}  ({group[0].where})", "bold")
    for one in group:
        yield Line(f"  {one.path or 'it'} {one.reason}", "cyan")
        for name, value, style in (("expected", one.expected, "green"), ("actual", one.actual, "red")):
            if not isinstance(value, Absent):
                yield Line(f"    {name:<8}  {value_text(value)}", style)


_EVENT = {
    Kind.CHANGED: _changed,
    Kind.MISSING: _missing,
    Kind.UNEXPECTED: _unexpected,
    Kind.RELATION: _relation,
}


def value_text(value: Any) -> str:
    """A value on one line, as JSON; a matcher as it is written in YAML."""
    readable = isinstance(value, Absent | Matcher)
    text = str(value) if readable else json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
