"""A draft of real events notices every damage to their datasets: a figure, for each event."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.airflow.draft_rules import RULES
from airflow_provider_spark_lineage.openlineage.testing.draft_facets import FACETS, Keep, Row, row_of
from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Event,
    Events,
    draft_expected,
    read_events,
    read_expected,
)
from airflow_provider_spark_lineage.testing import compare as compare_all

EMITTED = Path(__file__).with_name("emitted") / "nycflights.jsonl"
"""Events of two example DAGs: tasks, their executions, one that failed, DAG runs."""

ROWS = {**FACETS, **RULES.facets}
VARIABLES = {"DATA": "/data"}
EVENTS = read_events(EMITTED)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return the draft of all events by key."""
    file = tmp_path_factory.mktemp("draft") / "nycflights.yaml"
    file.write_text(draft_expected(EVENTS, variables=VARIABLES, rules=RULES))
    whole = read_expected(file)
    assert compare_all(whole, EVENTS, variables=VARIABLES).ok
    return {event.key: type(whole)((event,)) for event in whole.events}


def is_noticed(expected: Any, document: dict[str, Any]) -> bool:
    event = Event(document)
    if event.key not in expected:
        return True
    return not compare_all(
        expected[event.key], Events.of([document]), variables=VARIABLES, without=RELATIONS
    ).ok


def holders(
    value: Any, path: str, row: Row | None = None, *, of_task: bool
) -> Iterator[tuple[str, Any, Any]]:
    """Yield every key and position in a value, with its container, except for those left out of drafts.

    `row` is the row of the facet that has the value, None outside of facets. The facets of an execution's
    datasets are left out, because its task has them, too.
    """
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        new = row
        if isinstance(key, str) and row is not Keep.VALUE:
            new = ROWS[key] if row is None and key in ROWS else None if row is None else row_of(row, key)
        is_repeated = not of_task and key in ("facets", "inputFacets", "outputFacets")
        if (
            new is Keep.OUT
            or is_repeated
            or key in ("_producer", "_schemaURL", "_deleted", "masking")
            or item == {}
        ):
            continue
        yield f"{path}.{key}", value, key
        yield from holders(item, f"{path}.{key}", new, of_task=of_task)


def damages(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The event with one part of its datasets removed or changed, or with one more dataset."""
    of_task = "airflow" in document["run"]["facets"]
    for side in ("inputs", "outputs"):
        more = copy.deepcopy(document)
        more.setdefault(side, []).append({"namespace": "file", "name": "/stray"})
        yield f"one more of {side}", more
        for number, (path, _, _) in enumerate(holders(document.get(side, []), side, of_task=of_task)):
            for kind in ("removed", "changed"):
                damaged = copy.deepcopy(document)
                _, holder, key = list(holders(damaged[side], side, of_task=of_task))[number]
                if kind == "removed":
                    del holder[key]
                elif isinstance(holder[key], dict | list):
                    continue
                else:
                    holder[key] = f"{holder[key]}x" if isinstance(holder[key], str) else -99
                yield f"{path} {kind}", damaged
    if document["eventType"] in ("COMPLETE", "FAIL") and "airflowDagRun" not in document["run"]["facets"]:
        gapped = copy.deepcopy(document)
        had_gaps = gapped["run"]["facets"].pop("sparkLineage_gaps", None)
        if not had_gaps:
            gapped["run"]["facets"]["sparkLineage_gaps"] = {"gaps": [{"where": "x", "reason": "y"}]}
        yield f"gaps {'removed' if had_gaps else 'added'}", gapped


@pytest.mark.parametrize("event", list(EVENTS), ids=[f"{event.key} {n}" for n, event in enumerate(EVENTS)])
def test_a_draft_notices_every_damage(event, expected, capsys):
    """Edges, types, counts, names and gaps of tasks; names and gaps of executions."""
    run_id = event.text("run", "runId")
    has_failed = any(each.type == "fail" and each.text("run", "runId") == run_id for each in EVENTS)
    # On a slower machine, START has the output that was not finished.
    may_differ = event.type == "start" and has_failed and not event.document["outputs"]
    unseen = {"one more of outputs"} if may_differ else set()
    assert not is_noticed(expected, dict(event.document))
    tried, missed = 0, []
    for damage, document in damages(dict(event.document)):
        tried += 1
        if not is_noticed(expected, document) and damage not in unseen:
            missed.append(damage)
    with capsys.disabled():
        print(f"\ndamages of {event.key}: {tried - len(missed)} of {tried} noticed")
    assert missed == []
    assert tried >= 2
