"""Frames that a program keeps: what a checkpoint made of rows is read by the ids of its columns."""

from __future__ import annotations

from dataclasses import replace

from spark_trees import Tree, alias, call, column, equal, node, project, record, scan

from airflow_provider_spark_lineage.executions import executions
from airflow_provider_spark_lineage.lineage.text import render
from airflow_provider_spark_lineage.record import Record

LEFT = scan(column("k", 1), column("v", 2))
RIGHT = scan(column("k", 3), column("v", 4))
PLACES = ((1, "file:/left"), (3, "file:/right"))


def kept(query: Tree, name: str = "checkpoint") -> Record:
    """Return the execution of a checkpoint."""
    return replace(record(query, *PLACES, name=name), facts=record(query, *PLACES).facts[:-1], plan=query)


def read(*records: Record, ids: tuple[int, ...]) -> list[str]:
    """Return the lineage of a query that writes the second column and the last one of a kept frame."""
    rows = node("LogicalRDD", output=[column(name, key) for name, key in zip("kvkv", ids, strict=False)])
    query = project(rows, alias("a", 91, column("v", ids[1])), alias("b", 92, column("v", ids[-1])))
    of_query = record(query)
    facts = [{"node": "LogicalRDD", "expr_id": ids[0], "probed": {"rdd": 7}}, *of_query.facts]
    *_, last = executions([*records, replace(of_query, facts=facts)])
    return [line for line in render(last.lineage).splitlines() if " <- " in line or line.startswith("gap")]


JOINED = node("Join", LEFT, RIGHT, joinType={"object": "x.Inner$"}, condition=equal(1, 3))


def test_two_columns_of_one_name_are_told_apart_by_id() -> None:
    """Both sides of a join have a column `v`."""
    assert read(kept(JOINED), ids=(1, 2, 3, 4)) == [
        "a <- left.v     direct    identity",
        "b <- right.v    direct    identity",
        "* <- left.k     indirect  join",
        "* <- right.k    indirect  join",
    ]


def test_rows_with_ids_that_no_kept_frame_has_are_a_gap() -> None:
    """The second side of a self-join has new ids; it is found by the RDD of the first, if that is read."""
    (reason,) = [line for line in read(kept(JOINED), ids=(11, 12, 13, 14)) if line.startswith("gap")]
    assert "what made them is not recorded" in reason


def filtered(name: str, expr_id: int) -> Tree:
    """Return the left rows that one column decides."""
    return node("Filter", LEFT, condition=call("IsNotNull", column(name, expr_id)))


def test_frames_with_the_same_columns_are_not_taken_for_one_another() -> None:
    """Two filters of one frame were kept: which of both is read, its RDD alone could say."""
    lines = read(kept(filtered("k", 1)), kept(filtered("v", 2)), ids=(1, 2))
    assert [line for line in lines if not line.startswith("gap")] == [
        "a <- left.v    direct    identity",
        "b <- left.v    direct    identity",
    ]
    assert [line for line in lines if "several frames with the same columns were kept" in line]


def test_a_frame_that_was_made_of_an_earlier_one_takes_its_place() -> None:
    """A loop that filters and keeps its frame in each turn goes on with the newest."""
    both = node("Filter", filtered("k", 1), condition=call("IsNotNull", column("v", 2)))
    lines = read(kept(filtered("k", 1)), kept(both), ids=(1, 2))
    assert lines[2:] == ["* <- left.k    indirect  filter", "* <- left.v    indirect  filter"]


def test_a_lazy_checkpoint_has_read_nothing_yet() -> None:
    """Its metrics are 0, and rows are read later: how many is not known."""
    metrics = [{"node": "Scan parquet ", "location": "InMemoryFileIndex [file:/left]", "rows": 0, "files": 2}]
    for jobs, rows in ((0, None), (1, 0)):
        (execution,) = executions([replace(kept(LEFT), jobs=jobs, metrics=metrics)])
        assert [read.statistics.rows for read in execution.lineage.inputs] == [rows]
