"""Tables of one task that are dropped: what is left of them, of their names and of their columns."""

from __future__ import annotations

from dataclasses import replace

from tasks import (
    changes,
    dataset,
    edge,
    edges_of,
    entry,
    execution,
    inputs_of,
    modes_of,
    named,
    place,
    reads,
    writes,
)

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Gap, Input, Mode, Output, Snapshot, Statistics


def test_dropped_table_disappears() -> None:
    """A table created and dropped on the way is not an output; copies of it are traced through it."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("tmp", edge("a.x", "x"), mode=Mode.CREATE, table="db.tmp")),
            execution(reads("tmp", "x"), writes("b", edge("tmp.x", "x"))),
            execution(changes("tmp", Mode.DROP, "db.tmp")),
        ]
    )
    assert inputs_of(lineage) == ["a"]
    assert [output.dataset.id for output in lineage.outputs] == [place("b")]
    assert edges_of(lineage, "b") == {edge("a.x", "x")}


def test_table_overwritten_and_dropped_is_dropped() -> None:
    """It may have been there before the task."""
    steps = [execution(writes("t", table="db.t", rows=1)), execution(changes("t", Mode.DROP, "db.t"))]
    assert modes_of(compose(steps)) == {"t": Mode.DROP}


def test_column_born_in_a_dropped_table_has_no_origin() -> None:
    """A dropped table is not an input, even for a column that was computed in it."""
    created = Output(dataset("m", "one", table="db.m"), Mode.CREATE)
    lineage = compose(
        [
            execution(created),
            execution(reads("m", "one"), writes("b", edge("m.one", "x"))),
            execution(changes("m", Mode.DROP, "db.m")),
        ]
    )
    assert inputs_of(lineage) == []
    assert edges_of(lineage, "b") == set()
    assert [output.dataset.id for output in lineage.outputs] == [place("b")]


def test_a_kept_frame_of_a_dropped_table_has_nothing_of_the_next_table_of_that_name() -> None:
    """Its rows came from the first table; the second one holds others."""
    snapshot = Snapshot(kept_by="1")
    before = replace(reads("t", "x"), dataset=replace(dataset("t", "x"), kept_by="1"))
    lineage = compose(
        [
            execution(Output(dataset("t", "x", table="db.t"), Mode.CREATE, Statistics(1))),
            execution(keeps=frozenset({(place("t"), snapshot)})),
            execution(changes("t", Mode.DROP)),
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.CREATE, table="db.t")),
            execution(before, writes("b", edge("t.x", "x"))),
            execution(reads("t", "x"), writes("c", edge("t.x", "x"))),
        ]
    )
    assert (edges_of(lineage, "b"), edges_of(lineage, "c")) == (set(), {edge("a.x", "x")})
    assert inputs_of(lineage) == ["a"]


def test_dropping_an_external_table_leaves_its_data() -> None:
    """The task's files are still there, without the name; a name that the task made itself is left out."""
    written = execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.CREATE, table="db.t"))
    lineage = compose([written, execution(entry("db.t", Mode.DROP))])
    assert named(lineage) == [("/wh/t", Mode.CREATE)]
    assert lineage.outputs[0].dataset.identity.symlinks == ()
    assert edges_of(lineage, "t") == {edge("a.x", "x")}


def test_dropping_an_external_table_of_before_ends_its_name() -> None:
    """The location is written or read, and not dropped."""
    before = Input(dataset("t", "x", table="db.t"))
    lineage = compose([execution(before), execution(entry("db.t", Mode.DROP))])
    assert named(lineage) == [("db.t", Mode.DROP)]
    added = execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND, table="db.t"))
    lineage = compose([added, execution(entry("db.t", Mode.DROP))])
    assert named(lineage) == [("/wh/t", Mode.APPEND), ("db.t", Mode.DROP)]


def test_external_table_made_and_dropped_leaves_nothing() -> None:
    """A name for files that were there: the task reads them, and the name is gone again."""
    lineage = compose(
        [
            execution(entry("db.t", Mode.CREATE, at="t")),
            execution(Input(dataset("t", "x", table="db.t"))),
            execution(entry("db.t", Mode.DROP)),
        ]
    )
    assert inputs_of(lineage) == ["t"]
    assert lineage.outputs == ()


def test_dropping_an_existing_dataset_is_an_output_without_edges() -> None:
    """The table is no more, whatever the task read from it or added to it."""
    before = Input(dataset("read", "x", table="db.read"))
    lineage = compose(
        [
            execution(before, writes("b", edge("read.x", "x"))),
            execution(
                reads("a", "x"), writes("filled", edge("a.x", "x"), mode=Mode.APPEND, table="db.filled")
            ),
            execution(*(changes(name, Mode.DROP) for name in ("read", "filled", "never_seen"))),
        ]
    )
    assert modes_of(lineage) == {
        "b": Mode.OVERWRITE,
        "filled": Mode.DROP,
        "never_seen": Mode.DROP,
        "read": Mode.DROP,
    }
    assert edges_of(lineage, "filled") == set()
    assert edges_of(lineage, "b") == {edge("read.x", "x")}


def test_gap_of_an_execution_is_one_of_the_task() -> None:
    """Whatever became of the output that it is about."""
    gap = Gap("MapInPandas#1", Reason(GapKind.CODE_OVER_ROWS, "taken from every input column"), place("tmp"))
    creation = execution(
        reads("a", "x"), writes("tmp", edge("a.x", "x"), mode=Mode.CREATE, table="db.tmp"), gaps=(gap,)
    )
    assert compose([creation, execution(changes("tmp", Mode.DROP, "db.tmp"))]).gaps == (gap,)


def test_dropped_if_exists_and_created_is_created() -> None:
    """A DROP IF EXISTS at the start has no effect once the table is made again; it may be dropped again."""
    steps = [
        execution(changes("t", Mode.DROP, may_be_absent=True)),
        execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.CREATE, table="db.t")),
    ]
    assert modes_of(compose(steps)) == {"t": Mode.CREATE}
    assert compose([*steps, execution(changes("t", Mode.DROP))]).outputs == ()


def test_table_that_was_read_and_dropped_if_exists_was_there() -> None:
    """Made again under its name, and dropped again, it is gone."""
    steps = [
        execution(reads("t", "x"), writes("b", edge("t.x", "x"))),
        execution(changes("t", Mode.DROP, may_be_absent=True)),
        execution(Output(dataset("t", "x", table="db.t"), Mode.CREATE, Statistics(1))),
        execution(changes("t", Mode.DROP)),
    ]
    assert modes_of(compose(steps))["t"] is Mode.DROP


def test_drop_if_exists_of_a_name_that_the_task_freed_is_nothing() -> None:
    """Its dataset has another name now, and is still there."""
    steps = [
        execution(changes("c", Mode.RENAME, previous=place("t"))),
        execution(changes("t", Mode.DROP, may_be_absent=True)),
    ]
    assert modes_of(compose(steps)) == {"c": Mode.RENAME}


def test_dropped_and_created_again_was_there_before() -> None:
    """A table that was dropped for certain and made again does not disappear when it is dropped again."""
    again = writes("t", mode=Mode.CREATE, table="db.t", rows=1)
    steps = [execution(changes("t", Mode.DROP)), execution(again), execution(changes("t", Mode.DROP))]
    assert modes_of(compose(steps)) == {"t": Mode.DROP}


def test_table_of_before_made_anew_elsewhere_and_dropped_is_dropped() -> None:
    """Its name was there before the task, wherever its rows were."""
    table = replace(reads("somewhere", "x"), dataset=dataset("somewhere", "x", table="db.t"))
    lineage = compose(
        [
            execution(table),
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), table="db.t")),
            execution(changes("t", Mode.DROP, table="db.t")),
        ]
    )
    assert modes_of(lineage)["t"] is Mode.DROP


def test_use_of_a_kept_frame_is_not_a_read_of_its_table() -> None:
    """The table of the frame was dropped in between, and its name stays dropped."""
    table = reads("t", "x")
    table = replace(table, dataset=dataset("t", "x", table="db.t"))
    checkpoint = replace(table, dataset=replace(table.dataset, kept_by="checkpoint"))
    steps = [
        execution(table),
        execution(entry("db.t", Mode.DROP)),
        execution(checkpoint, writes("out", edge("t.x", "x"))),
    ]
    assert modes_of(compose(steps))["db.t"] is Mode.DROP


def test_column_born_in_a_table_dropped_before_it_was_used_again_has_no_origin() -> None:
    """Through a second intermediate, too."""
    created = Output(dataset("m", "one", table="db.m"), Mode.CREATE, Statistics(rows=1))
    lineage = compose(
        [
            execution(created),
            execution(reads("m", "one"), writes("n", edge("m.one", "x"))),
            execution(changes("m", Mode.DROP)),
            execution(reads("n", "x"), writes("b", edge("n.x", "x"))),
        ]
    )
    assert inputs_of(lineage) == []
    assert edges_of(lineage, "b") == set()
