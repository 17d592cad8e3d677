"""Examples that pass are broken in every kind of place, and the harness reports exactly that: a figure.

The examples are the expected events of the system tests, with a value for each matcher, and a whole DAG run
whose relations are checked too.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from testing.whole_run import whole_run

from airflow_provider_spark_lineage.openlineage.testing.keys import parse_key
from airflow_provider_spark_lineage.openlineage.testing.matchers import Matcher
from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Event,
    Events,
    Expected,
    Kind,
    Report,
    compare,
    read_expected,
)

FILES = sorted((Path(__file__).parents[2] / "system_tests" / "expected").glob("*.yaml"))
VARIABLES = {"DATA": "/data", "DATA_URI": "/data"}

VALUES = (5, "4.1.4", "local-1", "018f3a5e-7d2b-7c43-8f6a-000000000001", "2024-05-01T10:00:00Z", "text")
ERRORS = (
    "[DIVIDE_BY_ZERO] x",
    "org.apache.spark.SparkArithmeticException (SQLSTATE 22012): [DIVIDE_BY_ZERO] x",
    "Test failed.\nCheck: late_share,",
)
"""Values for each matcher of the examples; the first that it accepts is taken."""

MOST = 600
"""Values changed per example, by seeded chance where it has more; with all 100 % were reported too."""

NAMING = {("eventType",), ("job", "name"), ("run", "facets", "airflow")}
"""A change there makes it another event; `test_mutations` has those."""

Part = str | int
Check = Callable[[list[dict[str, Any]]], Report]


def concrete(value: Any) -> Any:
    """A value that is as expected."""
    if isinstance(value, Matcher) and value.name == "one_of":
        return concrete(value.argument[0])
    if isinstance(value, Matcher):
        return next(text for text in (*VALUES, *ERRORS) if not value.check(text))
    if isinstance(value, dict):
        return {
            key: concrete(item)
            for key, item in value.items()
            if not (isinstance(item, Matcher) and item.accepts_absence)
        }
    return [concrete(item) for item in value] if isinstance(value, list) else filled(value)


def filled(value: Any) -> Any:
    for name, text in VARIABLES.items() if isinstance(value, str) else ():
        value = value.replace(f"${{{name}}}", text)
    return value


def example(file: Path) -> tuple[Expected, list[dict[str, Any]]]:
    expected = read_expected(file)
    events = []
    for number, event in enumerate(expected.events):
        key = parse_key(event.key)
        document = concrete(dict(event.document))
        document["eventType"] = key.type.upper()
        document.setdefault("job", {})["name"] = key.subject
        run = document.setdefault("run", {})
        run["runId"] = f"run {number}"
        if key.map_index is not None or key.try_number is not None:
            address = {"map_index": key.map_index or 0, "try_number": key.try_number or 1}
            run.setdefault("facets", {})["airflow"] = {"taskInstance": address}
        events.append(document)
    return expected, events


def leaves(value: Any, path: tuple[Part, ...] = ()) -> Iterator[tuple[Part, ...]]:
    """Every place with a value that holds no other."""
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path


def wrong(value: Any) -> Any:
    """Another value of the same kind, which no matcher of the examples accepts."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return -1 - abs(value)
    if isinstance(value, str):
        return f"\x00{value}"
    return "\x00" if value in ({}, None) else [{"name": "stray"}]


def at(document: Any, path: tuple[Part, ...]) -> Any:
    for part in path:
        document = document[part]
    return document


def changes(events: list[dict[str, Any]], expects: Callable[[int, tuple[Part, ...]], bool]) -> Iterator[int]:
    """Break one expected value after the other, in place; gives the number of the event that is broken."""
    places = [
        (number, path)
        for number, event in enumerate(events)
        for path in leaves(event)
        if path not in NAMING and path[:3] not in NAMING and expects(number, path)
    ]
    chance = random.Random(len(places))  # noqa: S311 - the same places every time
    for number, path in chance.sample(places, min(MOST, len(places))):
        holder, before = at(events[number], path[:-1]), at(events[number], path)
        holder[path[-1]] = wrong(before)
        yield number
        holder[path[-1]] = before


def is_exact(report: Report, matched: int, source: str) -> bool:
    """Return whether only this event differs, and every line of the report is about it."""
    of_events = [entry for entry in report.differences if entry.kind is not Kind.RELATION]
    places = {entry.where.split(",")[0] for entry in of_events}
    kinds = {entry.kind for entry in of_events}
    return (
        report.matched == matched and report.differing == 1 and places == {source} and kinds == {Kind.CHANGED}
    )


def tally(
    expected: Expected, events: list[dict[str, Any]], keys: list[str], check: Check, expects: Any
) -> tuple[int, list[Any]]:
    """Return how many mutations were tried, and those that were not reported exactly.

    `keys` are those of the events in the expected file.
    """
    good = check(events)
    assert good.ok, good.text()
    tried, missed = 0, []
    total = good.matched
    # What is changed is compared with its key; that all others are left alone, drops and doubles show.
    same = {key: [n for n, other in enumerate(keys) if other == key] for key in keys}
    part = {key: Expected(tuple(each for each in expected.events if each.key == key)) for key in same}
    for number in changes(events, expects):
        tried += 1
        key = keys[number]
        found_here = Events.of([events[n] for n in same[key]])
        report = compare(part[key], found_here, variables=VARIABLES, without=RELATIONS)
        if not is_exact(report, len(same[key]) - 1, f"event {same[key].index(number) + 1}"):
            missed.append((key, report.text()))
    for number, event in enumerate(events):
        tried += 2
        dropped, doubled = (
            check([*events[:number], *events[number + 1 :]]),
            check([*events, copy.deepcopy(event)]),
        )
        for report, kind, matched in ((dropped, Kind.MISSING, total - 1), (doubled, Kind.UNEXPECTED, total)):
            reported = [
                (entry.kind, entry.key) for entry in report.differences if entry.kind is not Kind.RELATION
            ]
            if reported != [(kind, keys[number])] or report.matched != matched:
                missed.append((kind, report.text()))
    return tried, missed


def show(capsys: pytest.CaptureFixture[str], name: str, tried: int, missed: list[Any]) -> None:
    with capsys.disabled():
        print(f"\nmutations of {name}: {tried - len(missed)} of {tried}, {(tried - len(missed)) / tried:.0%}")


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_every_mutation_of_an_example_is_reported(file, capsys):
    """One value changed, one event dropped or doubled: that is reported, at that event, and nothing else."""
    expected, events = example(file)

    def check(some: list[dict[str, Any]]) -> Report:
        return compare(expected, Events.of(some), variables=VARIABLES, scope="all", without=RELATIONS)

    def expects(number: int, path: tuple[Part, ...]) -> bool:
        # The name of a run was made up here.
        return path != ("run", "runId")

    tried, missed = tally(expected, events, [event.key for event in expected.events], check, expects)
    show(capsys, file.name, tried, missed)
    assert missed[:1] == []
    assert tried > 100


def test_every_mutation_of_a_whole_run_is_reported(capsys):
    """The same with the relations on: they add problems about runs that the change breaks."""
    events = whole_run()
    keys: dict[str, list[Any]] = {}
    for event in Events.of(copy.deepcopy(events)):
        keys.setdefault(event.key, []).append(event.document)
    expected = Expected.of(keys)

    def check(some: list[dict[str, Any]]) -> Report:
        return compare(expected, Events.of(some))

    tried, missed = tally(expected, events, [Event(event).key for event in events], check, lambda *_: True)
    show(capsys, "a whole run", tried, missed)
    assert missed[:1] == []
    assert tried > 200


IDENTITY = (("schemaURL",), ("job", "name"), ("job", "namespace"), ("run", "facets", "parent"))
"""Fields that identify the run and the job of an event; an expected file may leave them out."""


def identity_mutations() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A whole run, each time with one such part of one event taken out or spoilt in every string in it."""
    for number in range(len(whole_run())):
        for *path, name in IDENTITY:
            events = whole_run()
            holder = at(events[number], tuple(path))
            if name not in holder:
                continue
            del holder[name]
            yield f"event {number + 1}: {'.'.join((*path, name))} removed", events
            for leaf in leaves(at(whole_run()[number], (*path, name))):
                if leaf[-1:] == ("_producer",):  # any address will do
                    continue
                events = whole_run()
                place = (*path, name, *leaf)
                inside = at(events[number], place[:-1])
                inside[place[-1]] = f"{inside[place[-1]]}x"
                yield f"event {number + 1}: {'.'.join(map(str, place))} altered", events


def test_every_mutation_of_an_identity_breaks_a_relation(capsys):
    """If only the key of an event is expected, the fields that relate it to others still have to be right."""
    keys = {event.key: [] for event in Events.of(whole_run())}
    for event in Events.of(whole_run()):
        keys[event.key].append({})
    expected = Expected.of(keys)
    tried, missed = 0, []
    for name, events in identity_mutations():
        tried += 1
        report = compare(expected, Events.of(events), scope="all")
        if not report.broken:
            missed.append((name, report.text()))
    show(capsys, "what relates the events of a run", tried, missed)
    assert missed == []
    assert tried > 100
