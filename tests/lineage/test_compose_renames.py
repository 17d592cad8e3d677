"""Tables of one task that are renamed: their old and new names, and their rows."""

from __future__ import annotations

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

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Mode, Output, Statistics


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
