"""Plans of a size and depth that no person writes and a program does: nothing recurses or multiplies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from gap_kinds import gap_kinds
from spark_trees import Tree, alias, call, column, equal, node, project, record, scan, subquery

from airflow_provider_spark_lineage.spark.lineage.columns import MAX_OPAQUE_EDGES
from airflow_provider_spark_lineage.spark.lineage.model import Edge, Kind, Lineage
from airflow_provider_spark_lineage.spark.records.record import Record, write_record
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

INNER = {"object": "org.apache.spark.sql.catalyst.plans.Inner$"}


def lineage_of(execution: Record) -> Lineage:
    return execution_lineage(execution).lineage


def edges_of(lineage: Lineage, name: str) -> set[tuple[str, Kind]]:
    (output,) = lineage.outputs
    return {(edge.field, edge.kind) for edge in output.edges if edge.column == name}


def everywhere(folder: Path, execution: Record) -> tuple[Lineage, str, str]:
    """Take a record through every stage: the file, composition, text, facets and events."""
    write_record(folder, execution)
    recorded = RecordedFolder(folder)
    events = recorded.events(namespace="tests", job="hostile", dataset_edges_per_field=True)
    return recorded.lineage, recorded.text(), json.dumps(events)


def test_5000_columns(tmp_path: Path) -> None:
    """Every one of them has its edge, through every stage."""
    tree = scan(*[column(f"c{number}", number) for number in range(1, 5001)])
    columns = [alias(f"d{n}", 10_000 + n, call("Add", column("", n), column("", n))) for n in range(1, 5001)]
    lineage, text, events = everywhere(tmp_path, record(project(tree, *columns)))
    assert edges_of(lineage, "d5000") == {("c5000", Kind.TRANSFORMATION)}
    assert len(lineage.outputs[0].edges) == 5000
    assert "d4999" in text
    assert '"d4999"' in events


def test_500_joins_of_one_table() -> None:
    """One dataset that is read 500 times is one input, and each of its columns still finds its way."""
    tree = scan(column("k", 1), column("v", 2))
    for number in range(1, 500):
        first = 1000 * number
        tree = node(
            "Join",
            tree,
            scan(column("k", first), column("v", first + 1)),
            joinType=INNER,
            condition=equal(first - 1000 if number > 1 else 1, first),
        )
    last = project(tree, alias("x", 7, column("v", 499_001)))
    places = [(1000 * number or 1, "file:/in") for number in range(500)]
    lineage = lineage_of(record(last, *places))
    assert [source.dataset.id.name for source in lineage.inputs] == ["/in"]
    assert edges_of(lineage, "x") == {("v", Kind.IDENTITY)}
    assert edges_of(lineage, "") == {("k", Kind.JOIN)}


def test_3000_nested_calls(tmp_path: Path) -> None:
    """Neither reading nor any later stage uses recursion for depth."""
    tree = column("a", 1)
    for _ in range(3000):
        tree = call("UnaryMinus", tree)
    lineage, text, _ = everywhere(tmp_path, record(project(scan(column("a", 1)), alias("x", 2, tree))))
    assert edges_of(lineage, "x") == {("a", Kind.TRANSFORMATION)}
    assert not lineage.gaps
    assert text


def test_5000_times_with_column(tmp_path: Path) -> None:
    """Each step computes a column from the column of the step before."""
    tree = scan(column("a", 1))
    for number in range(2, 5002):
        tree = project(tree, column("a", 1), alias("x", number, call("Add", column("x", number - 1))))
    lineage, _, _ = everywhere(tmp_path, record(tree))
    assert edges_of(lineage, "x") == {("a", Kind.TRANSFORMATION)}
    assert not lineage.gaps


def test_union_of_1000_tables() -> None:
    """A column comes from its column of every branch."""
    branches = [scan(*[column(f"c{i}", 100 * n + i) for i in range(1, 21)]) for n in range(1000)]
    places = [(100 * n + 1, f"file:/in/{n}") for n in range(1000)]
    lineage = lineage_of(record(node("Union", *branches), *places))
    assert len([edge for edge in lineage.outputs[0].edges if edge.column == "c7"]) == 1000
    assert len(lineage.inputs) == 1000


def test_definitions_that_double_at_each_level() -> None:
    """40 CTEs, each reading the one before twice: the table at the bottom counts once, as does its gap."""
    definitions = [node("CTERelationDef", node("FutureNode", scan(column("a", 1))), id=0)]
    for level in range(1, 40):
        below = [
            node("CTERelationRef", cteId=level - 1, output=[column("a", 10 * level + i)]) for i in (1, 2)
        ]
        definitions.append(node("CTERelationDef", node("Union", *below), id=level))
    top = node("CTERelationRef", cteId=39, output=[column("a", 999)])
    lineage = lineage_of(record(node("WithCTE", *definitions, top, plan=40)))
    assert edges_of(lineage, "a") == {("a", Kind.IDENTITY)}
    assert ["FutureNode" in gap.where for gap in lineage.gaps] == [True]


def coalesced(inner: Tree) -> Tree:
    """An expression that tests its subquery and gives it: two uses."""
    value = call("Coalesce", subquery(inner), column("a", 1))
    return project(scan(column("a", 1)), alias("x", 2, value))


def exploded(inner: Tree) -> Tree:
    """A generator gives values and decides how many rows there are: two uses."""
    generator = call("Explode", subquery(inner))
    generated = node("Generate", scan(column("a", 1)), generator=generator, generatorOutput=[column("x", 2)])
    return project(generated, column("x", 2))


@pytest.mark.parametrize("around", [coalesced, exploded])
def test_subqueries_nested_50_deep(around: Callable[[Tree], Tree]) -> None:
    """Each level uses the one below twice, and is read and evaluated once."""
    tree = scan(column("a", 1))
    for _ in range(50):
        tree = around(tree)
    lineage = lineage_of(record(tree))
    assert "a" in {edge.field for edge in lineage.outputs[0].edges}
    assert not lineage.gaps


def test_subqueries_deeper_than_python_s_stack_are_a_gap() -> None:
    """Spark itself gives up long before that; the result is a lineage with a gap."""
    tree = scan(column("a", 1))
    for _ in range(2000):
        tree = project(scan(column("a", 1)), alias("x", 2, subquery(tree)))
    assert gap_kinds(lineage_of(record(tree))) == ["unread_plan"]


def test_unknown_class_of_3000_columns() -> None:
    """Each column that it names is read once, not once for every other."""
    columns = [alias(f"d{n}", 10_000 + n, column("", n)) for n in range(1, 3001)]
    future = node("FutureNode", scan(*[column(f"c{n}", n) for n in range(1, 3001)]), made=columns)
    lineage = lineage_of(record(future))
    assert edges_of(lineage, "d17") == {("c17", Kind.IDENTITY)}
    assert "FutureNode" in lineage.gaps[0].where


def test_opaque_code_over_5000_columns() -> None:
    """25 million edges fit into no event: they act on the output as a whole, with a gap."""
    columns = [column(f"c{n}", n) for n in range(1, 5001)]
    generated = [column(f"d{n}", 10_000 + n) for n in range(1, 5001)]
    lineage = lineage_of(record(node("MapInPandas", scan(*columns), output=generated)))
    (output,) = lineage.outputs
    assert Edge(lineage.inputs[0].dataset.id, "c5000", Kind.TRANSFORMATION) in output.edges
    assert len(output.edges) < MAX_OPAQUE_EDGES
    assert gap_kinds(lineage) == ["code_over_rows"]


def test_1000_files_read_by_list(tmp_path: Path) -> None:
    """They are one dataset, their folder, and the files that were read are kept."""
    execution = record(scan(column("a", 1)))
    paths = [f"file:/in/{number:04}.parquet" for number in range(1000)]
    execution.facts[0]["probed"]["paths"] = paths
    lineage, _, _ = everywhere(tmp_path, execution)
    (read,) = lineage.inputs
    assert read.dataset.id.name == "/in"
    assert list(read.dataset.identity.locations) == paths


def test_plan_that_was_too_large_says_so() -> None:
    """The optimized plan was read instead: lineage of that, and the reason among the gaps."""
    problem = "the analyzed plan has 100000000 bytes, larger than the limit of 50000000"
    execution = replace(record(scan(column("a", 1))), plan_kind="optimized", problems=[problem])
    lineage = lineage_of(execution)
    assert edges_of(lineage, "a") == {("a", Kind.IDENTITY)}
    assert gap_kinds(lineage) == ["not_recorded"]


def test_no_plan_at_all_says_so() -> None:
    """Neither plan was small enough."""
    execution = replace(record([]), plan_kind="none", plan=[], problems=["the plan was not read"])
    assert gap_kinds(lineage_of(execution)) == ["not_recorded"]
