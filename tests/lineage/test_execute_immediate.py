"""EXECUTE IMMEDIATE and VALUES: Spark replaces variables by values, so that a plan has no variable."""

from __future__ import annotations

import pytest
from spark_trees import Tree, alias, call, column, node, project, record, scan

from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions

ONE = node("OneRowRelation")
PARAMETER = call("Literal", dataType="double", immediate="parameter")
TEXT = call("Literal", dataType="double", immediate="text")
VARIABLE = "variable_value"
"""Kind of the gap of a value that may be that of a variable."""


def assigned(query: Tree, variable: str = "lim") -> Record:
    """Return SET VAR; a query begins with a scan of `/in`."""
    target = call("VariableReference", originalNameParts=["session", variable])
    whole = record(query)
    plan = node("SetVariable", query, targetVariables=[target])
    return record([], plan=plan, facts=whole.facts[:-1])


SET = assigned(project(scan(column("b", 1)), alias("m", 5, call("Max", column("b", 1)))))


def gaps(*records: Record) -> list[tuple[str, str]]:
    """Return the column and the kind of each gap of the last execution, which has one output."""
    *_, last = executions(records)
    (output,) = last.lineage.outputs
    assert {gap.output for gap in last.lineage.gaps} <= {output.dataset.id}
    return [(gap.column, gap.kind.value) for gap in last.lineage.gaps]


def test_a_column_of_a_parameter_has_a_gap() -> None:
    """The plan has the value alone; columns that do not use it have none."""
    query = project(ONE, alias("m", 8, PARAMETER), alias("one", 9, call("Literal", dataType="long")))
    assert gaps(SET, record(query)) == [("m", VARIABLE)]


def test_rows_that_a_parameter_chooses_have_a_gap() -> None:
    """A filter is about all columns."""
    rows = node("Filter", scan(column("y", 1)), condition=call("LessThan", column("y", 1), PARAMETER))
    assert gaps(SET, record(rows)) == [("", VARIABLE)]


@pytest.mark.parametrize("literal", [PARAMETER, TEXT])
def test_without_a_variable_from_data_a_literal_is_a_literal(literal: Tree) -> None:
    """Neither `using 3.5 as m` nor a variable that was set to a constant leaves a gap."""
    constant = assigned(project(ONE, alias("m", 5, call("Literal", dataType="long"))))
    query = record(project(ONE, alias("m", 8, literal)))
    assert gaps(query) == gaps(constant, query) == []


def test_a_text_may_be_built_from_variables() -> None:
    """`execute immediate 'select ' || lim`: one gap, whatever the number of its literals."""
    query = project(ONE, *(alias(f"c{number}", 10 + number, TEXT) for number in range(3)))
    assert gaps(SET, record(query)) == [("", VARIABLE)]


def test_listed_rows_are_evaluated_before_they_are_recorded() -> None:
    """`insert into t values (:m)` has no expression in its plan."""
    rows = node("LocalRelation", output=[column("m", 8)], immediate="parameter")
    assert gaps(SET, record(rows)) == [("m", VARIABLE)]


def test_a_variable_that_such_a_query_sets_hands_the_gap_on() -> None:
    """`execute immediate ... into res using lim`, and then `select res`."""
    value = call("Multiply", call("Max", column("y", 1)), PARAMETER)
    into = assigned(project(scan(column("y", 1)), alias("r", 6, value)), "res")
    used = call("VariableReference", originalNameParts=["session", "res"])
    assert gaps(SET, into, record(project(ONE, alias("m", 8, used)))) == [("", VARIABLE)]


@pytest.mark.parametrize(
    ("statement", "has_gap"),
    [("insert into t values (Lim, 1)", True), ("insert into t values (1, 1)", False), ("", True)],
)
def test_listed_rows_may_have_values_of_variables(statement: str, has_gap: bool) -> None:
    """The statement tells whether it uses a variable; without its text, that is unknown."""
    rows = record(node("LocalRelation", output=[column("m", 8)]), sql=statement)
    rows.facts.append({"node": "LocalRelation", "expr_id": 8, "probed": {"in_sql": True}})
    assert gaps(SET, rows) == [("m", VARIABLE)] * has_gap
    assert gaps(rows) == []
