"""Commands of one task among its queries: tables made, emptied, renamed and dropped, views."""

from __future__ import annotations

from dataclasses import replace

from tasks import (
    WAREHOUSE,
    changes,
    dataset,
    edge,
    edges_of,
    entry,
    execution,
    inputs_of,
    modes_of,
    place,
    reads,
    writes,
)

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Field,
    Gap,
    Input,
    Lineage,
    Mode,
    Output,
    Snapshot,
    Statistics,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity


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


def test_renamed_twice_was_called_what_it_was_before_the_task() -> None:
    """Names in between are lost; renamed back, nothing happened; dropped, the first name is gone."""
    steps = [
        execution(changes("b", Mode.RENAME, previous=place("a"))),
        execution(changes("c", Mode.RENAME, previous=place("b"))),
    ]
    (output,) = compose(steps).outputs
    assert (output.dataset.id, output.previous) == (place("c"), place("a"))
    assert compose([*steps, execution(changes("a", Mode.RENAME, previous=place("c")))]).outputs == ()
    assert modes_of(compose([*steps, execution(changes("c", Mode.DROP))])) == {"a": Mode.DROP}


def test_entry_renamed_twice_was_called_what_it_was_before_the_task() -> None:
    """The same of an external table, also when the task writes to it in between."""
    first = execution(entry("db.u", Mode.RENAME, at="t", previous="db.t"))
    again = execution(entry("db.v", Mode.RENAME, at="t", previous="db.u"))
    (output,) = compose([first, again]).outputs
    assert (output.dataset.id.name, output.previous and output.previous.name) == ("db.v", "db.t")
    filled = execution(writes("t", mode=Mode.APPEND, table="db.u"))
    assert named(compose([first, filled])) == [("/wh/t", Mode.APPEND), ("db.u", Mode.RENAME)]
    assert named(compose([first, execution(entry("db.u", Mode.DROP))])) == [("db.t", Mode.DROP)]
    assert compose([first, execution(entry("db.t", Mode.RENAME, at="t", previous="db.u"))]).outputs == ()


def test_a_name_taken_by_a_new_table_leaves_the_old_place() -> None:
    """`saveAsTable` over an external table makes a managed one of the same name at another place."""
    steps = [execution(writes("out", table="db.t", rows=1)), execution(writes("t", table="db.t", rows=2))]
    links = {output.dataset.id: output.dataset.identity.symlinks for output in compose(steps).outputs}
    assert (links[place("out")], len(links[place("t")])) == ((), 1)


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


def named(lineage: Lineage) -> list[tuple[str, Mode]]:
    return [(output.dataset.id.name, output.mode) for output in lineage.outputs]


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


def test_the_new_name_of_a_place_is_known_from_a_write_there() -> None:
    """CREATE TABLE ... LOCATION, then INSERT: one dataset, which has the name."""
    inserted = execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND, table="db.t"))
    lineage = compose([execution(entry("db.t", Mode.CREATE, at="t")), inserted])
    assert named(lineage) == [("/wh/t", Mode.APPEND)]
    assert compose([execution(entry("db.t", Mode.CREATE, at="t"))]).outputs != ()
    dropped = compose(
        [execution(entry("db.t", Mode.CREATE, at="t")), inserted, execution(entry("db.t", Mode.DROP))]
    )
    assert named(dropped) == [("/wh/t", Mode.APPEND)]


def test_renamed_entry_leaves_its_data_where_they_are() -> None:
    """An external table under another name: the task's rows have the new name, and a column is traced."""
    written = execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND, table="db.t"))
    renamed = execution(entry("db.u", Mode.RENAME, at="t", previous="db.t"))
    lineage = compose([written, renamed])
    assert named(lineage) == [("/wh/t", Mode.APPEND), ("db.u", Mode.RENAME)]
    assert [link.name for link in lineage.outputs[0].dataset.identity.symlinks] == ["db.u"]
    again = compose([written, renamed, execution(entry("db.u", Mode.DROP))])
    assert named(again) == [("/wh/t", Mode.APPEND), ("db.t", Mode.DROP)]
    composed = compose([execution(entry("db.t", Mode.CREATE, at="t")), renamed])
    assert named(composed) == [("db.u", Mode.CREATE)]


def test_a_table_created_empty_holds_only_inserted_rows() -> None:
    """CREATE TABLE, INSERT INTO, read back: the table is not an input."""
    lineage = compose(
        [
            execution(changes("t", Mode.CREATE, "db.t")),
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND, table="db.t")),
            execution(reads("t", "x"), writes("b", edge("t.x", "x"))),
        ]
    )
    assert inputs_of(lineage) == ["a"]
    assert edges_of(lineage, "b") == {edge("a.x", "x")}


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


def test_rename_takes_along_the_tasks_rows() -> None:
    """Columns are traced through the new name, and the old one is not an output."""
    lineage = compose(
        [
            execution(
                reads("a", "x"), writes("old", edge("a.x", "x"), mode=Mode.CREATE, table="db.old", rows=2)
            ),
            execution(changes("new", Mode.RENAME, previous=place("old"))),
            execution(reads("new", "x"), writes("b", edge("new.x", "y"))),
        ]
    )
    assert inputs_of(lineage) == ["a"]
    assert modes_of(lineage) == {"b": Mode.OVERWRITE, "new": Mode.CREATE}
    assert edges_of(lineage, "b") == {edge("a.x", "y")}
    assert edges_of(lineage, "new") == {edge("a.x", "x")}
    assert [output.statistics.rows for output in lineage.outputs] == [None, 2]


def test_renaming_an_existing_table_gives_its_old_name() -> None:
    """An output without edges; earlier writes to it keep their edges."""
    renamed = changes("new", Mode.RENAME, previous=place("old"))
    (output,) = compose([execution(renamed)]).outputs
    assert (output.mode, output.previous, output.edges) == (Mode.RENAME, place("old"), ())
    filled = execution(reads("a", "x"), writes("old", edge("a.x", "x"), mode=Mode.APPEND, table="db.old"))
    (output,) = compose([filled, execution(renamed)]).outputs
    assert (output.dataset.id, output.mode, output.previous) == (place("new"), Mode.RENAME, place("old"))
    assert output.edges == (edge("a.x", "x"),)


def test_table_made_anew_elsewhere_did_not_exist_there() -> None:
    """`saveAsTable` with mode overwrite, without the `path` of the table before."""
    lineage = compose(
        [
            execution(writes("somewhere", mode=Mode.CREATE, table="db.t")),
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), table="db.t")),
            execution(changes("u", Mode.RENAME, previous=place("t"))),
        ]
    )
    (_, output) = lineage.outputs
    assert (output.dataset.id, output.mode, output.previous) == (place("u"), Mode.OVERWRITE, None)


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


def test_new_table_takes_the_place_of_the_old_one() -> None:
    """Made under another name, renamed into place: the table has other rows now, its name is as before."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("fresh", edge("a.x", "x"), mode=Mode.CREATE, table="db.fresh")),
            execution(changes("aside", Mode.RENAME, previous=place("t"))),
            execution(changes("t", Mode.RENAME, previous=place("fresh"))),
            execution(changes("aside", Mode.DROP)),
        ]
    )
    assert modes_of(lineage) == {"t": Mode.OVERWRITE}
    assert edges_of(lineage, "t") == {edge("a.x", "x")}


def test_table_made_under_the_name_of_one_renamed_and_dropped_overwrites_it() -> None:
    """To those outside the name never went away; dropped as well, it did."""
    steps = [
        execution(entry("db.u", Mode.RENAME, at="old", previous="db.t")),
        execution(entry("db.t", Mode.CREATE, at="new")),
        execution(entry("db.u", Mode.DROP)),
    ]
    assert modes_of(compose(steps)) == {"db.t": Mode.OVERWRITE}
    assert modes_of(compose([*steps, execution(entry("db.t", Mode.DROP))])) == {"db.t": Mode.DROP}


def test_column_born_in_a_renamed_table_starts_there_under_its_new_name() -> None:
    """Every edge starts at something that there is at the end."""
    created = Output(dataset("m", "one", table="db.m"), Mode.CREATE, Statistics(rows=1))
    lineage = compose(
        [
            execution(created),
            execution(reads("m", "one"), writes("b", edge("m.one", "x"))),
            execution(changes("n", Mode.RENAME, previous=place("m"))),
        ]
    )
    assert inputs_of(lineage) == ["n"]
    assert edges_of(lineage, "b") == {edge("n.one", "x")}


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


def test_truncated_and_filled_is_overwritten() -> None:
    """Nothing of before is left; the counts are of rows inserted afterwards."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND, rows=5)),
            execution(changes("t", Mode.TRUNCATE)),
            execution(reads("c", "x"), writes("t", edge("c.x", "x"), mode=Mode.APPEND, rows=2)),
            execution(reads("t", "x"), writes("b", edge("t.x", "x"))),
        ]
    )
    assert modes_of(lineage)["t"] is Mode.OVERWRITE
    assert edges_of(lineage, "b") == {edge("c.x", "x")}
    assert next(output for output in lineage.outputs if output.dataset.id == place("t")).statistics.rows == 2


def test_of_a_table_with_an_emptied_partition_nobody_knows_the_rows() -> None:
    """The rows of the other partitions are there still, and lead to where they came from."""
    emptied = changes("t", Mode.ALTER, partial=True, rewrites=True)
    filled = execution(reads("a", "x"), writes("t", edge("a.x", "x"), rows=5))
    lineage = compose([filled, execution(emptied)])
    assert edges_of(lineage, "t") == {edge("a.x", "x")}
    assert [output.statistics.rows for output in lineage.outputs] == [None]


def test_created_again_if_not_exists_keeps_its_rows() -> None:
    """CREATE TABLE of a table that the task has filled can only have found it there."""
    create = execution(changes("t", Mode.CREATE))
    lineage = compose(
        [
            create,
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND, table="db.t")),
            create,
            execution(reads("t", "x"), writes("b", edge("t.x", "x"))),
        ]
    )
    assert edges_of(lineage, "b") == {edge("a.x", "x")}


def test_table_that_was_read_is_not_created() -> None:
    """CREATE TABLE IF NOT EXISTS changed nothing; a table over files that were read by their path is new."""
    table = Input(dataset("t", "x", table="db.t"))
    create = execution(Output(dataset("t", "x", table="db.t"), Mode.CREATE))
    assert modes_of(compose([execution(table), create])) == {}
    assert modes_of(compose([execution(reads("t", "x")), create])) == {"t": Mode.CREATE}
    dropped = execution(changes("t", Mode.DROP, table="db.t"))
    assert modes_of(compose([execution(table), dropped, create])) == {"t": Mode.OVERWRITE}


def test_name_that_the_task_freed_has_no_older_rows() -> None:
    """Rows appended to the path of a renamed table are all rows there."""
    lineage = compose(
        [
            execution(changes("u", Mode.RENAME, previous=place("t"))),
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND)),
            execution(reads("t", "x"), writes("b", edge("t.x", "x"))),
        ]
    )
    assert edges_of(lineage, "b") == {edge("a.x", "x")}
    assert inputs_of(lineage) == ["a"]


def test_a_view_has_its_last_definition() -> None:
    """A view holds no rows: its earlier definitions are irrelevant."""

    def view(*edges: Edge, mode: Mode) -> Output:
        identity = Identity(DatasetId(WAREHOUSE, "db.v"), type="VIEW")
        inputs = tuple(sorted({each.source for each in edges}))
        return Output(Dataset(identity, (Field("x", "int"),)), mode, edges=edges, inputs=inputs)

    steps = [
        execution(reads("a", "x"), view(edge("a.x", "x"), mode=Mode.CREATE)),
        execution(reads("b", "x"), view(edge("b.x", "x"), mode=Mode.ALTER)),
    ]
    (output,) = compose(steps).outputs
    assert (output.mode, output.edges, output.inputs) == (Mode.CREATE, (edge("b.x", "x"),), (place("b"),))
    assert compose([*steps, execution(view(mode=Mode.DROP))]).outputs == ()


def test_versions_of_a_table_made_again_start_over() -> None:
    """A dropped table takes its versions along; a renamed one keeps them."""
    creation = execution(reads("a", "x"), writes("t", edge("a.x", "x"), table="db.t", version="0"))
    again = execution(reads("c", "x"), writes("t", edge("c.x", "x"), table="db.t", version="1"))
    reading = execution(reads("t", "x", version="0"), writes("b", edge("t.x", "x")))
    dropped = compose([creation, execution(changes("t", Mode.DROP)), again, reading])
    assert edges_of(dropped, "b") == {edge("c.x", "x")}
    renamed = execution(changes("u", Mode.RENAME, previous=place("t")))
    reading = execution(reads("u", "x", version="0"), writes("b", edge("u.x", "x")))
    assert edges_of(compose([creation, again, renamed, reading]), "b") == {edge("a.x", "x")}


def test_a_table_changed_in_place_has_its_largest_read_afterwards() -> None:
    """A DELETE does not make it another dataset; a write that replaces all of its rows does."""

    def rows_read(first: Output) -> list[int | None]:
        read = Input(dataset("t", "x"), Statistics(1))
        again = Input(dataset("t", "x"), Statistics(24))
        lineage = compose([execution(read, first), execution(again, writes("b", edge("t.x", "x")))])
        return [source.statistics.rows for source in lineage.inputs if source.dataset.id == place("t")]

    assert rows_read(writes("t", edge("t.x", "x"), rewrites=True)) == [24]
    assert rows_read(writes("t", edge("t.x", "x"))) == [1]
