"""Many executions of one task as one lineage, on models made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_spark_lineage.lineage.compose import Composer, absorbed, absorbs, compose
from airflow_provider_spark_lineage.lineage.execution import ExecutionLineage
from airflow_provider_spark_lineage.lineage.model import (
    Dataset,
    Edge,
    Failure,
    Field,
    Gap,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
    Statistics,
)
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Identity, Symlink

WAREHOUSE = "file:/wh"


def place(name: str) -> DatasetId:
    return DatasetId("file", "/wh/" + name)


def dataset(name: str, *columns: str, table: str = "") -> Dataset:
    symlinks = (Symlink(WAREHOUSE, table),) if table else ()
    identity = Identity(place(name), f"file:/wh/{name}", symlinks=symlinks)
    return Dataset(identity, tuple(Field(column, "int") for column in columns))


def reads(name: str, *columns: str, rows: int | None = None) -> Input:
    return Input(dataset(name, *columns), Statistics(rows))


def edge(source: str, column: str = "", kind: Kind = Kind.IDENTITY) -> Edge:
    """`a.x`, `y`: column `y` comes from field `x` of dataset `a`."""
    name, _, field = source.partition(".")
    return Edge(place(name), field, kind, column=column)


def writes(
    name: str,
    *edges: Edge,
    mode: Mode = Mode.OVERWRITE,
    table: str = "",
    rows: int | None = None,
    **more: Any,
) -> Output:
    columns = dict.fromkeys(one.column for one in edges if one.column)
    inputs = tuple(sorted({one.source for one in edges}))
    return Output(dataset(name, *columns, table=table), mode, Statistics(rows), edges, inputs, **more)


def changes(name: str, mode: Mode, table: str = "", **more: Any) -> Output:
    """What a command does to a table without a query."""
    return Output(dataset(name, table=table or f"db.{name}"), mode, **more)


def execution(*parts: Input | Output, **more: Any) -> Lineage:
    return Lineage(
        inputs=tuple(part for part in parts if isinstance(part, Input)),
        outputs=tuple(part for part in parts if isinstance(part, Output)),
        **more,
    )


def inputs_of(lineage: Lineage) -> list[str]:
    return [one.dataset.id.name.removeprefix("/wh/") for one in lineage.inputs]


def edges_of(lineage: Lineage, name: str) -> set[Edge]:
    (output,) = (one for one in lineage.outputs if one.dataset.id == place(name))
    return set(output.edges)


def test_column_is_traced_through_what_the_task_wrote() -> None:
    """What was written and read back is no input; its columns lead to what was read from outside."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("m", edge("a.x", "y", Kind.TRANSFORMATION))),
            execution(reads("m", "y"), writes("b", edge("m.y", "z", Kind.AGGREGATION))),
        ]
    )
    assert inputs_of(lineage) == ["a"]
    assert edges_of(lineage, "b") == {edge("a.x", "z", Kind.AGGREGATION)}


def test_part_of_a_struct_is_traced_through_what_the_task_wrote() -> None:
    """A part of a column that was copied is that part of the source; of one that was computed, all of it."""
    copied, computed = edge("in.a", "s"), edge("in.b", "t", Kind.TRANSFORMATION)
    first = execution(reads("in", "a", "b"), writes("mid", copied, computed))
    parts = (replace(edge("mid.s", "x"), part="city"), replace(edge("mid.t", "y"), part="city"))
    second = execution(reads("mid", "s", "t"), writes("out", *parts))
    assert edges_of(compose([first, second]), "out") == {
        replace(edge("in.a", "x"), part="city"),
        edge("in.b", "y", Kind.TRANSFORMATION),
    }


def test_row_influences_of_an_intermediate_reach_what_was_made_of_it() -> None:
    """A filter before the intermediate still decides which rows there are after it."""
    lineage = compose(
        [
            execution(reads("a", "x", "f"), writes("m", edge("a.x", "x"), edge("a.f", kind=Kind.FILTER))),
            execution(reads("m", "x"), writes("b", edge("m.x", "x"))),
        ]
    )
    assert edges_of(lineage, "b") == {edge("a.x", "x"), edge("a.f", kind=Kind.FILTER)}


def test_column_of_an_intermediate_that_is_not_its_source_s_is_a_gap() -> None:
    """What is read back but was never written is visible, and no guess is made."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("m", edge("a.x", "x"))),
            execution(reads("m", "other"), writes("b", edge("m.other", "z"))),
        ]
    )
    assert edges_of(lineage, "b") == set()
    assert [(gap.output, gap.column) for gap in lineage.gaps] == [(place("b"), "z")]


def test_column_is_read_back_in_another_case() -> None:
    """Spark finds a column whatever the case of its name, so tracing does."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("m", edge("a.x", "Name"))),
            execution(reads("m", "NAME"), writes("b", edge("m.NAME", "z"))),
        ]
    )
    assert edges_of(lineage, "b") == {edge("a.x", "z")}
    assert not lineage.gaps


def test_append_keeps_what_was_there_before_the_task() -> None:
    """What is read after an append was there before too: the dataset is an input, both ways are edges."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("log", edge("a.x", "x"), mode=Mode.APPEND)),
            execution(reads("log", "x"), writes("b", edge("log.x", "x"))),
        ]
    )
    assert inputs_of(lineage) == ["a", "log"]
    assert edges_of(lineage, "b") == {edge("a.x", "x"), edge("log.x", "x")}


def test_append_to_what_the_task_made_adds_to_it() -> None:
    """A dataset that the task created holds only what the task put there."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("log", edge("a.x", "x"), mode=Mode.CREATE)),
            execution(reads("c", "x"), writes("log", edge("c.x", "x"), mode=Mode.APPEND)),
            execution(reads("log", "x"), writes("b", edge("log.x", "x"))),
        ]
    )
    assert inputs_of(lineage) == ["a", "c"]
    assert edges_of(lineage, "b") == {edge("a.x", "x"), edge("c.x", "x")}


def test_overwrite_is_read_back_as_the_last_one_left_it() -> None:
    """The output keeps the edges of every write, a later reader sees the last."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("m", edge("a.x", "x"))),
            execution(reads("c", "x"), writes("m", edge("c.x", "x"))),
            execution(reads("m", "x"), writes("b", edge("m.x", "x"))),
        ]
    )
    assert edges_of(lineage, "m") == {edge("a.x", "x"), edge("c.x", "x")}
    assert edges_of(lineage, "b") == {edge("c.x", "x")}


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


def test_self_overwrite_comes_from_itself() -> None:
    """Source and target are one dataset, at two moments."""
    lineage = compose([execution(reads("a", "x"), writes("a", edge("a.x", "x", Kind.TRANSFORMATION)))])
    assert inputs_of(lineage) == ["a"]
    assert edges_of(lineage, "a") == {edge("a.x", "x", Kind.TRANSFORMATION)}


def test_second_self_overwrite_composes_with_the_first() -> None:
    """The second one reads what the first one wrote, which is no further input."""
    once = execution(reads("a", "x", rows=1), writes("a", edge("a.x", "x", Kind.TRANSFORMATION)))
    lineage = compose([once, once])
    assert edges_of(lineage, "a") == {edge("a.x", "x", Kind.TRANSFORMATION)}
    assert lineage.inputs[0].statistics == Statistics(1)


def test_two_copies_are_two_edges() -> None:
    """Which input fed which output is kept: a to b and c to d, not all to all."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("b", edge("a.x", "x"))),
            execution(reads("c", "x"), writes("d", edge("c.x", "x"))),
        ]
    )
    assert {(one.dataset.id, one.inputs) for one in lineage.outputs} == {
        (place("b"), (place("a"),)),
        (place("d"), (place("c"),)),
    }


def test_appended_rows_are_added_and_overwritten_ones_are_not() -> None:
    """An output's count is of what the task left there."""
    first = execution(writes("b", mode=Mode.CREATE, rows=2))
    assert compose([first, execution(writes("b", mode=Mode.APPEND, rows=3))]).outputs[0].statistics.rows == 5
    assert (
        compose([first, execution(writes("b", mode=Mode.OVERWRITE, rows=3))]).outputs[0].statistics.rows == 3
    )


def test_created_stays_created() -> None:
    """A dataset that the task created and then overwrote was not there before."""
    lineage = compose([execution(writes("b", mode=Mode.CREATE)), execution(writes("b", mode=Mode.OVERWRITE))])
    assert lineage.outputs[0].mode is Mode.CREATE


def test_dropped_table_disappears() -> None:
    """A table created and dropped on the way is no output, and what was made of it is traced through."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("tmp", edge("a.x", "x"), table="db.tmp")),
            execution(reads("tmp", "x"), writes("b", edge("tmp.x", "x"))),
            execution(changes("tmp", Mode.DROP, "db.tmp")),
        ]
    )
    assert inputs_of(lineage) == ["a"]
    assert [one.dataset.id for one in lineage.outputs] == [place("b")]
    assert edges_of(lineage, "b") == {edge("a.x", "x")}


def test_column_born_in_the_task_is_traced_to_where_it_was_born() -> None:
    """A literal that went through a dataset of the task comes from that dataset, which is an input then."""
    born = Output(dataset("m", "one"), Mode.CREATE)
    lineage = compose([execution(born), execution(reads("m", "one"), writes("b", edge("m.one", "x")))])
    assert inputs_of(lineage) == ["m"]
    assert edges_of(lineage, "b") == {edge("m.one", "x")}


def test_column_born_in_a_dropped_table_has_no_origin() -> None:
    """A table that is no more is no input, whatever was born in it."""
    born = Output(dataset("m", "one", table="db.m"), Mode.CREATE)
    lineage = compose(
        [
            execution(born),
            execution(reads("m", "one"), writes("b", edge("m.one", "x"))),
            execution(changes("m", Mode.DROP, "db.m")),
        ]
    )
    assert inputs_of(lineage) == []
    assert edges_of(lineage, "b") == set()
    assert [one.dataset.id for one in lineage.outputs] == [place("b")]


def test_dropping_an_external_table_leaves_its_data() -> None:
    """The dataset is the location, and that is still there."""
    outside = Identity(DatasetId("s3://b", "t"), "s3://b/t", symlinks=(Symlink(WAREHOUSE, "db.t"),))
    written = Output(Dataset(outside), Mode.CREATE)
    lineage = compose([execution(written), execution(changes("t", Mode.DROP, "db.t"))])
    assert [one.dataset.id for one in lineage.outputs] == [outside.id]


def test_dropped_table_that_only_its_catalog_names_disappears() -> None:
    """Where the catalog knew the files, and no name of theirs is left, the table made on the way is gone."""
    named = Symlink("http://catalog:8181", "db.t")
    lies = Identity(DatasetId("s3://b", "db/t"), "s3://b/db/t", symlinks=(named,))
    dropped = Identity(
        DatasetId(named.namespace, named.name), named.namespace, symlinks=(named,), note="where"
    )
    gap = Gap("DropTable#0", "where", dropped.id)
    drop = execution(Output(Dataset(dropped), Mode.DROP), gaps=(gap,))
    made = compose([execution(Output(Dataset(lies), Mode.CREATE)), drop])
    assert (made.outputs, made.gaps) == ((), ())
    was_there = compose([execution(Output(Dataset(lies), Mode.APPEND)), drop])
    assert [(one.dataset.id, one.mode) for one in was_there.outputs] == [(lies.id, Mode.DROP)]
    never_seen = compose([drop])
    assert [one.dataset.id for one in never_seen.outputs] == [dropped.id]
    assert never_seen.gaps == (gap,)


def test_table_created_empty_holds_only_what_the_task_inserts() -> None:
    """CREATE TABLE, INSERT INTO, read back: the table is no input."""
    lineage = compose(
        [
            execution(changes("t", Mode.CREATE, "db.t")),
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND, table="db.t")),
            execution(reads("t", "x"), writes("b", edge("t.x", "x"))),
        ]
    )
    assert inputs_of(lineage) == ["a"]
    assert edges_of(lineage, "b") == {edge("a.x", "x")}


def test_failures_and_gaps_are_kept() -> None:
    """What went wrong in any execution is said of the task."""
    failure, gap = Failure("E", "broken"), Gap("x", "reason")
    lineage = compose([execution(failures=(failure,), gaps=(gap,)), execution(gaps=(gap,))])
    assert lineage.failures == (failure,)
    assert lineage.gaps == (gap,)


def test_wrapping_command_and_its_write_are_one() -> None:
    """What was counted comes from the inner write, the table's name and the mode from the command."""
    symlink = Symlink(WAREHOUSE, "db.t")
    inner = ExecutionLineage(execution(reads("a", "x"), writes("t", edge("a.x", "x"), rows=3)), query=(1,))
    outer = ExecutionLineage(
        execution(reads("a", "x")), wraps=True, query=(1,), mode=Mode.CREATE, symlinks=(symlink,)
    )
    assert absorbs(outer, inner)
    (output,) = absorbed(outer, inner).lineage.outputs
    assert (output.mode, output.statistics.rows) == (Mode.CREATE, 3)
    assert output.dataset.identity.symlinks == (symlink,)


def test_unrelated_executions_are_not_one() -> None:
    """A command absorbs only the write of its own query."""
    inner = ExecutionLineage(execution(writes("t", edge("a.x", "x"))), query=(1,))
    outer = ExecutionLineage(execution(), wraps=True, query=(2,))
    assert not absorbs(outer, inner)
    assert not absorbs(inner, inner)


names = st.sampled_from(["a", "b", "c"])
copies = st.builds(
    lambda source, target, kind, mode: execution(
        reads(source, "x"), writes(target, edge(f"{source}.x", "x", kind), mode=mode)
    ),
    names,
    names,
    st.sampled_from([Kind.IDENTITY, Kind.TRANSFORMATION, Kind.AGGREGATION]),
    st.sampled_from([Mode.APPEND, Mode.OVERWRITE]),
)


@given(st.lists(copies, max_size=6))
def test_every_edge_of_a_task_starts_at_one_of_its_inputs(executions: list[Lineage]) -> None:
    """Tracing never leads to something that the task did not read from outside."""
    lineage = compose(executions)
    inputs = {one.dataset.id for one in lineage.inputs}
    assert {found.source for output in lineage.outputs for found in output.edges} <= inputs


@given(st.lists(copies, max_size=6))
def test_asking_on_the_way_changes_nothing(executions: list[Lineage]) -> None:
    """`lineage()` is the lineage so far, however often somebody asks."""
    composer = Composer()
    for one in executions:
        composer.add(one)
        assert composer.lineage() == composer.lineage()
    assert composer.lineage() == compose(executions)


def modes_of(lineage: Lineage) -> dict[str, Mode]:
    return {one.dataset.id.name.removeprefix("/wh/"): one.mode for one in lineage.outputs}


def test_dropping_what_was_there_before_is_an_output_without_edges() -> None:
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


def test_known_place_of_a_dropped_table_is_no_gap() -> None:
    """Where a table lay that the task read before is known, and a table's own place beats the default one."""
    elsewhere = Identity(DatasetId("s3://b", "t"), "s3://b/t", symlinks=(Symlink(WAREHOUSE, "db.t"),))
    dropped = changes("t", Mode.DROP, partial=True)
    gap = Gap("DropTable#0", "where it lay is not recorded", dropped.dataset.id)
    known = compose([execution(Input(Dataset(elsewhere))), execution(dropped, gaps=(gap,))])
    assert [(one.dataset.id, one.mode) for one in known.outputs] == [(elsewhere.id, Mode.DROP)]
    assert known.gaps == ()
    assert compose([execution(dropped, gaps=(gap,))]).gaps == (gap,)


def test_dropped_if_exists_and_created_is_created() -> None:
    """What a script begins with says nothing once the table is made anew, and the table may go again."""
    dropped = changes("t", Mode.DROP, partial=True)
    gap = Gap("DropTable#0", "whether it was there is not recorded", dropped.dataset.id)
    steps = [
        execution(dropped, gaps=(gap,)),
        execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.CREATE, table="db.t")),
    ]
    lineage = compose(steps)
    assert modes_of(lineage) == {"t": Mode.CREATE}
    assert lineage.gaps == ()
    assert compose([*steps, execution(changes("t", Mode.DROP))]).outputs == ()


def test_dropped_and_created_again_was_there_before() -> None:
    """A table that was dropped for certain and made anew does not disappear when it is dropped again."""
    again = writes("t", mode=Mode.CREATE, table="db.t", rows=1)
    steps = [execution(changes("t", Mode.DROP)), execution(again), execution(changes("t", Mode.DROP))]
    assert modes_of(compose(steps)) == {"t": Mode.DROP}


def test_rename_takes_along_what_the_task_wrote() -> None:
    """Columns are traced through the new name, and the old one is no output."""
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
    assert [one.statistics.rows for one in lineage.outputs] == [None, 2]


def test_renaming_what_was_there_before_says_its_old_name() -> None:
    """An output without edges; what was written to it before keeps its edges."""
    renamed = changes("new", Mode.RENAME, previous=place("old"))
    (output,) = compose([execution(renamed)]).outputs
    assert (output.mode, output.previous, output.edges) == (Mode.RENAME, place("old"), ())
    filled = execution(reads("a", "x"), writes("old", edge("a.x", "x"), mode=Mode.APPEND, table="db.old"))
    (output,) = compose([filled, execution(renamed)]).outputs
    assert (output.dataset.id, output.mode, output.previous) == (place("new"), Mode.RENAME, place("old"))
    assert output.edges == (edge("a.x", "x"),)


def test_new_table_takes_the_place_of_the_old_one() -> None:
    """Made under another name, renamed into place: the table has the edges, the replaced one is dropped."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("fresh", edge("a.x", "x"), mode=Mode.CREATE, table="db.fresh")),
            execution(changes("aside", Mode.RENAME, previous=place("t"))),
            execution(changes("t", Mode.RENAME, previous=place("fresh"))),
            execution(changes("aside", Mode.DROP)),
        ]
    )
    assert modes_of(lineage) == {"aside": Mode.DROP, "t": Mode.CREATE}
    assert edges_of(lineage, "t") == {edge("a.x", "x")}


def test_column_born_in_a_renamed_table_starts_there_under_its_new_name() -> None:
    """Every edge starts at something that there is at the end."""
    born = Output(dataset("m", "one", table="db.m"), Mode.CREATE, Statistics(rows=1))
    lineage = compose(
        [
            execution(born),
            execution(reads("m", "one"), writes("b", edge("m.one", "x"))),
            execution(changes("n", Mode.RENAME, previous=place("m"))),
        ]
    )
    assert inputs_of(lineage) == ["n"]
    assert edges_of(lineage, "b") == {edge("n.one", "x")}


def test_column_born_in_a_table_dropped_before_it_was_used_again_has_no_origin() -> None:
    """Through a second intermediate, too."""
    born = Output(dataset("m", "one", table="db.m"), Mode.CREATE, Statistics(rows=1))
    lineage = compose(
        [
            execution(born),
            execution(reads("m", "one"), writes("n", edge("m.one", "x"))),
            execution(changes("m", Mode.DROP)),
            execution(reads("n", "x"), writes("b", edge("n.x", "x"))),
        ]
    )
    assert inputs_of(lineage) == []
    assert edges_of(lineage, "b") == set()


def test_truncated_and_filled_is_overwritten() -> None:
    """Nothing of before is left; the counts are of what was put in afterwards."""
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
    assert next(one for one in lineage.outputs if one.dataset.id == place("t")).statistics.rows == 2


def test_partitions_overwritten_one_after_the_other_are_added_up() -> None:
    """An overwrite of a part leaves the other parts, whose rows count as well."""
    parts = [execution(writes("t", rows=3, partial=True)) for _ in range(4)]
    assert compose(parts).outputs[0].statistics.rows == 12


def test_thousand_appends_are_one_output() -> None:
    """Appends in a loop: one output, its counts summed, its edges once."""
    steps = [
        execution(reads("a", "x", rows=2), writes("log", edge("a.x", "x"), mode=Mode.APPEND, rows=2))
        for _ in range(1000)
    ]
    lineage = compose(steps)
    (output,) = lineage.outputs
    assert output.statistics.rows == 2000
    assert output.edges == (edge("a.x", "x"),)
    assert [one.statistics.rows for one in lineage.inputs] == [2000]


def test_created_again_if_not_exists_keeps_what_it_holds() -> None:
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


def test_table_created_over_files_holds_what_they_hold() -> None:
    """CREATE TABLE ... LOCATION of a folder with rows: reading the table reads them."""
    lineage = compose(
        [
            execution(changes("t", Mode.CREATE, partial=True)),
            execution(reads("t", "x"), writes("b", edge("t.x", "x"))),
        ]
    )
    assert inputs_of(lineage) == ["t"]
    assert edges_of(lineage, "b") == {edge("t.x", "x")}


def test_view_is_what_its_last_definition_says() -> None:
    """A view holds no rows: what it was defined as before is of no concern any more."""

    def view(*edges: Edge, mode: Mode) -> Output:
        identity = Identity(DatasetId(WAREHOUSE, "db.v"), WAREHOUSE, type="VIEW")
        inputs = tuple(sorted({one.source for one in edges}))
        return Output(Dataset(identity, (Field("x", "int"),)), mode, edges=edges, inputs=inputs)

    steps = [
        execution(reads("a", "x"), view(edge("a.x", "x"), mode=Mode.CREATE)),
        execution(reads("b", "x"), view(edge("b.x", "x"), mode=Mode.ALTER)),
    ]
    (output,) = compose(steps).outputs
    assert (output.mode, output.edges, output.inputs) == (Mode.CREATE, (edge("b.x", "x"),), (place("b"),))
    assert compose([*steps, execution(view(mode=Mode.DROP))]).outputs == ()


def test_failure_in_the_middle_leaves_what_completed() -> None:
    """Writes before and after a failed execution really happened."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("m", edge("a.x", "x"))),
            execution(reads("m", "x"), failures=(Failure("E", "broken"),)),
            execution(reads("m", "x"), writes("b", edge("m.x", "x"))),
        ]
    )
    assert modes_of(lineage) == {"b": Mode.OVERWRITE, "m": Mode.OVERWRITE}
    assert edges_of(lineage, "b") == {edge("a.x", "x")}
    assert len(lineage.failures) == 1


def test_csv_is_read_back_by_position() -> None:
    """Files without names: the reader's columns are those that were written, in their order."""

    def plain(*columns: str) -> Dataset:
        identity = Identity(place("c"), "file:/wh/c", file_format="csv")
        return Dataset(identity, tuple(Field(column, "int") for column in columns))

    edges = (edge("a.x", "x"), edge("a.y", "y"))
    written = Output(plain("y", "x"), Mode.CREATE, edges=edges, inputs=(place("a"),))
    steps = [execution(reads("a", "x", "y"), written)]
    by_position = execution(Input(plain("_c0", "_c1")), writes("b", edge("c._c0", "z")))
    assert edges_of(compose([*steps, by_position]), "b") == {edge("a.y", "z")}
    other_width = execution(Input(plain("_c0")), writes("b", edge("c._c0", "z")))
    assert compose([*steps, other_width]).gaps
