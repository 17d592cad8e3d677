"""Commands of one task among its queries: tables made, emptied and changed in place, views."""

from __future__ import annotations

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
    named,
    place,
    reads,
    writes,
)

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Field,
    Input,
    Mode,
    Output,
    Statistics,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity


def test_a_name_taken_by_a_new_table_leaves_the_old_place() -> None:
    """`saveAsTable` over an external table makes a managed one of the same name at another place."""
    steps = [execution(writes("out", table="db.t", rows=1)), execution(writes("t", table="db.t", rows=2))]
    links = {output.dataset.id: output.dataset.identity.symlinks for output in compose(steps).outputs}
    assert (links[place("out")], len(links[place("t")])) == ((), 1)


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
