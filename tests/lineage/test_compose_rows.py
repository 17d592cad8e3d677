"""Counts of rows that a task read and left, summed over its executions."""

from __future__ import annotations

from dataclasses import replace

from tasks import dataset, edge, execution, place, reads, writes

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Lineage, Mode, Output, Statistics


def test_appended_rows_are_added_and_overwritten_ones_are_not() -> None:
    """An output's count is the number of rows that the task left there."""
    first = execution(writes("b", mode=Mode.CREATE, rows=2))
    assert compose([first, execution(writes("b", mode=Mode.APPEND, rows=3))]).outputs[0].statistics.rows == 5
    assert (
        compose([first, execution(writes("b", mode=Mode.OVERWRITE, rows=3))]).outputs[0].statistics.rows == 3
    )


def test_rows_before_a_partial_overwrite_are_not_counted() -> None:
    """The number of rows it left is unknown; a single partial overwrite, and appends to it, are counted."""
    part = execution(writes("t", rows=3, partial=True))
    more = execution(writes("t", mode=Mode.APPEND, rows=2))
    assert compose([part, more]).outputs[0].statistics.rows == 5
    assert compose([part, part]).outputs[0].statistics.rows is None
    assert compose([more, part, more]).outputs[0].statistics.rows is None


def test_reads_of_the_tasks_own_datasets_are_counted_to_the_last() -> None:
    """The largest counts also where an earlier one had made the dataset an input."""
    creation = execution(Output(dataset("t", "one"), Mode.CREATE, Statistics(rows=1)))
    steps = [
        creation,
        *(execution(reads("t", "one", rows=rows), writes("b", edge("t.one", "x"))) for rows in (2, 7)),
    ]
    assert [(source.dataset.id, source.statistics.rows) for source in compose(steps).inputs] == [
        (place("t"), 7)
    ]


def test_batches_of_one_stream_are_one_read() -> None:
    """Each of them reads other rows; of different streams and of queries the largest read counts."""

    def batch(stream: str, rows: int) -> Lineage:
        return execution(replace(reads("a", rows=rows), stream=stream))

    first, other = [batch("s", 2), batch("s", 3)], [batch("t", 4)]
    assert compose(first).inputs[0].statistics.rows == 5
    assert compose(first + other).inputs[0].statistics.rows == 5
    assert compose([*first, execution(reads("a", rows=9))]).inputs[0].statistics.rows == 9


def test_thousand_appends_are_one_output() -> None:
    """Appends in a loop: one output, counts summed, edges once; their common input is counted once."""
    steps = [
        execution(reads("a", "x", rows=2), writes("log", edge("a.x", "x"), mode=Mode.APPEND, rows=2))
        for _ in range(1000)
    ]
    lineage = compose(steps)
    (output,) = lineage.outputs
    assert output.statistics.rows == 2000
    assert output.edges == (edge("a.x", "x"),)
    assert [source.statistics.rows for source in lineage.inputs] == [2]


def test_sum_of_writes_is_unknown_where_one_of_them_is() -> None:
    """A count of some of the rows would be wrong; an overwrite starts a new count."""
    counted = execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND, rows=2))
    uncounted = execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=Mode.APPEND))
    again = execution(reads("a", "x"), writes("t", edge("a.x", "x"), rows=5))

    def rows(*steps: Lineage) -> int | None:
        (output,) = compose(steps).outputs
        return output.statistics.rows

    assert rows(counted, counted) == 4
    assert rows(counted, uncounted, counted) is None
    assert rows(uncounted, again, counted) == 7


def test_rows_are_unknown_after_some_of_them_were_changed() -> None:
    """UPDATE, DELETE and MERGE rewrite rows that may be counted already."""
    creation = execution(reads("a", "x"), writes("t", edge("a.x", "x"), rows=8))
    changed = writes("t", edge("t.x", "x"), rows=5)
    changed = execution(reads("t", "x"), replace(changed, rewrites=True))
    assert compose([changed]).outputs[0].statistics.rows == 5
    assert compose([creation, changed]).outputs[0].statistics.rows is None
    assert compose([creation, changed, creation]).outputs[0].statistics.rows == 8
