"""Columns of files that one task writes and reads: by their names in any case, and in CSV by position."""

from __future__ import annotations

from typing import Any

import pytest
from tasks import edge, edges_of, execution, place, reads, writes

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Field, Input, Mode, Output
from airflow_provider_spark_lineage.spark.sources.dataset import Identity


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


@pytest.mark.parametrize(
    ("read", "source"),
    [
        (("_c0", "_c1"), "y"),
        (("k", "v"), "y"),
        # The header is not used if the reader has a schema, so names that are in both mean nothing.
        (("x", "y"), "y"),
        (("Y", "X"), "y"),
        (("y", "x", "_corrupt_record"), "y"),
        (("_corrupt_record", "k", "v"), "y"),
    ],
)
def test_csv_is_read_back_by_position(read: tuple[str, ...], source: str) -> None:
    """The reader's columns are those that were written, in their order, whatever their names are."""
    steps = [execution(reads("a", "x", "y"), _csv_of_a("y", "x"))]
    first = next(name for name in read if name != "_corrupt_record")
    by_position = execution(Input(_csv(*read)), writes("b", edge(f"c.{first}", "z")))
    assert edges_of(compose([*steps, by_position]), "b") == {edge(f"a.{source}", "z")}
    other_width = execution(Input(_csv("_c0")), writes("b", edge("c._c0", "z")))
    assert compose([*steps, other_width]).gaps


def test_partition_columns_of_csv_are_read_after_the_others() -> None:
    """They are in the names of folders, so the other columns have the first positions."""
    steps = [execution(reads("a", "x", "y"), _csv_of_a("x", "y", partitioned_by=("X",)))]
    for name, source in (("k", "y"), ("x", "x")):
        read = execution(Input(_csv("k", "x")), writes("b", edge(f"c.{name}", "z")))
        assert edges_of(compose([*steps, read]), "b") == {edge(f"a.{source}", "z")}


def test_csv_that_is_appended_is_read_by_the_names_that_were_there_before() -> None:
    """Its columns have the positions of the earlier ones, under which no reader sees its own names."""
    edges = (edge("d.x", "x"), edge("d.q", "q"))
    more = Output(_csv("x", "q"), Mode.APPEND, edges=edges, inputs=(place("d"),))
    steps = [execution(reads("a", "x", "y"), _csv_of_a("y", "x")), execution(reads("d", "x", "q"), more)]
    for name, sources in (("k", ("a.y", "d.x")), ("v", ("a.x", "d.q"))):
        read = execution(Input(_csv("k", "v")), writes("b", edge(f"c.{name}", "z")))
        assert edges_of(compose([*steps, read]), "b") == {edge(source, "z") for source in sources}


def test_a_column_that_is_added_to_partitioned_csv_comes_before_the_partitions() -> None:
    """Partition columns have no position in files: each is matched by its name."""
    edges = (edge("d.x", "x"), edge("d.n", "n"), edge("d.day", "y"))
    more = {"edges": edges, "inputs": (place("d"),), "partitioned_by": ("y",)}
    steps = [
        execution(reads("a", "x", "y"), _csv_of_a("x", "y", partitioned_by=("y",))),
        execution(reads("d", "x", "n", "day"), Output(_csv("x", "n", "y"), Mode.APPEND, **more)),
    ]
    for name, sources in (("x", {"a.x", "d.x"}), ("n", {"d.n"}), ("y", {"a.y", "d.day"})):
        read = execution(Input(_csv("x", "n", "y")), writes("b", edge(f"c.{name}", "z")))
        assert edges_of(compose([*steps, read]), "b") == {edge(source, "z") for source in sources}


def test_columns_of_several_reads_of_csv_have_no_positions() -> None:
    """An event log has the columns of each scan: those of two scans together are in no order of the file."""
    both = _csv("y").merged(_csv("x"))
    read = execution(Input(both), writes("b", edge("c.x", "z")))
    steps = [execution(reads("a", "x", "y"), _csv_of_a("x", "y")), read]
    assert edges_of(compose(steps), "b") == {edge("a.x", "z")}


def test_a_session_that_distinguishes_case_has_columns_that_differ_in_nothing_else() -> None:
    """A write of two such columns shows it."""
    identity = Identity(place("c"), file_format="parquet")

    def written(source: str, mode: Mode, *names: str) -> Any:
        columns = Dataset(identity, tuple(Field(name, "int") for name in names))
        edges = tuple(edge(f"{source}.{name}", name) for name in names)
        return execution(reads(source, *names), Output(columns, mode, edges=edges, inputs=(place(source),)))

    steps = [written("a", Mode.CREATE, "x"), written("d", Mode.APPEND, "x", "X")]
    columns = Dataset(identity, (Field("x", "int"), Field("X", "int")))
    for name, sources in (("x", {"a.x", "d.x"}), ("X", {"d.X"})):
        read = execution(Input(columns), writes("b", edge(f"c.{name}", "z")))
        assert edges_of(compose([*steps, read]), "b") == {edge(source, "z") for source in sources}


@pytest.mark.parametrize(("file_format", "found"), [("parquet", {"a.x", "d.x"}), ("json", {"a.x"})])
def test_appended_columns_are_found_without_regard_to_case(file_format: str, found: set[str]) -> None:
    """A reader has the names in one of the files; only the parser of JSON distinguishes case."""
    identity = Identity(place("c"), file_format=file_format)
    written = [
        execution(
            reads(source, "x"),
            Output(
                Dataset(identity, (Field(name, "int"),)),
                mode,
                edges=(edge(f"{source}.x", name),),
                inputs=(place(source),),
            ),
        )
        for source, name, mode in (("a", "id", Mode.CREATE), ("d", "ID", Mode.APPEND))
    ]
    read = execution(Input(Dataset(identity, (Field("id", "int"),))), writes("b", edge("c.id", "z")))
    assert edges_of(compose([*written, read]), "b") == {edge(source, "z") for source in found}


def _csv(*columns: str) -> Dataset:
    identity = Identity(place("c"), file_format="csv")
    return Dataset(identity, tuple(Field(column, "int") for column in columns))


def _csv_of_a(*columns: str, **more: Any) -> Output:
    edges = (edge("a.x", "x"), edge("a.y", "y"))
    return Output(_csv(*columns), Mode.CREATE, edges=edges, inputs=(place("a"),), **more)
