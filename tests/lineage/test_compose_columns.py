"""Columns of the outputs of a task: those at its end, with the sources of the rows that are left."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tasks import changes, dataset, edge, edges_of, execution, inputs_of, modes_of, reads, writes

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import (
    ColumnChange,
    Edge,
    Field,
    Kind,
    Lineage,
    Mode,
    Output,
    Snapshot,
)

READ = reads("a", "x", "y")
T = (edge("a.x", "s"), edge("a.y", "v"))
FILLED = execution(READ, writes("t", *T, table="db.t"))


def altered(*columns: str, changed: tuple[ColumnChange, ...] = (), version: str = "") -> Lineage:
    """Make an ALTER of the table `t`, which then has these columns."""
    output = changes("t", Mode.ALTER, changes=changed)
    after = dataset("t", *columns, table="db.t").at(version)
    return execution(replace(output, dataset=after))


def columns_of(lineage: Lineage, name: str = "t") -> list[str]:
    (output,) = (each for each in lineage.outputs if each.dataset.id.name == f"/wh/{name}")
    return [column.name for column in output.dataset.fields]


def typed(output: Output, **types: str) -> Output:
    fields = tuple(Field(name, kind) for name, kind in types.items())
    return replace(output, dataset=replace(output.dataset, fields=fields))


def test_a_complete_overwrite_leaves_its_own_columns_types_and_edges() -> None:
    """What was overwritten is not there at the end, neither its columns nor where they came from."""
    first = typed(writes("t", edge("a.x", "id"), edge("a.y", "v")), id="int", v="int")
    second = typed(writes("t", edge("b.x", "id"), edge("b.y", "s")), id="string", s="string")
    lineage = compose([execution(READ, first), execution(reads("b", "x", "y"), second)])
    (output,) = lineage.outputs
    assert output.dataset.fields == (Field("id", "string"), Field("s", "string"))
    assert set(output.edges) == {edge("b.x", "id"), edge("b.y", "s")}
    assert [source.name for source in output.inputs] == ["/wh/b"]
    assert inputs_of(lineage) == ["a", "b"], "both were read"


@pytest.mark.parametrize(("rows", "expected"), [(0, {"a.x", "b.x"}), (None, {"a.x", "b.x"}), (5, {"b.x"})])
def test_an_append_to_what_the_task_wrote_without_rows_adds_to_it(
    rows: int | None, expected: set[str]
) -> None:
    """The first write may have rows in the next run; if it had some, something else has removed them."""
    first = writes("t", edge("a.x", "id"), mode=Mode.CREATE, rows=rows)
    added = writes("t", edge("b.x", "id"), mode=Mode.APPEND)
    second = replace(added, mode=Mode.CREATE, was_empty=True, as_added=added)
    lineage = compose([execution(READ, first), execution(reads("b", "x"), second)])
    assert edges_of(lineage, "t") == {edge(source, "id") for source in expected}
    assert modes_of(lineage) == {"t": Mode.CREATE}


def test_an_append_adds_columns_and_changes_no_type() -> None:
    """Delta adds the columns of an append with `mergeSchema` behind its own."""
    first = typed(writes("t", edge("a.x", "id")), id="bigint")
    second = typed(writes("t", edge("a.y", "s"), mode=Mode.APPEND), id="int", s="string")
    (output,) = compose([execution(READ, first), execution(READ, second)]).outputs
    assert output.dataset.fields == (Field("id", "bigint"), Field("s", "string"))
    assert set(output.edges) == {edge("a.x", "id"), edge("a.y", "s")}


def test_a_truncated_table_keeps_its_columns_alone() -> None:
    """No row is left, so no column has a source."""
    (output,) = compose([FILLED, execution(changes("t", Mode.TRUNCATE))]).outputs
    assert columns_of(compose([FILLED, execution(changes("t", Mode.TRUNCATE))])) == ["s", "v"]
    assert (output.edges, output.inputs) == ((), ())


RENAMED = (ColumnChange("S", "z"),)
DROPPED = (ColumnChange("v"),)


def test_a_renamed_column_keeps_its_sources_in_the_table_and_in_what_is_read_from_it() -> None:
    """A column has one name in the catalog, whatever the case of the statement."""
    reading = execution(reads("t", "z", "v"), writes("o", edge("t.z", "z"), edge("t.v", "v")))
    lineage = compose([FILLED, altered("z", "v", changed=RENAMED), reading])
    assert columns_of(lineage) == ["z", "v"]
    assert edges_of(lineage, "t") == {edge("a.x", "z"), edge("a.y", "v")}
    assert edges_of(lineage, "o") == {edge("a.x", "z"), edge("a.y", "v")}
    assert (lineage.gaps, inputs_of(lineage)) == ((), ["a"])


def test_a_dropped_column_has_no_edge_any_more() -> None:
    """A later column of the same name is another one: its values are NULL."""
    again = execution(reads("t", "s", "v"), writes("o", edge("t.s", "s"), edge("t.v", "v")))
    lineage = compose([FILLED, altered("s", changed=DROPPED), altered("s", "v"), again])
    assert columns_of(lineage) == ["s", "v"]
    assert edges_of(lineage, "t") == {edge("a.x", "s")}
    assert edges_of(lineage, "o") == {edge("a.x", "s")}


COPIED = execution(reads("t", "s", "v"), writes("o", edge("t.s", "s"), edge("t.v", "v")))
UPSERT = execution(
    reads("a", "x"),
    reads("t", "s", "v"),
    writes(
        "t",
        edge("a.x", "s"),
        edge("t.s", "s"),
        edge("t.v", "v"),
        edge("a.x", kind=Kind.JOIN),
        edge("t.s", kind=Kind.JOIN),
        table="db.t",
        rewrites=True,
    ),
)


def emptied(mode: Mode) -> Lineage:
    """Make a command after which the table `t` has these columns and no rows."""
    return execution(replace(changes("t", mode), dataset=dataset("t", "s", "v", table="db.t")))


@pytest.mark.parametrize("mode", [Mode.CREATE, Mode.OVERWRITE, Mode.TRUNCATE])
def test_a_table_without_rows_is_no_source(mode: Mode) -> None:
    """MERGE into a table that the task has just made or emptied: the table has nothing of its own."""
    lineage = compose([emptied(mode), UPSERT, COPIED, UPSERT])
    assert inputs_of(lineage) == ["a"]
    assert edges_of(lineage, "t") == {edge("a.x", "s"), edge("a.x", kind=Kind.JOIN)}
    assert edges_of(lineage, "o") == {edge("a.x", "s"), edge("a.x", kind=Kind.JOIN)}


def test_a_copy_of_a_column_without_values_has_none() -> None:
    """NULLs that go through several tables come from none of them."""
    onward = execution(reads("o", "s", "v"), writes("p", edge("o.s", "s"), edge("o.v", "v")))
    lineage = compose([FILLED, altered("s", changed=DROPPED), altered("s", "v"), COPIED, onward])
    assert (inputs_of(lineage), edges_of(lineage, "p")) == (["a"], {edge("a.x", "s")})


def test_a_column_that_was_added_has_values_once_it_is_written() -> None:
    """An UPDATE fills it from a literal, which originates in the table."""
    filling = execution(
        reads("t", "s"), replace(writes("t", edge("t.s", "s")), dataset=dataset("t", "s", "v"), rewrites=True)
    )
    lineage = compose([FILLED, altered("s", changed=DROPPED), altered("s", "v"), filling, COPIED])
    assert edges_of(lineage, "o") == {edge("a.x", "s"), edge("t.v", "v")}


def test_a_column_of_older_rows_is_a_source_after_another_was_added() -> None:
    """The task did not see all columns of the rows that were there before it."""
    append = execution(READ, writes("t", edge("a.x", "s"), mode=Mode.APPEND, table="db.t"))
    lineage = compose([append, altered("s", "v"), COPIED])
    assert edges_of(lineage, "o") == {edge("a.x", "s"), edge("t.s", "s"), edge("t.v", "v")}


def test_replaced_columns_have_no_values() -> None:
    """REPLACE COLUMNS drops all columns, and adds new ones that may have the old names."""
    lineage = compose([FILLED, altered("s", changed=(ColumnChange(""),))])
    assert (columns_of(lineage), edges_of(lineage, "t")) == (["s"], set())


@pytest.mark.parametrize("is_first", [True, False])
def test_an_alter_beside_an_append_is_told(is_first) -> None:
    """Events have no word for an append."""
    appended = execution(READ, writes("t", *T, table="db.t", mode=Mode.APPEND))
    both = [altered("s", "v", "w"), appended]
    lineage = compose(both if is_first else both[::-1])
    assert [output.mode for output in lineage.outputs] == [Mode.ALTER]


def test_a_retyped_column_has_its_last_type() -> None:
    """The type that a reader finds."""
    lineage = compose([FILLED, execution(typed(changes("t", Mode.ALTER), s="bigint", v="int"))])
    assert lineage.outputs[0].dataset.fields == (Field("s", "bigint"), Field("v", "int"))
    assert edges_of(lineage, "t") == set(T)


@pytest.mark.parametrize(
    ("version", "column"),
    [
        ("0", "s"),
        ("1", "z"),
    ],
)
def test_a_former_version_has_its_former_columns(version: str, column: str) -> None:
    """In Delta a change of columns is a version."""
    filled = execution(READ, writes("t", *T, table="db.t", version="0"))
    reading = execution(reads("t", column, version=version), writes("o", edge(f"t.{column}", "o")))
    lineage = compose([filled, altered("z", "v", changed=RENAMED, version="1"), reading])
    assert edges_of(lineage, "o") == {edge("a.x", "o")}
    assert lineage.gaps == ()


def test_a_change_of_columns_without_a_version_is_of_the_last_version() -> None:
    """Iceberg's reader names the last snapshot, and has the table's present columns."""
    filled = execution(READ, writes("t", *T, table="db.t", version="77"))
    reading = execution(reads("t", "z", version="77"), writes("o", edge("t.z", "o")))
    lineage = compose([filled, altered("z", "v", changed=RENAMED), reading])
    assert edges_of(lineage, "o") == {edge("a.x", "o")}
    assert lineage.gaps == ()


def test_a_table_of_before_whose_column_is_renamed_is_read_by_its_new_name() -> None:
    """Nothing of it was written by the task, so its columns start there."""
    reading = execution(reads("t", "z"), writes("o", edge("t.z", "o")))
    lineage = compose([altered("z", "v", changed=(ColumnChange("s", "z"),)), reading])
    assert edges_of(lineage, "o") == {edge("t.z", "o")}
    assert inputs_of(lineage) == ["t"]


def test_a_table_that_existed_without_rows_is_no_source_of_itself() -> None:
    """Its first rows are the task's; the table is older, so that its DROP is reported."""
    filling = execution(READ, writes("t", *T, mode=Mode.CREATE, was_empty=True))
    reading = execution(reads("t", "s"), writes("o", edge("t.s", "o")))
    lineage = compose([filling, reading])
    assert inputs_of(lineage) == ["a"]
    assert edges_of(lineage, "o") == {edge("a.x", "o")}
    assert modes_of(lineage) == {"t": Mode.CREATE, "o": Mode.OVERWRITE}
    assert modes_of(compose([filling, execution(changes("t", Mode.DROP))])) == {"t": Mode.DROP}


def view_of(*edges: Edge, name: str = "v") -> Output:
    """Make a CREATE VIEW."""
    view = writes(name, *edges, mode=Mode.CREATE)
    return replace(view, dataset=replace(view.dataset, identity=replace(view.dataset.identity, type="VIEW")))


def test_a_view_reads_the_rows_that_are_in_its_tables_at_the_end() -> None:
    """A view has no rows: rows that its tables get later, or lose, are those of the view."""
    view = execution(reads("t", "s", "v"), view_of(edge("t.s", "s"), edge("t.v", "v")))
    more = execution(reads("b", "x"), writes("t", edge("b.x", "s"), mode=Mode.APPEND, table="db.t"))
    anew = execution(reads("b", "x"), writes("t", edge("b.x", "s"), edge("b.x", "v"), table="db.t"))
    first, added, replaced = (compose([FILLED, view, *then]) for then in ([], [more], [anew]))
    assert edges_of(first, "v") == {edge("a.x", "s"), edge("a.y", "v")}
    assert edges_of(added, "v") == {edge("a.x", "s"), edge("b.x", "s"), edge("a.y", "v")}
    assert edges_of(replaced, "v") == {edge("b.x", "s"), edge("b.x", "v")}


def test_a_view_of_a_table_that_is_filled_later_has_the_sources_of_its_rows() -> None:
    """The table had no rows when the view was made; it is an input only while it has none."""
    defining = execution(replace(writes("t", mode=Mode.CREATE, table="db.t"), has_rows=False))
    view = execution(reads("t", "s"), view_of(edge("t.s", "s")))
    lineage = compose([defining, view, FILLED])
    assert edges_of(lineage, "v") == {edge("a.x", "s")}
    assert inputs_of(lineage) == ["a"]


def test_a_view_of_a_table_that_is_gone_has_the_sources_of_its_making() -> None:
    """Spark cannot read it any more, nor a view that was dropped itself, which is no output."""
    view = execution(reads("t", "s"), view_of(edge("t.s", "s")))
    gone = compose([FILLED, view, execution(changes("t", Mode.DROP, table="db.t"))])
    assert edges_of(gone, "v") == {edge("a.x", "s")}
    dropped = compose([FILLED, view, execution(replace(view_of(), mode=Mode.DROP))])
    assert [output.dataset.id.name for output in dropped.outputs] == ["/wh/t"]


def test_a_view_reads_the_table_that_has_the_name_at_the_end() -> None:
    """A table that was dropped and made again is another one."""
    view = execution(reads("t", "s"), view_of(edge("t.s", "s")))
    drop = execution(changes("t", Mode.DROP, table="db.t"))
    again = execution(reads("b", "x"), writes("t", edge("b.x", "s"), mode=Mode.CREATE, table="db.t"))
    assert edges_of(compose([FILLED, view, drop, again]), "v") == {edge("b.x", "s")}


def test_a_view_of_an_older_version_reads_that_version() -> None:
    """Later writes change nothing in it."""
    first = execution(READ, writes("t", edge("a.x", "s"), version="1"))
    second = execution(reads("b", "x"), writes("t", edge("b.x", "s"), version="2"))
    old = execution(reads("t", "s", version="1"), view_of(edge("t.s", "s")))
    assert edges_of(compose([first, second, old, second]), "v") == {edge("a.x", "s")}
    before = execution(reads("t", "s", version="0"), view_of(edge("t.s", "s")))
    assert edges_of(compose([first, before]), "v") == {edge("t.s", "s")}
    now = execution(reads("t", "s", version="1"), view_of(edge("t.s", "s")))
    assert edges_of(compose([first, now, second]), "v") == {edge("b.x", "s")}


def test_a_view_of_a_table_without_rows_has_its_columns() -> None:
    """A task that only defines a table and a view of it: the view reads what the table will have."""
    defining = execution(replace(changes("t", Mode.CREATE), dataset=dataset("t", "x", table="db.t")))
    lineage = compose([defining, execution(reads("t", "x"), view_of(edge("t.x", "x")))])
    assert edges_of(lineage, "v") == {edge("t.x", "x")}
    assert inputs_of(lineage) == ["t"]


def with_struct(name: str, *edges: Edge, mode: Mode = Mode.OVERWRITE, **parts: Edge) -> Output:
    """Make a write of a struct column `st`; each part has one edge."""
    inside = {path.replace("_", "."): frozenset({(each, Snapshot())}) for path, each in parts.items()}
    return replace(writes(name, *edges, mode=mode), parts={"st": inside} if parts else {})


ST = edge("a.x", "st"), edge("a.y", "st")
PART = replace(edge("t.st", "o"), part="c.k")


@pytest.mark.parametrize(
    ("steps", "sources"),
    [
        pytest.param([with_struct("t", *ST, n=ST[0], c=ST[1], c_k=ST[1])], {"y"}, id="known"),
        pytest.param([with_struct("t", *ST, n=ST[0], c=ST[1])], {"y"}, id="the field around it"),
        pytest.param([with_struct("t", *ST)], {"x", "y"}, id="unknown"),
        pytest.param(
            [with_struct("t", *ST, n=ST[0], c=ST[1]), with_struct("t", *ST, mode=Mode.APPEND)],
            {"x", "y"},
            id="unknown in some rows",
        ),
        pytest.param(
            [
                with_struct("t", *ST, n=ST[0], c=ST[1]),
                with_struct("t", *ST, mode=Mode.APPEND, n=ST[1], c=ST[0]),
            ],
            {"x", "y"},
            id="other in other rows",
        ),
        pytest.param(
            [with_struct("t", *ST), with_struct("t", *ST, n=ST[0], c=ST[1])], {"y"}, id="overwritten"
        ),
    ],
)
def test_a_field_of_a_struct_that_the_task_wrote_has_the_sources_of_that_field(
    steps: list[Output], sources: set[str]
) -> None:
    """Its other fields are no sources; where the fields of some rows are not known, all of the column is."""
    read = execution(reads("t", "st"), writes("o", PART))
    lineage = compose([*(execution(READ, step) for step in steps), read])
    assert {each.field for each in edges_of(lineage, "o")} == sources
    assert {each.source.name for each in edges_of(lineage, "o")} == {"/wh/a"}


def test_an_alter_forgets_the_fields_inside_its_columns() -> None:
    """It may have renamed a field inside; a renamed column keeps them."""
    known = with_struct("t", *ST, n=ST[0], c=ST[1])
    filled = execution(READ, replace(known, dataset=dataset("t", "st", table="db.t")))
    read = execution(reads("t", "st"), writes("o", PART))
    renamed = altered("z", changed=(ColumnChange("st", "z"),))
    of_z = execution(reads("t", "z"), writes("o", replace(PART, field="z")))
    unsure, sure = compose([filled, altered("st"), read]), compose([filled, renamed, of_z])
    assert {each.field for each in edges_of(unsure, "o")} == {"x", "y"}
    assert {each.field for each in edges_of(sure, "o")} == {"y"}
