"""Plans of a Spark that nobody has seen: lineage of the known nodes, and a gap that names the others."""

from __future__ import annotations

import pytest
from spark_trees import PLANS, Tree, alias, call, column, node, project, record, scan, subquery

from airflow_provider_spark_lineage.spark.lineage.model import Kind, Lineage
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage

READ = {("a", Kind.IDENTITY)}


def lineage_of(query: Tree) -> Lineage:
    return execution_lineage(record(query)).lineage


def edges_of(lineage: Lineage, name: str) -> set[tuple[str, Kind]]:
    return {
        (edge.field, edge.kind) for output in lineage.outputs for edge in output.edges if edge.column == name
    }


def gaps_of(lineage: Lineage) -> set[tuple[str, str]]:
    return {(gap.where.partition("#")[0], gap.kind.value) for gap in lineage.gaps}


def test_node_in_the_middle() -> None:
    """Columns that pass through it keep their edges; a gap says that it may do more."""
    lineage = lineage_of(project(node("FutureNode", scan(column("a", 1))), alias("x", 2, column("a", 1))))
    assert edges_of(lineage, "x") == READ
    assert ("FutureNode", "unknown_node") in gaps_of(lineage)


def test_node_that_replaces_its_columns() -> None:
    """Columns that it makes under ids of its own may come from each of its input."""
    future = node("FutureNode", scan(column("a", 1), column("b", 2)), output=[column("x", 3)])
    lineage = lineage_of(project(future, column("x", 3)))
    assert {field for field, _ in edges_of(lineage, "x")} == {"a", "b"}
    assert ("FutureNode", "unknown_node") in gaps_of(lineage)


def test_leaf() -> None:
    """Its rows come from somewhere; the other side of the join keeps its lineage."""
    leaf = node("FutureLeaf", output=[column("b", 2)])
    join = node("Join", scan(column("a", 1)), leaf, joinType={"object": "x.Inner$"})
    lineage = lineage_of(project(join, column("a", 1), column("b", 2)))
    assert edges_of(lineage, "a") == READ
    assert not edges_of(lineage, "b")
    assert ("FutureLeaf", "unknown_node") in gaps_of(lineage)


def test_command() -> None:
    """An unknown command claims no output, and a gap says that it may have had one."""
    execution = record(scan(column("a", 1)))
    execution.plan = [{"class": PLANS + "FutureCommand", "num-children": 0, "query": scan(column("a", 1))}]
    lineage = execution_lineage(execution).lineage
    assert not lineage.outputs
    assert [read.dataset.id.name for read in lineage.inputs] == ["/in"]
    assert ("FutureCommand", "unknown_node") in gaps_of(lineage)


def test_expression() -> None:
    """Whatever it does to its arguments, it is made of them."""
    lineage = lineage_of(project(scan(column("a", 1)), alias("x", 2, call("FutureCall", column("a", 1)))))
    assert edges_of(lineage, "x") == {("a", Kind.TRANSFORMATION)}


def test_expression_with_a_plan_in_a_field_that_nobody_knows() -> None:
    """A subquery by another name: its columns and its filters act on the value."""
    inner = project(node("Filter", scan(column("a", 1)), condition=[column("a", 1)]), column("a", 1))
    future = call("FutureSubquery", futurePlan=inner)
    lineage = lineage_of(project(scan(column("a", 1)), alias("x", 2, future)))
    assert edges_of(lineage, "x") == {("a", Kind.TRANSFORMATION), ("a", Kind.FILTER)}


def test_node_inside_of_a_subquery() -> None:
    """A gap is seen wherever it is."""
    inner = node("FutureNode", scan(column("a", 1)))
    lineage = lineage_of(project(scan(column("a", 1)), alias("x", 2, subquery(inner))))
    assert edges_of(lineage, "x") == READ
    assert ("FutureNode", "unknown_node") in gaps_of(lineage)


def test_attribute_that_nobody_makes() -> None:
    """The column that uses it has no edge from it, and a gap."""
    lineage = lineage_of(
        project(scan(column("a", 1)), alias("x", 2, call("Add", column("a", 1), column("lost", 9))))
    )
    assert edges_of(lineage, "x") == {("a", Kind.TRANSFORMATION)}
    assert ("Project", "broken_plan") in gaps_of(lineage)


def test_relation_that_no_source_can_name() -> None:
    """Nothing is invented: the dataset has no name, and the gap names the relation."""
    execution = record(scan(column("a", 1)))
    execution.facts[0]["probed"] = {}
    lineage = execution_lineage(execution).lineage
    assert not lineage.inputs
    assert not edges_of(lineage, "a")
    assert ("LogicalRelation", "unnamed_dataset") in gaps_of(lineage)


def test_relation_of_an_unknown_provider() -> None:
    """It is named by Spark's own text for it, with a gap."""
    execution = record(scan(column("a", 1)))
    execution.facts[0]["probed"] = {"relation_class": "com.example.FutureRelation"}
    lineage = execution_lineage(execution).lineage
    assert [read.dataset.id.namespace for read in lineage.inputs] == ["FutureRelation"]
    assert ("LogicalRelation", "unknown_source") in gaps_of(lineage)


@pytest.mark.parametrize("name", ["name", "exprId", "dataType", "num-children", "class"])
def test_field_that_is_gone(name: str) -> None:
    """A field that a future version leaves out of an attribute costs no exception."""
    used = column("a", 1)
    del used[0][name]
    lineage = lineage_of(project(scan(column("a", 1)), alias("x", 2, call("Upper", used))))
    assert edges_of(lineage, "x") == {("a", Kind.TRANSFORMATION)} or lineage.gaps
