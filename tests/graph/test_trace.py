"""The trace of one column across tasks."""

from __future__ import annotations

from itertools import count
from typing import Any

from graph.estate import current

from airflow_provider_spark_lineage.openlineage.graph.trace import (
    DECISIONS,
    VALUES,
    Column,
    Origin,
    trace_column,
)


def edge(source: str, kind: str) -> dict[str, Any]:
    """Parse `raw.amount` and `direct identity` to an input field of the facet."""
    dataset, _, field = source.partition(".")
    how, _, subtype = kind.upper().partition(" ")
    return {
        "namespace": "file",
        "name": dataset,
        "field": field,
        "transformations": [{"type": how, "subtype": subtype}],
    }


def write(
    output: str, fields: dict[str, list[dict[str, Any]]], rows: list[dict[str, Any]] | None = None
) -> dict:
    """An event of a task that wrote one dataset."""
    facet = {
        "fields": {name: {"inputFields": edges} for name, edges in fields.items()},
        "dataset": rows or [],
    }
    return event({"namespace": "file", "name": output, "facets": {"columnLineage": facet}})


NUMBERS = count()


def event(*outputs: dict[str, Any]) -> dict[str, Any]:
    """An event of a job of its own."""
    name = f"job{next(NUMBERS)}"
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "job": {"namespace": "jobs", "name": name},
        "run": {"runId": name},
        "outputs": list(outputs),
    }


def lines(origin: Origin, depth: int = 0) -> list[str]:
    """Render a trace as indented text."""
    kinds = ", ".join(origin.kinds)
    text = f"{'  ' * depth}{origin.column.dataset}.{origin.column.field}"
    text += f" ({kinds})" if kinds else ""
    text += " *" if origin.repeated else ""
    return [text, *(line for above in origin.origins for line in lines(above, depth + 1))]


def trace(events: list[dict], column: str, *kinds: str) -> list[str]:
    dataset, _, field = column.partition(".")
    return lines(trace_column(current(*events), Column("file", dataset, field), kinds=kinds or VALUES))


def test_output_of_one_task_is_input_of_the_next():
    """Steps of different events join where dataset and field are the same, whatever the events' order."""
    events = [
        write("gold", {"total": [edge("silver.amount", "direct aggregation")]}),
        write("silver", {"amount": [edge("raw.amt", "direct transformation")]}),
    ]
    expected = [
        "gold.total",
        "  silver.amount (direct aggregation)",
        "    raw.amt (direct transformation)",
    ]
    assert trace(events, "gold.total") == expected
    assert trace(events[::-1], "gold.total") == expected


def test_only_the_asked_column_is_followed():
    """Other columns of the same datasets are not part of the trace."""
    event = write("out", {"a": [edge("in.a", "direct identity")], "b": [edge("in.b", "direct identity")]})
    assert trace([event], "out.a") == ["out.a", "  in.a (direct identity)"]


def test_same_field_of_another_namespace_is_another_column():
    """A dataset is its namespace and its name."""
    event = write("out", {"a": [edge("in.a", "direct identity")]})
    assert trace_column(current(event), Column("s3://bucket", "out", "a")).origins == ()


def test_indirect_edges_are_followed_only_on_request():
    """A trace of values has no filter in it; a trace of everything has the dataset's for each column."""
    event = write(
        "out",
        {"a": [edge("in.a", "direct identity"), edge("in.c", "indirect conditional")]},
        rows=[edge("in.f", "indirect filter")],
    )
    assert trace([event], "out.a") == ["out.a", "  in.a (direct identity)"]
    assert trace([event], "out.a", *VALUES, "indirect") == [
        "out.a",
        "  in.a (direct identity)",
        "  in.c (indirect conditional)",
        "  in.f (indirect filter)",
    ]


def test_one_kind_of_indirect_edges_can_be_asked_for():
    """Conditions that a value depends on can be asked for without every join on the way."""
    event = write(
        "out", {"a": [edge("in.c", "indirect conditional")]}, rows=[edge("in.f", "indirect filter")]
    )
    assert trace([event], "out.a", *DECISIONS) == [
        "out.a",
        "  in.c (indirect conditional)",
    ]


def test_column_without_edges_of_its_own_depends_on_those_of_its_dataset():
    """`count(*)` comes from no column, and yet from the filter: only the schema names it."""
    event = write("out", {}, rows=[edge("in.f", "indirect filter")])
    event["outputs"][0]["facets"]["schema"] = {"fields": [{"name": "n", "type": "bigint"}]}
    assert trace([event], "out.n", *VALUES, "indirect") == ["out.n", "  in.f (indirect filter)"]
    assert trace([event], "out.n") == ["out.n"]


def test_cycle_ends():
    """A dataset that is read and overwritten is its own origin, once."""
    event = write("t", {"a": [edge("t.a", "direct transformation"), edge("in.a", "direct identity")]})
    assert trace([event], "t.a") == [
        "t.a",
        "  t.a (direct transformation) *",
        "  in.a (direct identity)",
    ]


def test_longer_cycle_ends():
    """Two tasks that feed each other do not make an endless trace."""
    events = [
        write("a", {"x": [edge("b.x", "direct identity")]}),
        write("b", {"x": [edge("a.x", "direct identity")]}),
    ]
    assert trace(events, "a.x") == ["a.x", "  b.x (direct identity)", "    a.x (direct identity) *"]


def test_diamonds_do_not_multiply():
    """Thirty layers of two equal branches have 2^30 paths; each column is followed once."""
    events = [
        write(
            f"t{i}",
            {
                "a": [edge(f"t{i + 1}.a", "direct identity"), edge(f"t{i + 1}.b", "direct identity")],
                "b": [edge(f"t{i + 1}.a", "direct identity"), edge(f"t{i + 1}.b", "direct identity")],
            },
        )
        for i in range(30)
    ]
    text = trace(events, "t0.a")
    assert len(text) == 1 + 2 + 29 * 4
    assert [line.split()[0] for line in text].count("t30.b") == 2


def test_same_edge_in_several_events_counts_once():
    """A task and its Spark executions report the same write."""
    event = write("out", {"a": [edge("in.a", "direct identity")]})
    again = write("out", {"a": [edge("in.a", "direct identity"), edge("in.a", "direct aggregation")]})
    assert trace([event, again], "out.a") == ["out.a", "  in.a (direct identity, direct aggregation)"]


def test_edge_without_transformations_is_followed():
    """Producers of older facet versions name the input field only."""
    event = write("out", {"a": [{"namespace": "file", "name": "in", "field": "a"}]})
    assert trace([event], "out.a") == ["out.a", "  in.a (direct)"]


def test_events_without_outputs_are_passed_over():
    """START events, and datasets that no producer described, are skipped."""
    events = [{}, {"outputs": None}, {"outputs": [{"namespace": "file", "name": "out"}]}]
    assert trace(events, "out.a") == ["out.a"]
