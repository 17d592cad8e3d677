"""Dependencies of single fields, of structs that lambdas make of the elements of arrays and maps."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.spark.plan.spark.expressions import read_expression
from tests.spark_trees import Tree, call, column

V, W, KEYS = column("v", 1), column("w", 2), column("keys", 6)
LITERAL = call("Literal", dataType="long")


def typed(tree: Tree, kind: Any) -> Tree:
    return [{**tree[0], "dataType": kind}, *tree[1:]]


def fields(*names: str) -> dict[str, Any]:
    return {"type": "struct", "fields": [{"name": name, "type": "long"} for name in names]}


def variable(expr_id: int, kind: Any = "long") -> Tree:
    return call("NamedLambdaVariable", exprId={"id": expr_id}, dataType=kind)


def built(*values: Tree) -> Tree:
    return call("CreateNamedStruct", *(item for value in values for item in (LITERAL, value)))


def function(body: Tree, *variables: Tree) -> Tree:
    return call("LambdaFunction", body, *variables)


def field(struct: Tree, ordinal: int) -> Tree:
    return call("GetStructField", struct, ordinal=ordinal)


def fields_of_array(array: Tree, ordinal: int) -> Tree:
    return call("GetArrayStructFields", array, ordinal=ordinal)


SO_FAR = variable(10, fields("a", "b"))
ELEMENT, OTHER = variable(11, fields("v", "w")), variable(12, fields("v", "w"))
KEY = variable(13)
LISTED = call("CreateArray", built(V, W))
ARRAY, SECOND = (
    typed(column(name, expr_id), {"type": "array", "elementType": fields("v", "w")})
    for name, expr_id in (("array", 3), ("second", 5))
)


def aggregate(step: Tree, finish: Tree) -> Tree:
    start = built(LITERAL, LITERAL)
    return call("ArrayAggregate", LISTED, start, function(step, SO_FAR, ELEMENT), function(finish, SO_FAR))


def used(tree: Tree) -> set[Any]:
    """Return the ids of the columns that an expression uses, with the name of the field if it has one."""
    expression = read_expression(tree, lambda plan: NotImplemented)
    return {key for key, _ in expression.uses} | {
        (key, path[-1][1]) for key, path, _ in expression.field_uses
    }


def test_end_of_an_aggregate_may_give_its_fields_other_places() -> None:
    """A field of the result is computed by the last lambda, not by the one that had its place before."""
    sums = built(
        call("Add", field(SO_FAR, 0), field(ELEMENT, 0)), call("Add", field(SO_FAR, 1), field(ELEMENT, 1))
    )
    swapped = aggregate(sums, built(field(SO_FAR, 1), field(SO_FAR, 0)))
    assert [used(field(swapped, place)) for place in (0, 1)] == [{2}, {1}]
    assert used(field(aggregate(sums, SO_FAR), 0)) == {1}


def test_steps_of_an_aggregate_hand_fields_on() -> None:
    """A value that one step puts into a field may be in another field after the next step."""
    assert 1 in used(field(aggregate(built(field(SO_FAR, 1), field(ELEMENT, 0)), SO_FAR), 0))


def test_how_many_elements_there_are_decides_about_fields_without_them() -> None:
    """A constant for each element is an array as long as theirs; of two arrays the longer counts."""
    array = call("ArrayTransform", ARRAY, function(built(field(ELEMENT, 0), LITERAL), ELEMENT))
    assert [used(fields_of_array(array, place)) for place in (0, 1)] == [{(3, "v")}, {3}]
    both = function(built(field(ELEMENT, 0), field(OTHER, 1)), ELEMENT, OTHER)
    zipped = call("ZipWith", ARRAY, SECOND, both)
    assert [used(fields_of_array(zipped, place)) for place in (0, 1)] == [{(3, "v"), 5}, {3, (5, "w")}]


def test_filter_may_look_at_another_field_of_the_struct_it_keeps_one_of() -> None:
    """A field is kept without any test of the fields beside it."""
    struct = typed(column("struct", 4), fields("v", "w"))
    test = function(call("GreaterThan", field(struct, 1), LITERAL), variable(14))
    assert used(call("ArrayFilter", call("CreateArray", field(struct, 0)), test)) == {(4, "v"), (4, "w")}


def test_keys_decide_the_value_of_a_lookup() -> None:
    """Those that a lambda makes, and those under which it puts values."""
    constant = call("CreateMap", LITERAL, built(V, W))
    renamed = call("TransformKeys", constant, function(call("Concat", KEY, KEYS), KEY, OTHER))
    assert used(field(call("GetMapValue", renamed, LITERAL), 0)) == {1, 6}
    keyed = call("CreateMap", KEYS, built(V, W))
    marked = call("TransformValues", keyed, function(built(LITERAL, field(OTHER, 0)), KEY, OTHER))
    assert 6 in used(field(call("GetMapValue", marked, LITERAL), 0))
    assert used(field(call("GetMapValue", marked, LITERAL), 1)) == {1, 6}
