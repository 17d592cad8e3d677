"""Reading plans that no golden case shows: unknown classes, deep trees, odd shapes."""

from __future__ import annotations

import pytest
from scan_columns import name_of
from spark_trees import EXPRESSIONS, Tree, alias, call, column, node, project, scan

from airflow_provider_spark_lineage.spark.lineage.columns import Evaluation, evaluate
from airflow_provider_spark_lineage.spark.plan.algebra import Kind
from airflow_provider_spark_lineage.spark.plan.spark.reader import read_plan


def evaluated(tree: Tree) -> tuple[Evaluation, dict[str, set[tuple[str, Kind]]]]:
    evaluation = evaluate(read_plan(tree))
    return evaluation, {
        output.name: {(name_of(origin), path.kind) for origin, path in value.whole}
        for output, value in evaluation.output
    }


def test_unknown_node_carries_columns_through_and_is_a_gap() -> None:
    """A class of an unknown version must neither cut the lineage nor hide itself."""
    evaluation, edges = evaluated(node("FutureNode", scan(column("a", 1))))
    assert edges == {"a": {("a", Kind.IDENTITY)}}
    assert [gap.label for gap in evaluation.gaps] == ["FutureNode#0"]


def test_unknown_node_s_new_columns_may_come_from_every_column() -> None:
    """The mapping of columns is unknown, so nothing is left out."""
    evaluation, edges = evaluated(
        node("FutureNode", scan(column("a", 1), column("b", 2)), made=[column("c", 3)])
    )
    assert edges["c"] == {("a", Kind.TRANSFORMATION), ("b", Kind.TRANSFORMATION)}
    assert evaluation.gaps


def test_unknown_leaf_is_a_gap() -> None:
    """Rows of an unknown class come from somewhere."""
    evaluation, edges = evaluated(node("FutureLeaf", output=[column("a", 1)]))
    assert edges == {"a": set()}
    assert [gap.reason.kind.value for gap in evaluation.gaps] == ["unknown_node", "broken_plan"]


@pytest.mark.parametrize(("kind", "views"), [("LocalTempView", 0), ("PersistedView", 1)])
def test_persistent_view_is_written_and_a_temporary_one_counts_where_it_is_read(
    kind: str, views: int
) -> None:
    """The catalog keeps a persistent view for others to read."""
    view_type = {"object": f"org.apache.spark.sql.catalyst.analysis.{kind}$"}
    evaluation, _ = evaluated(node("CreateViewCommand", plan=scan(column("a", 1)), viewType=view_type))
    assert len(evaluation.scans) == len(evaluation.writes) == views


def test_unknown_command_is_a_gap() -> None:
    """The effect of a future version's command is not guessed from its name."""
    table = node("ResolvedTable", outputAttributes=[column("a", 1)])
    for tree in (node("AlterTableSetFutureCommand"), node("AlterTableSetFuture", table)):
        evaluation, _ = evaluated(tree)
        assert len(evaluation.commands) == 1
        assert [gap.reason.kind.value for gap in evaluation.gaps] == ["unknown_node"]


def test_unknown_command_with_a_query_is_a_gap() -> None:
    """The query of an unknown command is still read."""
    evaluation, _ = evaluated(node("CreateFutureAsSelect", query=scan(column("a", 1))))
    assert evaluation.scans
    assert evaluation.gaps


def test_functions_outside_of_spark_s_package_of_expressions() -> None:
    """Hive's functions and those defined in SQL decide rows as any others do where they are the condition."""
    for name in ("hive.HiveSimpleUDF", "catalyst.analysis.SQLScalarFunction"):
        function = [{"class": f"org.apache.spark.sql.{name}", "num-children": 1}, *column("a", 1)]
        evaluation, edges = evaluated(
            node("Filter", scan(column("a", 1), column("b", 2)), condition=[function])
        )
        assert edges["b"] == {("b", Kind.IDENTITY)}
        assert {(name_of(origin), path.kind) for origin, path in evaluation.rows} == {("a", Kind.FILTER)}
        assert not evaluation.gaps


def test_python_functions_of_an_optimized_plan() -> None:
    """The optimizer moves each call of a Python function into a column of a node of its own."""
    call_of = [call("PythonUDF", column("a", 1)), call("PythonUDF", column("b", 2))]
    tree = node("ArrowEvalPython", scan(column("a", 1), column("b", 2)), udfs=call_of)
    tree[0]["resultAttrs"] = [column("x", 3), column("y", 4)]
    _, edges = evaluated(tree)
    assert edges["x"] == {("a", Kind.TRANSFORMATION)}
    assert edges["y"] == {("b", Kind.TRANSFORMATION)}
    assert edges["a"] == {("a", Kind.IDENTITY)}


def test_rows_shared_out_among_bins() -> None:
    """BIN BY splits a row by its range of time, and some of its columns with it."""
    table = scan(column("from", 1), column("to", 2), column("amount", 3), column("name", 4))
    tree = node(
        "BinBy",
        table,
        rangeStart=column("from", 1),
        rangeEnd=column("to", 2),
        distributeColumns=[column("amount", 3)],
        scaledDistributeColumns=[column("amount", 5)],
        appendedAttributes=[column("bin_start", 6)],
    )
    evaluation, edges = evaluated(tree)
    span = {("from", Kind.TRANSFORMATION), ("to", Kind.TRANSFORMATION)}
    assert [column.name for column, _ in evaluation.output] == ["from", "to", "amount", "name", "bin_start"]
    assert edges["amount"] == {("amount", Kind.TRANSFORMATION), *span}
    assert edges["name"] == {("name", Kind.IDENTITY)}
    assert edges["bin_start"] == span
    assert {name_of(origin) for origin, _ in evaluation.rows} == {"from", "to"}


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("GlobalLimit", "limitExpr"),
        ("LocalLimit", "limitExpr"),
        ("Tail", "limitExpr"),
        ("Offset", "offsetExpr"),
    ],
)
def test_a_number_of_rows_that_a_variable_gives_decides_the_rows(name: str, field: str) -> None:
    """A query may have set the variable; a literal depends on nothing."""
    variable = call("VariableReference", originalNameParts=["session", "N"])
    table = scan(column("a", 1))
    evaluation, edges = evaluated(node(name, table, **{field: variable}))
    assert edges == {"a": {("a", Kind.IDENTITY)}}
    assert {(name_of(origin), step.kind) for origin, step in evaluation.rows} == {("n", Kind.FILTER)}
    assert not evaluated(node(name, table, **{field: call("Literal")}))[0].rows


def test_unknown_expression_is_a_transformation_of_its_children() -> None:
    """Whatever a function does, its result depends on its arguments."""
    _, edges = evaluated(project(scan(column("a", 1)), alias("x", 2, call("FutureFunction", column("a", 1)))))
    assert edges == {"x": {("a", Kind.TRANSFORMATION)}}


def test_column_that_is_nowhere_is_a_gap() -> None:
    """A torn plan shows where it is torn."""
    evaluation, edges = evaluated(
        project(scan(column("a", 1)), alias("x", 2, call("Add", column("lost", 9))))
    )
    assert edges == {"x": set()}
    assert evaluation.gaps


def test_reference_without_definition_is_a_gap() -> None:
    """A CTE whose definition is not in the plan gives columns of unknown origin."""
    evaluation, _ = evaluated(node("CTERelationRef", cteId=7, output=[column("a", 1)]))
    assert evaluation.gaps


def test_deeply_nested_expression() -> None:
    """3,000 nested function calls are read without recursion."""
    tree = column("a", 1)
    for _ in range(3000):
        tree = [{"class": EXPRESSIONS + "UnaryMinus", "num-children": 1}, *tree]
    _, edges = evaluated(project(scan(column("a", 1)), alias("x", 2, tree)))
    assert edges == {"x": {("a", Kind.TRANSFORMATION)}}


def test_long_chain_of_projections() -> None:
    """1,500 chained `withColumn` are read without recursion, and the first column is still there."""
    tree = scan(column("a", 1))
    for number in range(2, 1502):
        tree = project(
            tree, column("a", 1), alias("x", number, call("Add", column("a", 1), column("x", number - 1)))
        )
    evaluation, edges = evaluated(tree)
    assert edges["a"] == {("a", Kind.IDENTITY)}
    assert edges["x"] == {("a", Kind.TRANSFORMATION)}
    assert len(evaluation.scans) == 1


def test_long_chain_of_unions() -> None:
    """1,000 unions one inside the other give every branch's columns."""
    tree = scan(column("a", 1))
    for number in range(2, 1002):
        tree = node("Union", tree, scan(column(f"a{number}", number)))
    _, edges = evaluated(tree)
    assert len(edges["a"]) == 1001


def test_node_that_nothing_reaches_does_not_count() -> None:
    """A CTE that is defined and never referenced is not an input."""
    definition = node("CTERelationDef", scan(column("a", 1)), id=7)
    tree = node("WithCTE", definition, scan(column("b", 2)), plan=1, cteDefs=[0])
    evaluation, edges = evaluated(tree)
    assert edges == {"b": {("b", Kind.IDENTITY)}}
    assert len(evaluation.scans) == 1


def test_reading_does_not_change_the_plan() -> None:
    """A record may be read again by somebody else."""
    tree = project(scan(column("a", 1)), alias("x", 2, column("a", 1)))
    before = repr(tree)
    read_plan(tree)
    assert repr(tree) == before
