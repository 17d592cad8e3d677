"""Queries and writes of one task as one lineage: columns traced, edges and failures kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tasks import dataset, edge, edges_of, execution, inputs_of, modes_of, place, reads, writes

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.compose import Composer, compose
from airflow_provider_spark_lineage.spark.lineage.model import (
    Failure,
    Gap,
    Kind,
    Lineage,
    Mode,
    Output,
    Statistics,
)


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
