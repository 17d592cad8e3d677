"""Which rows of the task a partial overwrite removes, and what decides it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from lineage.tasks import edge, edges_of, execution, inputs_of, reads, writes
from spark_trees import WRITE, column, project, record, scan

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Kind, Lineage, Mode, Output, Statistics
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


def filters_of(lineage: Lineage, name: str) -> set[str]:
    return {
        f"{each.source.name.removeprefix('/wh/')}.{each.field}"
        for each in edges_of(lineage, name)
        if each.kind is Kind.FILTER
    }


def parted(*names: str) -> Lineage:
    """The whole dataset is written by these partitions."""
    columns = [edge(f"a.{name}", name) for name in ("x", *names)]
    return execution(reads("a", "x", *names), writes("t", *columns, partitioned_by=names))


def over(source: str, folder: str, *columns: str, **more: Any) -> Lineage:
    """A folder of the dataset is overwritten."""
    edges = [edge(f"{source}.{name}", name) for name in ("x", *columns)]
    return execution(reads(source, "x", *columns), in_folder(writes("t", *edges, **more), folder))


@pytest.mark.parametrize(
    ("folder", "filters"), [("p=1", {"a.p"}), ("P=1", {"a.p"}), ("day=1", set()), ("1", set())]
)
def test_a_folder_that_is_replaced_decides_by_its_name_which_rows_around_it_stay(folder, filters):
    """For the output, and for readers of all rows; not for those of the folder itself, which has new rows."""
    steps = [parted("p"), over("c", folder)]
    assert filters_of(compose(steps), "t") == filters
    everything = compose([*steps, reading()])
    assert edges_of(everything, "out") - {edge("a.p", kind=Kind.FILTER)} == {
        edge("a.x", "x"),
        edge("c.x", "x"),
    }
    assert filters_of(everything, "out") == filters
    assert edges_of(compose([*steps, reading(folder)]), "out") == {edge("c.x", "x")}


def test_who_reads_a_partition_by_its_folder_depends_on_what_the_task_wrote_into_its_column():
    """The folder is a choice among the rows that were written."""
    lineage = compose([parted("p"), reading("p=2")])
    assert edges_of(lineage, "out") == {edge("a.x", "x"), edge("a.p", kind=Kind.FILTER)}
    assert filters_of(lineage, "t") == set()


def test_of_nested_folders_each_decides_about_the_rows_that_it_replaced():
    """No row of the first write was left in the inner folder."""
    nested = compose([parted("p", "q"), over("b", "p=1", "q", partitioned_by=("q",)), over("c", "p=1/q=2")])
    assert filters_of(nested, "t") == {"a.p", "b.q"}
    replaced = compose([parted("p", "q"), over("c", "p=1/q=2"), over("d", "p=1"), reading()])
    assert (filters_of(replaced, "t"), filters_of(replaced, "out")) == ({"a.p"}, {"a.p"})


def test_partitions_that_are_overwritten_inside_of_a_folder_are_chosen_by_its_name_too():
    """Rows with the values of the folder and of the new rows are gone."""
    inside = over("c", "p=1", "q", partitioned_by=("q",), partial=True, partitions=("q",))
    lineage = compose([parted("p", "q"), inside, reading()])
    expected = {"a.p", "a.q", "c.q"}
    assert (filters_of(lineage, "t"), filters_of(lineage, "out")) == (expected, expected)
    older = compose([inside, reading()])
    assert (filters_of(older, "t"), filters_of(older, "out")) == (set(), {"t.p", "t.q", "c.q"})


def test_folders_that_a_stream_replaces_decide_nothing_about_its_own_rows():
    """Its lineage is the same after one batch and after several; rows from before it are decided about."""
    columns = [edge("c.x", "x"), edge("c.p", "p")]
    appended = writes("t", *columns, mode=Mode.APPEND, partitioned_by=("p",))
    batch = [streamed(over("c", "p=1")), streamed(execution(reads("c", "x", "p"), appended))]
    once, twice = compose(batch), compose(batch * 2)
    assert edges_of(once, "t") == edges_of(twice, "t")
    assert filters_of(once, "t") == set()
    assert filters_of(compose([parted("p"), *batch]), "t") == {"a.p"}


def streamed(lineage: Lineage) -> Lineage:
    return replace(lineage, inputs=tuple(replace(source, stream="query") for source in lineage.inputs))


def test_rows_that_are_not_in_folders_of_the_column_are_not_chosen_by_its_name():
    """A column of that name inside of the files decides nothing."""
    written = execution(reads("a", "x", "p"), writes("t", edge("a.x", "x"), edge("a.p", "p")))
    assert filters_of(compose([written, over("c", "p=1")]), "t") == set()


def test_an_append_to_a_folder_without_data_removes_nothing():
    """Its readers have the rows that the task wrote around it, too: the next run may have some there."""
    appended = in_folder(writes("t", edge("c.x", "x"), mode=Mode.APPEND), "p=7")
    created = replace(appended, mode=Mode.CREATE, as_added=appended)
    written = in_counts(parted("p"), 5)
    lineage = compose([written, execution(reads("c", "x"), created), reading("p=7")])
    assert filters_of(lineage, "t") == set()
    assert edges_of(lineage, "out") == {edge("a.x", "x"), edge("c.x", "x"), edge("a.p", kind=Kind.FILTER)}


def test_an_append_to_a_folder_that_names_no_partition_is_alone_in_it():
    """The rows around it are in no folder, so its readers do not have them."""
    appended = in_folder(writes("t", edge("c.x", "x"), mode=Mode.APPEND), "extra")
    created = replace(appended, mode=Mode.CREATE, as_added=appended)
    written = in_counts(parted("p"), 5)
    lineage = compose([written, execution(reads("c", "x"), created), reading("extra")])
    assert edges_of(lineage, "out") == {edge("c.x", "x")}


def in_counts(lineage: Lineage, rows: int) -> Lineage:
    outputs = tuple(replace(output, statistics=Statistics(rows)) for output in lineage.outputs)
    return replace(lineage, outputs=outputs)


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
    step = over("c", folder)
    assert edges_of(compose([step]), "t") == {edge("c.x", "x")}
    expected = {edge("t.x", "x"), *(edge(f"t.{name}", kind=Kind.FILTER) for name in filters or ())}
    if filters is not None:
        expected.add(edge("c.x", "x"))
    assert edges_of(compose([step, reading(read)]), "out") == expected


def test_of_a_folder_that_the_whole_dataset_replaces_later_nothing_stays():
    """The rows around it are gone, too, and with them what decided which of them stayed."""
    lineage = compose([parted("p"), over("c", "p=1"), parted("p"), reading()])
    assert filters_of(lineage, "t") == set()
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
