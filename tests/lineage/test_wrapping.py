"""A command and the write that Spark runs inside it, as one execution."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tasks import WAREHOUSE, changes, edge, execution, modes_of, place, reads, writes

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.execution import ExecutionLineage
from airflow_provider_spark_lineage.spark.lineage.model import Failure, Gap, Mode
from airflow_provider_spark_lineage.spark.lineage.wrapping import wrapped
from airflow_provider_spark_lineage.spark.sources.dataset import Identity, Symlink


def test_wrapping_command_and_its_write_are_one() -> None:
    """Counts come from the inner write, the table's name and the mode from the command."""
    symlink = Symlink(WAREHOUSE, "db.t")
    inner = ExecutionLineage(execution(reads("a", "x"), writes("t", edge("a.x", "x"), rows=3)), query=(1,))
    outer = ExecutionLineage(
        execution(reads("a", "x")), wraps=True, query=(1,), mode=Mode.CREATE, symlinks=(symlink,)
    )
    (output,) = wrapped(inner, outer).lineage.outputs
    assert (output.mode, output.statistics.rows) == (Mode.CREATE, 3)
    assert output.dataset.identity.symlinks == (symlink,)


@pytest.mark.parametrize(
    ("outer_mode", "inner", "expected"),
    [
        # An append that makes its table overwrites the empty place of the new table.
        (Mode.APPEND, {"mode": Mode.OVERWRITE}, Mode.CREATE),
        (Mode.APPEND, {"mode": Mode.APPEND}, Mode.APPEND),
        (Mode.OVERWRITE, {"mode": Mode.OVERWRITE}, Mode.OVERWRITE),
        (Mode.CREATE, {"mode": Mode.CREATE, "was_empty": True}, Mode.CREATE),
    ],
)
def test_a_command_that_makes_its_table_creates_it(outer_mode, inner, expected) -> None:
    """The table that its write finds empty is its own, so a later DROP in the task leaves nothing."""
    write = ExecutionLineage(execution(reads("a", "x"), writes("t", edge("a.x", "x"), **inner)), query=(1,))
    outer = ExecutionLineage(execution(reads("a", "x")), wraps=True, query=(1,), mode=outer_mode)
    lineage = wrapped(write, outer).lineage
    (output,) = lineage.outputs
    assert (output.mode, output.was_empty) == (expected, False)
    if expected is Mode.CREATE:
        assert modes_of(compose([lineage, execution(changes("t", Mode.DROP))])) == {}


def test_target_of_a_wrapping_command_has_the_name_of_its_table() -> None:
    """The write inside knows only a place; a job that is named by it would be renamed with the place."""
    symlink, inside = Symlink(WAREHOUSE, "db.t"), Identity(place("0e7d1c"))
    inner = ExecutionLineage(execution(), query=(1,), targets=(inside,))
    outer = ExecutionLineage(execution(), wraps=True, query=(1,), symlinks=(symlink,))
    assert wrapped(inner, outer).targets == (replace(inside, symlinks=(symlink,)),)


def test_a_failed_command_has_the_target_of_the_write_inside() -> None:
    """A failed command takes the target of the write inside; a command's own outputs need none."""
    inner = ExecutionLineage(execution(), targets=(Identity(place("t")),))
    failed = ExecutionLineage(execution(failures=(Failure("E", "broken"),)))
    assert wrapped(inner, failed).targets == inner.targets
    created = ExecutionLineage(execution(changes("u", Mode.CREATE)))
    assert wrapped(inner, created).targets == ()


def test_wrapping_command_that_failed_leaves_no_gap_of_its_write() -> None:
    """An inner write with an unknown target is not claimed, and its gaps are dropped."""
    unknown = Gap("AppendData#0", Reason(GapKind.UNNAMED_DATASET, "its location was not recorded"))
    inner = ExecutionLineage(execution(reads("a", "x"), gaps=(unknown,)), query=(1,))
    failed = execution(reads("a", "x"), failures=(Failure("E", "broken"),))
    outer = ExecutionLineage(failed, wraps=True, query=(1,))
    lineage = wrapped(inner, outer).lineage
    assert (lineage.gaps, lineage.failures) == ((), failed.failures)


def test_unrelated_executions_are_not_one() -> None:
    """A command absorbs only the write of its own query."""
    inner = ExecutionLineage(execution(writes("t", edge("a.x", "x"))), query=(1,))
    others = execution(writes("u", edge("a.x", "x")))
    for outer in (
        ExecutionLineage(others, wraps=True, query=(2,)),
        ExecutionLineage(others, wraps=False, query=(1,)),
    ):
        assert wrapped(inner, outer) == outer
