"""The cost of a plan grows with its size, not with the square of it, in each dimension."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from types import FrameType
from typing import Any

import pytest
from spark_trees import PLANS, Tree, alias, call, column, node, project, record, scan

from airflow_provider_spark_lineage.spark.lineage.leaves import FactsOfPlan, merged
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Field, Kind
from airflow_provider_spark_lineage.spark.lineage.statistics import scan_statistics
from airflow_provider_spark_lineage.spark.plan.algebra import Attribute, Scan
from airflow_provider_spark_lineage.spark.plan.spark.reader import read_plan
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.sql_literals import without_numbers
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

FACTOR = 16
"""Of the larger input to the smaller: 16 times the cost if it is linear, 256 times if it is quadratic."""

LIMIT = 64


def seconds(work: Callable[[], object]) -> float:
    """Processor time, the least of three: other programs and the garbage collector add to it."""
    times = []
    for _ in range(3):
        began = process_time()
        work()
        times.append(process_time() - began)
    return min(times)


def is_linear(of_size: Callable[[int], Callable[[], object]], size: int) -> bool:
    small = seconds(of_size(size))
    return seconds(of_size(size * FACTOR)) < LIMIT * small


def reading(tree: Tree) -> Callable[[], object]:
    return lambda: read_plan(tree)


def nested_ifs(size: int) -> Callable[[], object]:
    """Each IF is the last child of the one around it."""
    test = [*call("If"), *call("IsNull", column("a", 1)), *column("a", 1)]
    test[0]["num-children"] = 3
    return reading(project(scan(column("a", 1)), alias("x", 2, [*test * size, *column("a", 1)])))


def merges(size: int) -> Callable[[], object]:
    """An INSERT clause without a condition, of a MERGE into a table of many columns."""
    action = f"{PLANS}DeltaMergeAction"
    actions = [
        [{"class": action, "num-children": 1, "targetColNameParts": [f"c{n}"]}, *column(f"s{n}", size + n)]
        for n in range(size)
    ]
    clause = node("DeltaMergeIntoNotMatchedInsertClause", *actions)
    target, source = (scan(*(column(f"c{n}", first + n) for n in range(size))) for first in (0, size))
    return reading(node("MergeIntoCommand", target, source, notMatchedClauses=[clause]))


def views(size: int) -> Callable[[], object]:
    """Reads of one dataset, each of another column."""
    identity = Identity(DatasetId("file", "/in"))
    datasets = [Dataset(identity, (Field(f"c{n}", "int"),)) for n in range(size)]
    return lambda: merged(datasets)


def counted_folders(size: int) -> Callable[[], object]:
    """A physical scan of each of many datasets."""
    identities = [Identity(DatasetId("file", f"/in/{n}")) for n in range(size)]
    metrics = [
        {"node": "Scan parquet", "rows": 1, "location": f"InMemoryFileIndex(1 paths)[file:/in/{n}]"}
        for n in range(size)
    ]
    return lambda: scan_statistics(metrics, identities)


def counted_tables(size: int) -> Callable[[], object]:
    """A physical scan of each of many tables, which has only its name."""
    identities = [Identity(DatasetId("postgres://db", f"sales.public.t{n}")) for n in range(size)]
    named = {f"JDBCRelation(public.t{n})": identity.id for n, identity in enumerate(identities)}
    metrics = [{"node": f"Scan {name}", "rows": 1} for name in named]
    return lambda: scan_statistics(metrics, identities, named)


def listed_rows(size: int) -> Callable[[], object]:
    """A union of frames of the program."""
    probed = {"in_sql": False, "schema": "{}"}
    entries = [{"node": "LocalRelation", "expr_id": n, "probed": probed} for n in range(size)]
    facts = FactsOfPlan(entries, {})
    scans = [Scan((), (Attribute(n, "a"),), "", relation="LocalRelation") for n in range(size)]
    return lambda: [facts.leaf(each) for each in scans]


@pytest.mark.parametrize(
    ("of_size", "size"),
    [
        (nested_ifs, 200),
        (merges, 400),
        (views, 500),
        (counted_folders, 100),
        (counted_tables, 100),
        (listed_rows, 100),
    ],
)
def test_cost_of_a_plan(of_size: Callable[[int], Callable[[], object]], size: int) -> None:
    """Nothing compares each part of a plan with all others."""
    assert is_linear(of_size, size)


@pytest.mark.parametrize(
    "unit",
    [
        "password={",
        "jdbc:oracle:thin:a/b,",
        "s3://host:9/a,",
        "eyJhbGciOiJI-",
        "to x identified ",
        "token 'a' ",
        "aes_encrypt(",
        "-----BEGIN ",
    ],
)
def test_cost_of_a_text(unit: str) -> None:
    """The beginning of a secret without its end is not searched to the end of the text each time."""
    assert is_linear(lambda size: lambda: without_secrets("token @ " + unit * size), 1000)


def test_cost_of_the_numbers_in_a_query() -> None:
    """Only the text behind the last BY is searched for each number."""
    query = "select a from t group by 1, 2 having b in ({})"
    many = query.format(", ".join(["7"] * 20_000))
    few = query.format(", ".join(["7777"] * 20_000))
    assert without_numbers(many) == without_numbers(few)
    # Numbers of more than three digits are no positions.
    assert seconds(lambda: without_numbers(many)) < 8 * seconds(lambda: without_numbers(few))


def calls(work: Callable[[], object]) -> int:
    """Number of calls of Python functions."""
    count = 0

    def counted(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_columns_that_only_pass_through() -> None:
    """A node of a wide plan costs a few calls for each of its columns, which are written once."""

    def through(nodes: int, width: int = 500) -> int:
        again: Tree = [{"@": n} for n in range(width)]
        tree = node("LogicalRelation", output=[[each] for each in again])
        for _ in range(nodes - 1):
            tree = project(tree, *([each] for each in again))
        full = ([{**column(f"c{n}", n)[0], "@": n}] for n in range(width))
        tree = project(tree, *full)
        return calls(lambda: read_plan(tree)) // width

    assert through(nodes=40) - through(nodes=20) <= 20 * 6


def test_a_chain_of_3000_definitions() -> None:
    """Each definition of WITH reads the one before: they are evaluated in their order, without recursion."""
    defined = [node("CTERelationDef", scan(column("a", 1)), id=0)]
    for n in range(1, 3000):
        below = node("CTERelationRef", cteId=n - 1, output=[column("a", 10 + n)])
        defined.append(node("CTERelationDef", below, id=n))
    last = node("CTERelationRef", cteId=2999, output=[column("a", 9)])
    lineage = execution_lineage(record(node("WithCTE", *defined, last, plan=3000))).lineage
    (output,) = lineage.outputs
    assert {(edge.field, edge.kind) for edge in output.edges} == {("a", Kind.IDENTITY)}
    assert not lineage.gaps
