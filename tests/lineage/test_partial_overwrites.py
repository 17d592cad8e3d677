"""Which rows of the task a partial overwrite removes, and what decides it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from lineage.tasks import edge, edges_of, execution, inputs_of, reads, writes
from spark_trees import WRITE, column, project, record, scan

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Kind, Output
from airflow_provider_spark_lineage.spark.runs.executions import executions
from airflow_provider_spark_lineage.spark.sources.dataset import Part

OVER = writes("t", edge("c.x", "x"), edge("c.q", "p"), partial=True, partitions=("p",))
DECIDING = {edge("a.p", kind=Kind.FILTER), edge("c.q", kind=Kind.FILTER)}


@pytest.mark.parametrize(
    ("options", "deciding"),
    [
        ({"static_partitions": 1}, ("p",)),
        ({"static_partitions": 1, "dynamic_partitions": True}, ("p", "h")),
        ({"dynamic_partitions": True}, ("p", "h")),
        ({"delta_path": "/out", "replace_where": True, "condition_columns": ["'x"]}, ()),
        ({}, ()),
    ],
)
def test_partitions_decide_as_far_as_the_statement_leaves_it_to_them(
    options: dict[str, Any], deciding
) -> None:
    """In static mode, those that it names; with a condition, none; a whole overwrite leaves no row."""
    whole = record(project(scan(column("x", 1)), column("x", 1)))
    *others, target = whole.facts
    probed = {**target["probed"], "partition_columns": ["p", "h"], **options}
    found = executions([replace(whole, facts=[*others, {**target, "probed": probed}])])
    [output] = [output for each in found for output in each.lineage.outputs]
    assert target["node"] == WRITE
    assert (output.partitions, output.partial) == (deciding, bool(options))


def filled(*edges: Any, **more: Any) -> Any:
    return execution(reads("a", "x", "p"), writes("t", *edges, **more))


@pytest.mark.parametrize(
    ("before", "stream", "expected"),
    [
        ([filled(edge("a.x", "x"), edge("a.p", "p"))], "", DECIDING),
        ([], "", set()),
        ([filled(edge("a.x", "x"), edge("a.p", "p"), has_rows=False)], "", set()),
        ([filled(edge("a.x", "x"), edge("a.p", "p"))], "query", set()),
    ],
    ids=["of the task", "none", "without rows", "batches"],
)
def test_an_output_has_what_decides_which_rows_of_the_task_stay(before, stream, expected):
    """Where there were none, nothing was removed; a stream says the same after each of its batches."""
    overwriting = execution(replace(reads("c", "x", "q"), stream=stream), OVER)
    lineage = compose([*before, overwriting])
    assert {each for each in edges_of(lineage, "t") if each.kind is Kind.FILTER} == expected


def in_folder(output: Output, folder: str) -> Output:
    location = f"file:{output.dataset.id.name}/{folder}"
    return replace(output, dataset=output.dataset.of(Part((location,))))


def reading(folder: str = "") -> Any:
    """Column `x` of the dataset, or of a folder of it, is written to `out`."""
    source = reads("t", "x")
    location = f"file:{source.dataset.id.name}/{folder}"
    parted = replace(source, dataset=source.dataset.of(Part((location,)))) if folder else source
    return execution(parted, writes("out", edge("t.x", "x")))


@pytest.mark.parametrize(
    ("folder", "filters"),
    [
        ("p=1", {edge("a.p", kind=Kind.FILTER)}),
        ("P=1", {edge("a.p", kind=Kind.FILTER)}),
        ("day=1", set()),
        ("1", set()),
    ],
)
def test_a_folder_that_is_replaced_decides_by_its_name_which_rows_around_it_stay(folder, filters):
    """Rows of the task with another value stay, and their readers know; the folder's own have no filter."""
    before = filled(edge("a.x", "x"), edge("a.p", "p"))
    over = execution(reads("c", "x"), in_folder(writes("t", edge("c.x", "x")), folder))
    lineage = compose([before, over])
    assert {each for each in edges_of(lineage, "t") if each.kind is Kind.FILTER} == filters
    everything = compose([before, over, reading()])
    assert edges_of(everything, "out") == {edge("a.x", "x"), edge("c.x", "x"), *filters}
    other = compose([before, over, reading("p=2")])
    assert edges_of(other, "out") == {edge("a.x", "x"), *filters}
    own = compose([before, over, reading(folder)])
    assert edges_of(own, "out") == {edge("c.x", "x")}


@pytest.mark.parametrize(
    ("folder", "read", "filters"),
    [
        ("p=1", "", {"p"}),
        ("p=1/h=2", "", {"p", "h"}),
        ("p=1/h=2", "p=1", {"h"}),
        ("p=1", "p=2", None),
        ("2024", "", set()),
    ],
)
def test_a_folder_that_is_replaced_decides_which_older_rows_around_it_are_read(folder, read, filters):
    """Readers of rows from before the task have it; the output is not a source of itself."""
    over = execution(reads("c", "x"), in_folder(writes("t", edge("c.x", "x")), folder))
    assert edges_of(compose([over]), "t") == {edge("c.x", "x")}
    expected = {edge("t.x", "x"), *(edge(f"t.{name}", kind=Kind.FILTER) for name in filters or ())}
    if filters is not None:
        expected.add(edge("c.x", "x"))
    assert edges_of(compose([over, reading(read)]), "out") == expected


def test_of_a_folder_that_the_whole_dataset_replaces_later_nothing_stays():
    """The rows around it are gone, too, and with them what decided which of them stayed."""
    steps = [
        filled(edge("a.x", "x"), edge("a.p", "p")),
        execution(reads("c", "x"), in_folder(writes("t", edge("c.x", "x")), "p=1")),
        filled(edge("a.x", "x"), edge("a.p", "p")),
    ]
    lineage = compose([*steps, reading()])
    assert {each for each in edges_of(lineage, "t") if each.kind is Kind.FILTER} == set()
    assert edges_of(lineage, "out") == {edge("a.x", "x")}


def test_partial_overwrite_keeps_the_other_partitions() -> None:
    """Overwriting one partition leaves rows from before the task."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), partial=True)),
            execution(reads("t", "x"), writes("b", edge("t.x", "x"))),
        ]
    )
    assert inputs_of(lineage) == ["a", "t"]
    assert edges_of(lineage, "b") == {edge("a.x", "x"), edge("t.x", "x")}


def test_partitions_decide_which_rows_a_partial_overwrite_leaves() -> None:
    """Both for rows of the task and for rows from before; the output has those for the rows of the task."""
    filled = execution(reads("a", "x", "p"), writes("t", edge("a.x", "x"), edge("a.p", "p")))
    over = writes("t", edge("c.x", "x"), edge("c.q", "p"), partial=True, partitions=("P",))
    reading = execution(reads("t", "x"), writes("b", edge("t.x", "x")))
    left = {edge("a.p", kind=Kind.FILTER), edge("c.q", kind=Kind.FILTER)}
    lineage = compose([filled, execution(reads("c", "x", "q"), over), reading])
    assert edges_of(lineage, "b") == {edge("a.x", "x"), edge("c.x", "x"), *left}
    own = {edge("a.x", "x"), edge("a.p", "p"), edge("c.x", "x"), edge("c.q", "p")}
    assert edges_of(lineage, "t") == {*own, *left}
    lineage = compose([execution(reads("c", "x", "q"), over), reading])
    assert edges_of(lineage, "t") == {edge("c.x", "x"), edge("c.q", "p")}
    outside = {edge("t.p", kind=Kind.FILTER), edge("c.q", kind=Kind.FILTER)}
    assert edges_of(lineage, "b") == {edge("t.x", "x"), edge("c.x", "x"), *outside}
