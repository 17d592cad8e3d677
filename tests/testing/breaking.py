"""One change of a whole run's events, and the rules that it breaks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from airflow_provider_spark_lineage.testing import Events, Expected, Report, compare

Change = Callable[[list[dict[str, Any]]], Any]


def report_of(events: list[dict[str, Any]], **options: Any) -> Report:
    """Every emitted event is expected: only relations between events are in question."""
    keys: dict[str, list[Any]] = {}
    for event in Events.of(events):
        keys.setdefault(event.key, []).append({})
    return compare(Expected.of(keys or {"shop.load.event.start": {}}), Events.of(events), **options)


def broken(events: list[dict[str, Any]], **options: Any) -> list[tuple[str, str, str]]:
    """Rule, number of the event, path."""
    return [
        (entry.rule, entry.where.split(",")[0].removeprefix("event "), entry.path)
        for entry in report_of(events, **options).differences
    ]


def at(events: list[dict[str, Any]], number: int, *path: str) -> Any:
    value: Any = events[number - 1]
    for part in path:
        value = value[part]
    return value


def put(number: int, *path: str, value: Any) -> Change:
    return lambda events: at(events, number, *path[:-1]).__setitem__(path[-1], value)


def drop(number: int) -> Change:
    return lambda events: events.pop(number - 1)


def add(event: dict[str, Any]) -> Change:
    return lambda events: events.append(event)


def double(number: int) -> Change:
    return lambda events: events.append(copy.deepcopy(events[number - 1]))


def drop_facet(number: int, name: str) -> Change:
    return lambda events: at(events, number, "run", "facets").pop(name)


PARENT = ("run", "facets", "parent")
