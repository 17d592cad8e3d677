"""Many events: the best pairs are still found, and in a time that does not grow with their square."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from testing.sketches import KEY, check, compare, start

from airflow_provider_spark_lineage.openlineage.testing.matchers import Matcher, make
from airflow_provider_spark_lineage.testing import (
    Events,
    Expected,
)


def test_a_thousand_mapped_instances():
    """In whatever order they arrive, events are compared with the expectation for their instance."""
    facets = [{"airflow": {"taskInstance": {"map_index": index}}, "v": index % 7} for index in range(300)]
    expected = [{"run": {"facets": facet}} for facet in facets]
    events = [start(run={"facets": dict(facet)}) for facet in facets]
    random.Random(1).shuffle(events)  # noqa: S311 - a fixed order, no secret
    assert check(expected, *events).ok
    for event in events[:50]:
        event["run"]["facets"]["v"] = "wrong"
    report = check(expected, *events)
    assert report.summary == "250 events match, 50 differ"
    assert {entry.path for entry in report.differences} == {"run.facets.v"}


def test_many_events_take_seconds():
    """Events are looked up by key, and of many with one key those that match are found."""
    facets = {"schema": {"fields": [{"name": f"f{number}", "type": "string"} for number in range(20)]}}
    outputs = [{"namespace": "file", "name": "/out", "facets": facets}]
    spread = {f"dag.t{number}.event.start": {"outputs": outputs} for number in range(500)}
    shared = {KEY: [{"run": {"v": number}, "outputs": outputs} for number in range(200)]}
    one_key = [start(run={"v": number}, outputs=outputs) for number in range(2_000)]
    many_keys = [start(f"t{number}", outputs=outputs) for number in range(10_000)]
    other_keys = [start(f"x{number}", outputs=outputs) for number in range(10_000)]
    before = time.process_time()
    assert compare(Expected.of(spread), Events.of(many_keys)).summary == "500 events match, 9,500 differ"
    assert compare(Expected.of(spread), Events.of(other_keys)).summary == "0 events match, 10,500 differ"
    assert compare(Expected.of(shared), Events.of(one_key)).summary == "200 events match, 1,800 differ"
    wrong = [{"run": {"v": -1}, "outputs": outputs}] * 200
    assert compare(Expected.of({KEY: wrong}), Events.of(one_key)).summary == "0 events match, 2,000 differ"
    assert time.process_time() - before < 15


def with_outputs(names: Any) -> dict[str, Any]:
    return {"outputs": [{"namespace": "file", "name": name} for name in names]}


def regex(pattern: str) -> Matcher:
    return make("regex", pattern)


@pytest.mark.parametrize(
    ("expected", "events", "summary"),
    [
        (
            [with_outputs([regex(f"/o/{n}-[0-9]+")]) for n in range(100)],
            [with_outputs([f"/o/{n}-7"]) for n in range(1_000)],
            "100 events match, 900 differ",
        ),
        (
            [with_outputs([regex(f"/o/{n}-x")]) for n in range(100)],
            [with_outputs([f"/o/{n}-7"]) for n in range(100)],
            "0 events match, 100 differ",
        ),
        (
            [with_outputs([regex(f"/o/{n}-{k}-x") for k in range(15)]) for n in range(15)],
            [with_outputs([f"/o/{n}-{k}-7" for k in range(15)]) for n in range(15)],
            "0 events match, 15 differ",
        ),
    ],
    ids=["all match", "none matches", "lists of them"],
)
def test_many_names_by_regex_take_a_second(expected, events, summary):
    """Whatever a wrong suite costs, it is not each event's every element against each other's."""
    emitted = Events.of([start(**event) for event in events])
    before = time.process_time()
    assert compare(Expected.of({KEY: expected}), emitted).summary == summary
    assert time.process_time() - before < 6
