"""Frames that a program keeps: the rows of a checkpoint are read by the ids of its columns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from spark_trees import Tree, alias, call, column, equal, node, project, record, scan

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions

LEFT = scan(column("k", 1), column("v", 2))
RIGHT = scan(column("k", 3), column("v", 4))
PLACES = ((1, "file:/left"), (3, "file:/right"))


def checkpoint(query: Tree, name: str = "checkpoint") -> Record:
    """Return the execution of a checkpoint."""
    return replace(record(query, *PLACES, name=name), facts=record(query, *PLACES).facts[:-1], plan=query)


def use(ids: tuple[int, ...]) -> Record:
    """Return a query that writes the second column and the last one of a kept frame."""
    rows = node("LogicalRDD", output=[column(name, key) for name, key in zip("kvkv", ids, strict=False)])
    query = project(rows, alias("a", 91, column("v", ids[1])), alias("b", 92, column("v", ids[-1])))
    of_query = record(query)
    facts = [{"node": "LogicalRDD", "expr_id": ids[0], "probed": {"rdd": 7}}, *of_query.facts]
    return replace(of_query, facts=facts)


def read(*records: Record, ids: tuple[int, ...]) -> list[str]:
    """Return the edges and the gaps of such a query."""
    *_, last = executions([*records, use(ids)])
    return [line for line in render(last.lineage).splitlines() if " <- " in line or line.startswith("gap")]


JOINED = node("Join", LEFT, RIGHT, joinType={"object": "x.Inner$"}, condition=equal(1, 3))


def test_two_columns_of_one_name_are_told_apart_by_id() -> None:
    """Both sides of a join have a column `v`."""
    assert read(checkpoint(JOINED), ids=(1, 2, 3, 4)) == [
        "a <- left.v     direct    identity",
        "b <- right.v    direct    identity",
        "* <- left.k     indirect  join",
        "* <- right.k    indirect  join",
    ]


def test_rows_with_ids_that_no_kept_frame_has_are_a_gap() -> None:
    """The second side of a self-join has new ids; it is found by the RDD of the first, if that is read."""
    (reason,) = [line for line in read(checkpoint(JOINED), ids=(11, 12, 13, 14)) if line.startswith("gap")]
    assert "their source is not recorded" in reason


def test_rows_with_new_ids_are_found_by_the_rdd_of_an_eager_checkpoint() -> None:
    """Two frames of one source are joined: Spark renews the ids of the second, which nothing else reads."""
    first, second = checkpoint(LEFT), checkpoint(filtered("k", 1))
    records = [replace(first, kept_rdd=6), replace(second, kept_rdd=7)]
    assert read(*records, ids=(11, 12)) == [
        "a <- left.v    direct    identity",
        "b <- left.v    direct    identity",
        "* <- left.k    indirect  filter",
    ]


def filtered(name: str, expr_id: int) -> Tree:
    """Return the left rows that one column decides."""
    return node("Filter", LEFT, condition=call("IsNotNull", column(name, expr_id)))


def test_frames_with_the_same_columns_are_not_taken_for_one_another() -> None:
    """Two filters of one frame were kept: only its RDD tells which of both is read."""
    lines = read(checkpoint(filtered("k", 1)), checkpoint(filtered("v", 2)), ids=(1, 2))
    assert [line for line in lines if not line.startswith("gap")] == [
        "a <- left.v    direct    identity",
        "b <- left.v    direct    identity",
    ]
    assert [line for line in lines if "several kept frames have the same columns" in line]


def test_the_rdd_of_an_eager_checkpoint_tells_which_frame_is_read() -> None:
    """The same two filters: `use` reads RDD 7."""
    first, second = checkpoint(filtered("k", 1)), checkpoint(filtered("v", 2))
    for rdds, column_of_filter in (((7, 8), "k"), ((6, 7), "v"), ((7, None), "k"), ((None, 7), "v")):
        records = [replace(each, kept_rdd=rdd) for each, rdd in zip((first, second), rdds, strict=True)]
        lines = read(*records, ids=(1, 2))
        assert lines[2:] == [f"* <- left.{column_of_filter}    indirect  filter"]


def kept_again(rdd: int) -> Record:
    """Return the checkpoint of a frame with an RDD, filtered by `v`."""
    rows = node("LogicalRDD", output=[column("k", 1), column("v", 2)])
    again = checkpoint(node("Filter", rows, condition=call("IsNotNull", column("v", 2))))
    return replace(again, facts=[{"node": "LogicalRDD", "expr_id": 1, "probed": {"rdd": rdd}}])


def test_a_frame_and_its_source_are_told_apart() -> None:
    """A loop keeps its frame in each turn: the checkpoint's input had the RDD of the frame before."""
    first = checkpoint(filtered("k", 1))
    assert read(first, kept_again(rdd=6), ids=(1, 2))[2:] == [
        "* <- left.k    indirect  filter",
        "* <- left.v    indirect  filter",
    ]
    # The frame before is read again: `use` reads RDD 7.
    assert read(first, kept_again(rdd=7), ids=(1, 2))[2:] == ["* <- left.k    indirect  filter"]
    assert not [line for line in read(first, kept_again(rdd=6), ids=(1, 2)) if line.startswith("gap")]


def test_of_many_frames_no_gap_is_lost() -> None:
    """With a third frame the first two still cannot be told apart."""
    lines = read(checkpoint(filtered("k", 1)), checkpoint(filtered("v", 2)), checkpoint(LEFT), ids=(1, 2))
    assert [line for line in lines if "several kept frames have the same columns" in line]


def test_a_lazy_checkpoint_has_read_nothing_yet() -> None:
    """Its rows are read by the first action that uses them, or never: Spark's count so far is 0."""
    lazy = replace(checkpoint(LEFT), jobs=0)
    (execution,) = executions([lazy])
    assert not execution.lineage.inputs
    assert read(lazy, ids=(1, 2)) == read(checkpoint(LEFT), ids=(1, 2))
    assert [each.dataset.id.name for each in [*executions([lazy, use((1, 2))])][-1].lineage.inputs] == [
        "/left"
    ]


def overwrites(name: str, query: Tree, *places: tuple[int, str]) -> Record:
    """Return a write of a query over a folder."""
    written = record(query, *places)
    target = {**written.facts[-1], "probed": {**written.facts[-1]["probed"], "paths": f"file:/{name}"}}
    return replace(written, facts=[*written.facts[:-1], target])


def of_task(*records: Record) -> dict[str, list[str]]:
    """Return where the columns of each output come from, after all executions of a task."""
    return {
        output.dataset.id.name: [f"{edge.column} {edge.source.name}.{edge.field}" for edge in output.edges]
        for output in lineage_of(*records).outputs
    }


def lineage_of(*records: Record) -> Lineage:
    """Return the lineage of a task."""
    numbered = [replace(each, number=number) for number, each in enumerate(records, 1)]
    return compose(execution.lineage for execution in executions(numbered))


FROM_RIGHT = overwrites("left", RIGHT, (3, "file:/right"))


@pytest.mark.parametrize("jobs", [0, 1], ids=["lazy", "eager"])
def test_a_kept_frame_has_the_rows_that_its_source_had(jobs: int) -> None:
    """A dimension is kept, then overwritten, then its former rows are written elsewhere."""
    keeping = replace(checkpoint(LEFT), jobs=jobs)
    assert of_task(keeping, FROM_RIGHT, use((1, 2)))["/out"] == ["a /left.v", "b /left.v"]
    # What the task itself wrote before is traced through.
    assert of_task(FROM_RIGHT, keeping, use((1, 2)))["/out"] == ["a /right.v", "b /right.v"]
    third = overwrites("left", scan(column("k", 5), column("v", 6)), (5, "file:/third"))
    assert of_task(FROM_RIGHT, keeping, third, use((1, 2)))["/out"] == ["a /right.v", "b /right.v"]


@pytest.mark.parametrize("jobs", [0, 1], ids=["lazy", "eager"])
def test_a_kept_frame_beside_its_source_as_it_is_now(jobs: int) -> None:
    """Former and new rows of one dataset are compared: each side has its own origin, and both decide rows."""
    now = scan(column("k", 11), column("v", 12))
    rows = node("LogicalRDD", output=[column("k", 1), column("v", 2)])
    joined = node("Join", rows, now, joinType={"object": "x.Inner$"}, condition=equal(1, 11))
    query = project(joined, alias("was", 91, column("v", 2)), alias("is", 92, column("v", 12)))
    comparing = record(query, (11, "file:/left"))
    facts = [{"node": "LogicalRDD", "expr_id": 1, "probed": {"rdd": 7}}, *comparing.facts]
    comparing = replace(comparing, facts=facts)
    keeping = replace(checkpoint(LEFT), jobs=jobs)
    steps = [keeping, FROM_RIGHT, comparing]
    assert of_task(*steps)["/out"] == [" /left.k", " /right.k", "is /right.v", "was /left.v"]
    assert [read.dataset.id.name for read in lineage_of(*steps).inputs] == ["/left", "/right"]
    some = node("Filter", RIGHT, condition=call("IsNotNull", column("v", 4)))
    first = overwrites("left", some, (3, "file:/right"))
    third = overwrites("left", scan(column("k", 5), column("v", 6)), (5, "file:/third"))
    edges = of_task(first, keeping, third, comparing)["/out"]
    assert edges == [" /right.k", " /right.v", " /third.k", "is /third.v", "was /right.v"]


def test_one_of_several_kept_frames_has_the_inputs_of_all() -> None:
    """Two lazy checkpoints of the same frame, before and after its source was overwritten."""
    lazy = replace(checkpoint(LEFT), jobs=0)
    assert of_task(lazy, lazy, FROM_RIGHT, use((1, 2)))["/out"] == ["a /left.v", "b /left.v"]
    edges = of_task(lazy, FROM_RIGHT, lazy, use((1, 2)))["/out"]
    assert edges == ["a /left.v", "a /right.v", "b /left.v", "b /right.v"]


def test_a_kept_frame_of_another_application_is_another_frame() -> None:
    """Both are the first execution of their application; the second was kept after the overwrite."""
    first, second = (
        replace(each, application_id=f"local-{n}") for n, each in enumerate([checkpoint(LEFT)] * 2)
    )
    uses = [replace(use((1, 2)), application_id=each.application_id) for each in (first, second)]
    overwriting = replace(FROM_RIGHT, application_id="local-9")
    lineages = (
        executions([first, overwriting, second, uses[0]]),
        executions([first, overwriting, second, uses[1]]),
    )
    results = [compose(each.lineage for each in lineage).outputs[-1].edges for lineage in lineages]
    assert [{edge.source.name for edge in edges} for edges in results] == [{"/left"}, {"/right"}]
