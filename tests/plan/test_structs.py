"""Dependencies of single fields, of structs that functions put into arrays and maps, and take out again."""

from __future__ import annotations

from typing import Any

import pytest
from scan_columns import name_of

from airflow_provider_spark_lineage.spark.lineage.columns import evaluate
from airflow_provider_spark_lineage.spark.plan.spark.expressions import read_expression
from airflow_provider_spark_lineage.spark.plan.spark.reader import read_plan
from tests.spark_trees import Tree, alias, call, column, node, project, scan, subquery

A, B, COUNT = column("a", 1), column("b", 2), column("count", 3)
LITERAL = call("Literal", dataType="long")
STRUCT = call("CreateNamedStruct", LITERAL, A, LITERAL, B)
ARRAY = call("CreateArray", STRUCT)
MAP = call("CreateMap", LITERAL, STRUCT)


def field(struct: Tree, ordinal: int) -> Tree:
    return call("GetStructField", struct, ordinal=ordinal)


def first(array: Tree) -> Tree:
    return call("GetArrayItem", array, LITERAL)


def used(tree: Tree) -> set[tuple[int, str]]:
    """Return the ids of the columns that an expression uses, each with how."""
    expression: Any = read_expression(tree, lambda plan: NotImplemented)
    return {(key, step.kind.subtype) for key, step in expression.uses}


@pytest.mark.parametrize(
    "array",
    [
        call("ArrayAppend", ARRAY, STRUCT),
        call("ArrayCompact", ARRAY),
        call("ArrayInsert", ARRAY, LITERAL, STRUCT),
        call("ArrayPrepend", ARRAY, STRUCT),
        call("ArrayRepeat", STRUCT, LITERAL),
        call("Flatten", call("CreateArray", ARRAY)),
        call("MapValues", MAP),
    ],
)
def test_a_field_of_an_element_is_that_field_alone(array: Tree) -> None:
    """Functions that move whole elements mix none of their fields."""
    assert used(field(first(array), 0)) == {(1, "TRANSFORMATION")}
    assert used(field(first(array), 1)) == {(2, "TRANSFORMATION")}


@pytest.mark.parametrize(
    "struct",
    [
        call("Get", ARRAY, LITERAL),
        call("GetMapValue", call("MapConcat", MAP, MAP), LITERAL),
        call("GetMapValue", call("MapFromArrays", call("CreateArray", LITERAL), ARRAY), LITERAL),
    ],
)
def test_a_field_of_a_value_is_that_field_alone(struct: Tree) -> None:
    """Functions that look a struct up mix none of its fields."""
    assert used(field(struct, 1)) == {(2, "TRANSFORMATION")}


def test_the_choice_of_an_element_acts_on_each_field() -> None:
    """A position or a number of elements is not a field, and each field depends on it."""
    assert {key for key, _ in used(field(first(call("ArrayRepeat", STRUCT, COUNT)), 0))} == {1, 3}
    assert {key for key, _ in used(field(call("Get", ARRAY, COUNT), 0))} == {1, 3}


def test_zipped_arrays_keep_their_elements_apart() -> None:
    """A field of `arrays_zip` has one array's elements; the others decide how many there are."""
    zipped = call("ArraysZip", A, B)
    assert used(field(first(zipped), 1)) == {(2, "TRANSFORMATION"), (1, "CONDITIONAL")}
    assert used(zipped) == {(1, "TRANSFORMATION"), (2, "TRANSFORMATION")}


@pytest.mark.parametrize(
    "struct",
    [STRUCT, call("First", STRUCT), call("Literal", dataType="struct")],
    ids=["as it is", "through an aggregate", "unknown"],
)
def test_a_field_of_a_subquery_is_that_field_alone(struct: Tree) -> None:
    """The subquery's rows decide each of its fields; of a value that shows no fields, the whole is meant."""
    rows = node("Filter", scan(A, B, COUNT), condition=call("IsNotNull", COUNT))
    value = field(subquery(project(rows, alias("s", 9, struct))), 1)
    ((_, found),) = evaluate(read_plan(project(scan(column("z", 8)), alias("v", 10, value)))).output
    assert {name_of(origin) for origin, path in found.whole if not path.kind.is_direct} == {"count"}
    direct = {name_of(origin) for origin, path in found.whole if path.kind.is_direct}
    assert direct == ({"b"} if struct[0]["class"] != LITERAL[0]["class"] else set())
