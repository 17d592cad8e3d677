"""The harness is seen to fail: every single change of a good run is reported, and nothing else is."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Difference,
    Events,
    Expected,
    Kind,
    Report,
    compare,
)

Path = tuple[str | int, ...]

IDENTIFYING = {"namespace", "name", "field"}
"""Changing one of these in a list element makes it another element."""

NAMING = {("eventType",), ("job", "name")} | {
    ("run", "facets", "airflow", *rest) for rest in (("dag", "dag_id"), ("task", "task_id"))
}
"""Changing one of these may give the event another key."""


def expect(events: list[dict[str, Any]]) -> Expected:
    keys: dict[str, list[Any]] = {}
    for event in Events.of(copy.deepcopy(events)):
        keys.setdefault(event.key, []).append(event.document)
    return Expected.of(keys)


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    is_changed = False
    for key, child in children:
        is_changed = True
        yield from leaves(child, (*path, key))
    if not is_changed:
        yield path


def at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def wrong_values(value: Any) -> list[Any]:
    """One value of every other JSON type, and another one of the same."""
    same = {bool: not value, int: (value or 0) + 1 if isinstance(value, int) else 0, str: f"{value}x"}
    others = [None, "other", 4711, 0.5, ["stray"], {"name": "stray"}]
    if value == {}:
        others.remove({"name": "stray"})  # an empty expected object accepts every object
    return [same.get(type(value), "other"), *[other for other in others if type(other) is not type(value)]]


def with_change(events: list[dict[str, Any]], number: int, path: Path, value: Any) -> list[dict[str, Any]]:
    changed = copy.deepcopy(events)
    at(changed[number], path[:-1])[path[-1]] = value
    return changed


def written(events: list[dict[str, Any]], number: int, path: Path) -> str:
    """The path as the report writes it."""
    text = ""
    value: Any = events[number]
    for position, part in enumerate(path):
        value = value[part]
        if isinstance(part, str):
            text += f"{'.' if text else ''}{part}"
        elif path[position - 1] == "transformations" or not isinstance(value, dict):
            text += f"[{part}]"
        else:
            text += f"[{' '.join(value[key] for key in ('namespace', 'name', 'field') if key in value)}]"
    return text


def report_of(expected: Expected, events: list[dict[str, Any]]) -> Report:
    return compare(expected, Events.of(events), without=RELATIONS)


def test_the_good_run_passes(shop):
    """Without a change there is nothing to report."""
    report = report_of(expect(shop), shop)
    assert report.ok
    assert report.text() == "8 events match, 0 differ"


def test_every_changed_value_is_reported(shop):
    """One changed value: exactly that event differs, at exactly that path."""
    expected = expect(shop)
    tried = 0
    for number, event in enumerate(shop):
        for path in leaves(event):
            if path in NAMING:
                continue
            for wrong in wrong_values(at(event, path)):
                tried += 1
                report = report_of(expected, with_change(shop, number, path, wrong))
                assert report.summary == "7 events match, 1 differs", (path, wrong, report.text())
                check_changed(shop, number, path, wrong, report)
    assert tried > 500


def check_changed(shop: list[dict[str, Any]], number: int, path: Path, wrong: Any, report: Report) -> None:
    source = f"event {number + 1}"
    assert {(entry.kind, entry.where.split(",")[0]) for entry in report.differences} == {
        (Kind.CHANGED, source)
    }
    place = written(shop, number, path)
    if at(shop[number], path) == [] and isinstance(wrong, list):
        place = f"{place}[0]"
    if path[-1] in IDENTIFYING and isinstance(path[-2], int):
        # The element with the old identity is gone and one with the new identity has come.
        place = written(shop, number, path[:-1])
        assert [entry.reason.partition(";")[0] for entry in report.differences] == [
            "is not in the list",
            "is not expected in the list",
        ]
        assert report.differences[0].path == place
        return
    parents = {place.rpartition("[")[0]} if isinstance(path[-1], int) else set()
    assert {entry.path for entry in report.differences} <= {place} | parents, (place, report.text())
    assert len(report.differences) == 1


@pytest.mark.parametrize("path", sorted(NAMING))
def test_every_renamed_event_is_reported(shop, path):
    """An event that comes under another key is missing under its own, and is never taken for a match."""
    expected = expect(shop)
    for number in range(len(shop)):
        report = report_of(expected, with_change(shop, number, path, "other"))
        assert not report.ok
        assert report.matched == 7
        old = Events.of(shop).items[number].key
        new = Events.of(with_change(shop, number, path, "other")).items[number].key
        reported = sorted((entry.kind.value, entry.key) for entry in report.differences)
        wanted = [("changed", old)] if new == old else [("missing", old), ("unexpected", new)]
        assert reported == wanted


def test_every_removed_key_is_reported(shop):
    """One key taken out: exactly that key is absent."""
    expected = expect(shop)
    for number, event in enumerate(shop):
        for path in leaves(event):
            if path in NAMING or isinstance(path[-1], int) or path[-1] in IDENTIFYING:
                continue
            changed = copy.deepcopy(shop)
            del at(changed[number], path[:-1])[path[-1]]
            differences = report_of(expected, changed).differences
            assert [(entry.path, entry.reason) for entry in differences] == [
                (written(shop, number, path), "is absent")
            ]


def elements(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every list that has elements."""
    if isinstance(value, list) and value:
        yield path
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        yield from elements(child, (*path, key))


def test_every_lost_or_doubled_element_is_reported(shop):
    """A list with one element less, or the same one twice, differs there and only there."""
    expected = expect(shop)
    for number, event in enumerate(shop):
        for path in elements(event):
            for lost in (True, False):
                changed = copy.deepcopy(shop)
                value = at(changed[number], path)
                _ = value.pop() if lost else value.append(value[-1])
                report = report_of(expected, changed)
                assert report.summary == "7 events match, 1 differs"
                assert len(report.differences) == 1
                assert report.differences[0].path.startswith(written(shop, number, path))


def whole(report: Report) -> list[Difference]:
    return [entry for entry in report.differences if not entry.path]


def test_every_lost_event_is_missing(shop):
    """One event dropped: it is missing under its key, all others match."""
    for number in range(len(shop)):
        report = report_of(expect(shop), shop[:number] + shop[number + 1 :])
        assert report.summary == "7 events match, 1 differs"
        (missing,) = whole(report)
        assert (missing.kind, missing.expected) == (Kind.MISSING, shop[number])


def test_every_doubled_event_is_unexpected(shop):
    """One event emitted twice: one of the two is unexpected, and all expected ones match."""
    for number in range(len(shop)):
        report = report_of(expect(shop), [*shop, shop[number]])
        assert report.summary == "8 events match, 1 differs"
        (unexpected,) = whole(report)
        assert (unexpected.kind, unexpected.actual) == (Kind.UNEXPECTED, shop[number])


def test_two_changes_are_two_reports(shop):
    """Nothing hides behind the first difference: all of them are reported."""
    expected = expect(shop)
    shop[0]["run"]["runId"] = "x"
    shop[0]["eventTime"] = "y"
    del shop[7], shop[5]
    shop.append({"eventType": "OTHER", "run": {}, "job": {"name": "stray"}})
    report = report_of(expected, shop)
    assert report.summary == "5 events match, 4 differ"
    assert [(entry.kind.value, entry.path) for entry in report.differences] == [
        ("changed", "eventTime"),
        ("changed", "run.runId"),
        ("missing", ""),
        ("missing", ""),
        ("unexpected", ""),
    ]
