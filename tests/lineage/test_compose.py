"""Queries and writes of one task as one lineage: columns traced, edges and failures kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tasks import dataset, edge, edges_of, execution, inputs_of, modes_of, place, reads, writes

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.compose import Composer, compose
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Failure,
    Field,
    Gap,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
    Snapshot,
    Statistics,
)
from airflow_provider_spark_lineage.spark.sources.dataset import Identity


def test_column_is_traced_through_the_tasks_own_datasets() -> None:
    """A dataset written and read back is not an input; its columns lead to the task's real inputs."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("m", edge("a.x", "y", Kind.TRANSFORMATION))),
            execution(reads("m", "y"), writes("b", edge("m.y", "z", Kind.AGGREGATION))),
        ]
    )
    assert inputs_of(lineage) == ["a"]
    assert edges_of(lineage, "b") == {edge("a.x", "z", Kind.AGGREGATION)}


def test_field_of_a_struct_is_traced_through_the_tasks_own_datasets() -> None:
    """A part of a column that was copied is that part of the source; of one that was computed, all of it."""
    copied, computed = edge("in.a", "s"), edge("in.b", "t", Kind.TRANSFORMATION)
    first = execution(reads("in", "a", "b"), writes("mid", copied, computed))
    parts = (replace(edge("mid.s", "x"), part="city"), replace(edge("mid.t", "y"), part="city"))
    second = execution(reads("mid", "s", "t"), writes("out", *parts))
    assert edges_of(compose([first, second]), "out") == {
        replace(edge("in.a", "x"), part="city"),
        edge("in.b", "y", Kind.TRANSFORMATION),
    }


def test_row_influences_of_an_intermediate_reach_its_copies() -> None:
    """A filter before the intermediate still decides which rows there are after it."""
    lineage = compose(
        [
            execution(reads("a", "x", "f"), writes("m", edge("a.x", "x"), edge("a.f", kind=Kind.FILTER))),
            execution(reads("m", "x"), writes("b", edge("m.x", "x"))),
        ]
    )
    assert edges_of(lineage, "b") == {edge("a.x", "x"), edge("a.f", kind=Kind.FILTER)}


def test_column_of_an_intermediate_that_is_not_its_source_s_is_a_gap() -> None:
    """A column read back but never written has a gap, and no guess is made."""
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


def test_append_keeps_the_rows_from_before_the_task() -> None:
    """Data from before the append are read with it: the dataset is an input, both ways are edges."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("log", edge("a.x", "x"), mode=Mode.APPEND)),
            execution(reads("log", "x"), writes("b", edge("log.x", "x"))),
        ]
    )
    assert inputs_of(lineage) == ["a", "log"]
    assert edges_of(lineage, "b") == {edge("a.x", "x"), edge("log.x", "x")}


def test_append_to_a_dataset_of_the_task_adds_to_it() -> None:
    """A dataset that the task created holds only the task's own rows."""
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
    """The output, as a later reader, has the edges of the last one."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("m", edge("a.x", "x"))),
            execution(reads("c", "x"), writes("m", edge("c.x", "x"))),
            execution(reads("m", "x"), writes("b", edge("m.x", "x"))),
        ]
    )
    assert edges_of(lineage, "m") == {edge("c.x", "x")}
    assert edges_of(lineage, "b") == {edge("c.x", "x")}


def test_former_version_holds_its_former_rows() -> None:
    """Each version that the task made can be read after the next one, and become the last by a RESTORE."""
    writing = [
        execution(reads("a", "x"), writes("t", edge("a.x", "x"), version="0")),
        execution(reads("c", "x"), writes("t", edge("c.x", "x"), mode=Mode.APPEND, version="1")),
        execution(reads("d", "x"), writes("t", edge("d.x", "x"), version="2")),
    ]
    for version, sources in {"0": "a", "1": "ac", "2": "d"}.items():
        reading = execution(reads("t", "x", version=version), writes("b", edge("t.x", "x")))
        assert edges_of(compose([*writing, reading]), "b") == {edge(f"{source}.x", "x") for source in sources}
        restoring = execution(reads("t", "x", version=version), writes("t", edge("t.x", "x"), version="3"))
        reading = execution(reads("t", "x", version="3"), writes("b", edge("t.x", "x")))
        restored = compose([*writing, restoring, reading])
        assert edges_of(restored, "b") == {edge(f"{source}.x", "x") for source in sources}


def test_two_versions_in_one_query_are_traced_apart() -> None:
    """Each side of the join has the rows of its own version."""
    old, new = edge("t.x", "old"), edge("t.x", "new")
    snapshots = {edge_: Snapshot(version=version) for edge_, version in ((old, "0"), (new, "1"))}
    joined = writes(
        "b",
        old,
        new,
        origins=frozenset(snapshots.items()),
        snapshots=frozenset((place("t"), snapshot) for snapshot in snapshots.values()),
    )
    lineage = compose(
        [
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), version="0")),
            execution(reads("c", "x"), writes("t", edge("c.x", "x"), version="1")),
            execution(reads("t", "x"), joined),
        ]
    )
    assert edges_of(lineage, "b") == {edge("a.x", "old"), edge("c.x", "new")}


@pytest.mark.parametrize("mode", [Mode.APPEND, Mode.OVERWRITE])
def test_version_from_before_the_task_is_from_outside(mode: Mode) -> None:
    """A later write of the task is not in it."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=mode, version="6")),
            execution(reads("t", "x", version="5"), writes("b", edge("t.x", "x"))),
        ]
    )
    assert edges_of(lineage, "b") == {edge("t.x", "x")}
    assert inputs_of(lineage) == ["a", "t"]


@pytest.mark.parametrize(("is_chosen", "sources"), [(True, {"t.x"}), (False, {"a.x"})])
@pytest.mark.parametrize("version", ["5", "7"])
def test_a_snapshot_of_iceberg_is_from_outside_if_the_query_chose_it(version, is_chosen, sources) -> None:
    """Its number says nothing: one that the task did not write and nobody chose has the current rows."""
    written, read = writes("t", edge("a.x", "x"), version="6"), reads("t", "x", version=version)

    def of_iceberg(part, **more):
        identity = replace(part.dataset.identity, storage_layer="iceberg", **more)
        return replace(part, dataset=replace(part.dataset, identity=identity))

    lineage = compose(
        [
            execution(reads("a", "x"), of_iceberg(written)),
            execution(of_iceberg(read, is_chosen=is_chosen), writes("b", edge("t.x", "x"))),
        ]
    )
    assert edges_of(lineage, "b") == {edge(source, "x") for source in sources}


def test_a_chosen_snapshot_may_be_the_one_of_a_write_whose_snapshot_is_unknown() -> None:
    """Write, audit, publish: a staged snapshot is not in the table's history, and is read by its number."""

    def of_iceberg(part, **more):
        identity = replace(part.dataset.identity, storage_layer="iceberg", **more)
        return replace(part, dataset=replace(part.dataset, identity=identity))

    lineage = compose(
        [
            execution(reads("a", "x"), of_iceberg(writes("t", edge("a.x", "x")))),
            execution(
                of_iceberg(reads("t", "x", version="5"), is_chosen=True), writes("b", edge("t.x", "x"))
            ),
        ]
    )
    assert edges_of(lineage, "b") == {edge("a.x", "x")}


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


def test_self_overwrite_comes_from_itself() -> None:
    """Source and target are one dataset, at two moments."""
    lineage = compose([execution(reads("a", "x"), writes("a", edge("a.x", "x", Kind.TRANSFORMATION)))])
    assert inputs_of(lineage) == ["a"]
    assert edges_of(lineage, "a") == {edge("a.x", "x", Kind.TRANSFORMATION)}


def test_second_self_overwrite_composes_with_the_first() -> None:
    """The second one reads the result of the first one, which is not another input."""
    once = execution(reads("a", "x", rows=1), writes("a", edge("a.x", "x", Kind.TRANSFORMATION)))
    lineage = compose([once, once])
    assert edges_of(lineage, "a") == {edge("a.x", "x", Kind.TRANSFORMATION)}
    assert lineage.inputs[0].statistics == Statistics(1)


def test_two_copies_are_two_edges() -> None:
    """Edges go from each input to its own output: a to b and c to d, not all to all."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("b", edge("a.x", "x"))),
            execution(reads("c", "x"), writes("d", edge("c.x", "x"))),
        ]
    )
    assert {(output.dataset.id, output.inputs) for output in lineage.outputs} == {
        (place("b"), (place("a"),)),
        (place("d"), (place("c"),)),
    }


def test_created_stays_created() -> None:
    """A dataset that the task created and then overwrote was not there before."""
    lineage = compose([execution(writes("b", mode=Mode.CREATE)), execution(writes("b", mode=Mode.OVERWRITE))])
    assert lineage.outputs[0].mode is Mode.CREATE


def test_column_born_in_the_task_is_traced_to_where_it_was_born() -> None:
    """A literal that went through a dataset of the task comes from that dataset, which is an input then."""
    created = Output(dataset("m", "one"), Mode.CREATE)
    lineage = compose([execution(created), execution(reads("m", "one"), writes("b", edge("m.one", "x")))])
    assert inputs_of(lineage) == ["m"]
    assert edges_of(lineage, "b") == {edge("m.one", "x")}


def test_failures_and_gaps_are_kept() -> None:
    """Failures and gaps of any execution belong to the task."""
    failure, gap = Failure("E", "broken"), Gap("x", Reason(GapKind.UNKNOWN, "reason"))
    lineage = compose([execution(failures=(failure,), gaps=(gap,)), execution(gaps=(gap,))])
    assert lineage.failures == (failure,)
    assert lineage.gaps == (gap,)


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
    inputs = {source.dataset.id for source in lineage.inputs}
    assert {each.source for output in lineage.outputs for each in output.edges} <= inputs


@given(st.lists(copies, max_size=6))
def test_asking_on_the_way_changes_nothing(executions: list[Lineage]) -> None:
    """`lineage()` is the lineage so far, however often somebody asks."""
    composer = Composer()
    for each in executions:
        composer.add(each)
        assert composer.lineage() == composer.lineage()
    assert composer.lineage() == compose(executions)


def test_failure_in_the_middle_leaves_completed_writes() -> None:
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


FAILED_GAP = Gap(
    "Insert#0",
    Reason(GapKind.FAILED_WRITE, "the write failed; earlier rows may have been removed"),
    place("t"),
)
FAILED = execution(reads("a", "x"), failures=(Failure("E", "broken"),), gaps=(FAILED_GAP,))
RETRIED = execution(reads("a", "x"), writes("t", edge("a.x", "x")))


@pytest.mark.parametrize(
    ("later", "gaps"),
    [
        ([], (FAILED_GAP,)),
        ([RETRIED], ()),
        ([RETRIED, FAILED], (FAILED_GAP,)),
        ([execution(reads("t", "x"), writes("o", edge("t.x", "x"))), RETRIED], (FAILED_GAP,)),
        ([execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND))], (FAILED_GAP,)),
        ([execution(reads("a", "x"), writes("t", edge("a.x", "x"), partial=True))], (FAILED_GAP,)),
        ([execution(reads("a", "x"), writes("u", edge("a.x", "x")))], (FAILED_GAP,)),
    ],
)
def test_a_complete_overwrite_ends_the_gap_of_a_failed_write(
    later: list[Lineage], gaps: tuple[Gap, ...]
) -> None:
    """The rows that the failed write left or removed are not there anyway, unless they were read before."""
    lineage = compose([FAILED, *later])
    assert lineage.gaps == gaps
    assert lineage.failures


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
