"""The golden text itself, on a lineage made by hand."""

from __future__ import annotations

from dataclasses import replace

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import (
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
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity


def dataset(name: str, **columns: str) -> Dataset:
    fields = tuple(Field(column, kind) for column, kind in columns.items())
    return Dataset(Identity(DatasetId("file", name)), fields)


ORDERS = dataset("/in/orders", customer="string", amount="double")
TOTALS = dataset("/out/totals", customer="string", total="double", one="int")
EDGES = (
    Edge(ORDERS.id, "customer", Kind.GROUP_BY),
    Edge(ORDERS.id, "customer", Kind.IDENTITY, column="customer"),
    Edge(ORDERS.id, "amount", Kind.AGGREGATION, True, "total"),
)
LINEAGE = Lineage(
    inputs=(Input(ORDERS, Statistics(3)),),
    outputs=(Output(TOTALS, Mode.OVERWRITE, Statistics(2, 100, 1), EDGES, (ORDERS.id,)),),
    gaps=(
        Gap(
            "MapInPandas#4",
            Reason(GapKind.CODE_OVER_ROWS, "taken from every input column"),
            TOTALS.id,
            "total",
        ),
    ),
    failures=(Failure("E", "broken\nat line 1", "42000", "execution 2 (command)"),),
)


def test_readable_lineage() -> None:
    """Every part of a lineage has its line: reads, writes, columns, literals, rows, gaps, failures."""
    assert render(LINEAGE).splitlines() == [
        "reads   file /in/orders   customer string, amount double   rows=3",
        "writes  file /out/totals   overwrite   rows=2 bytes=100 files=1",
        "one      <- (no field)",
        "customer <- orders.customer    direct    identity",
        "total    <- orders.amount      direct    aggregation  masking",
        "*        <- orders.customer    indirect  group_by",
        "gap     MapInPandas#4 -> total   taken from every input column",
        "failed  execution 2 (command)   E (SQLSTATE 42000): broken",
    ]


def test_a_gap_of_a_dataset_that_is_not_an_output_names_it() -> None:
    """Several writes may fail in the same way: only their targets differ."""
    failed = [
        Gap("Insert#0", Reason(GapKind.FAILED_WRITE, "the write failed"), dataset(f"/out/{name}").id)
        for name in "ab"
    ]
    assert render(Lineage(gaps=tuple(failed))).splitlines() == [
        "gap     Insert#0 -> file /out/a   the write failed",
        "gap     Insert#0 -> file /out/b   the write failed",
    ]


def test_the_gap_of_a_failed_write_names_a_target_that_another_write_reached() -> None:
    """A task may write a dataset and fail to write it again: the gap is about one of its outputs."""
    gap = Gap(
        "Insert#0",
        Reason(GapKind.FAILED_WRITE, "the write failed; earlier rows may have been removed"),
        dataset("/out/totals").id,
    )
    (line,) = render(replace(LINEAGE, gaps=(gap,), failures=())).splitlines()[-1:]
    assert line.startswith("gap     Insert#0 -> file /out/totals   the write failed")


def test_one_column_shows_its_edges_and_those_of_all_rows() -> None:
    """Asked for one column, the text is about nothing else."""
    assert render(LINEAGE, "total").splitlines() == [
        "total <- orders.amount      direct    aggregation  masking",
        "*     <- orders.customer    indirect  group_by",
    ]


def test_nothing_is_an_empty_text() -> None:
    """A lineage of nothing has no lines."""
    assert render(Lineage()) == ""
