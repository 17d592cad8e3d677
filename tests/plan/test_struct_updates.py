"""Structs whose fields are set or dropped: a field that was removed or replaced is not a source."""

from __future__ import annotations

from typing import Any

import pytest
from scan_columns import name_of

from airflow_provider_spark_lineage.spark.lineage.columns import evaluate
from airflow_provider_spark_lineage.spark.plan.spark.expressions import read_expression
from airflow_provider_spark_lineage.spark.plan.spark.reader import read_plan
from tests.spark_trees import Tree, alias, call, column, project, scan

K, L, V, W = column("k", 1), column("l", 2), column("v", 3), column("w", 4)
LITERAL = call("Literal", dataType="long")
STRUCT = call("CreateNamedStruct", LITERAL, K, LITERAL, L)
NULLABLE = call("If", call("IsNotNull", V), STRUCT, LITERAL)


def struct_type(*names: str, **inside: Any) -> dict[str, Any]:
    fields = [{"name": name, "type": inside.get(name, "long"), "nullable": True} for name in names]
    return {"type": "struct", "fields": fields}


def struct(expr_id: int, *names: str, **inside: Any) -> Tree:
    (attribute,) = column("s", expr_id)
    return [{**attribute, "dataType": struct_type(*names, **inside)}]


def _named(operation: Tree, name: str) -> Tree:
    return [{**operation[0], "name": name}, *operation[1:]]


def drop(name: str) -> Tree:
    return _named(call("DropField"), name)


def put(name: str, value: Tree) -> Tree:
    return _named(call("WithField", value), name)


def update(base: Tree, *operations: Tree, fields: str = "") -> Tree:
    """Return an update; `fields` are the names of a struct that is not a column, as a record has them."""
    return call("UpdateFields", base, *operations, **({"fields": fields.split()} if fields else {}))


def field(base: Tree, ordinal: int) -> Tree:
    return call("GetStructField", base, ordinal=ordinal)


def sources(value: Tree, struct_of: Tree = STRUCT) -> set[tuple[str, bool]]:
    """Return the columns that a value depends on, each with whether its value flows.

    The column `s` (9) of the value's input is the given struct.
    """
    below = project(scan(K, L, V, W), alias("s", 9, struct_of), K, L, V, W)
    ((_, result),) = evaluate(read_plan(project(below, alias("r", 10, value)))).output
    return {(name_of(origin), path.kind.is_direct) for origin, path in result.whole}


S = struct(9, "k", "l")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (update(S, drop("k")), {"l"}),
        (update(S, drop("K")), {"l"}),
        (update(STRUCT, drop("k"), fields="k l"), {"l"}),
        (update(S, put("k", W)), {"l", "w"}),
        (update(S, put("k", field(S, 1))), {"l"}),
        (update(S, put("k", LITERAL), drop("l")), set()),
        (update(S, put("m", W)), {"k", "l", "w"}),
        (update(S, put("m", W), drop("m"), drop("k")), {"l"}),
        (update(update(update(S, put("m", W)), drop("k")), put("m", V)), {"l", "v"}),
        (update(S, drop("other")), {"k", "l"}),
        (call("StructsToJson", update(S, drop("k"))), {"l"}),
        (field(update(S, put("k", W)), 0), {"w"}),
    ],
)
def test_a_field_that_was_removed_or_replaced_is_no_source(value: Tree, expected: set[str]) -> None:
    """Operations apply in their order, in one update or in a chain of updates."""
    assert {name for name, _ in sources(value)} == expected


def test_an_update_inside_a_struct_keeps_the_rest() -> None:
    """`dropFields("s.k")` sets a field to an update of itself."""
    inner = struct_type("k", "l")
    outer = struct(9, "s", "v", s=inner)
    value = update(outer, put("s", update(field(outer, 0), drop("k"))))
    assert {name for name, _ in sources(value, call("CreateNamedStruct", LITERAL, STRUCT, LITERAL, V))} == {
        "l",
        "v",
    }


def test_an_update_inside_a_struct_that_was_updated_before_keeps_the_rest() -> None:
    """`dropFields("v", "s.k")` updates a field of the struct that the first update made."""
    first = update(struct(9, "s", "v", s=struct_type("k", "l")), drop("v"))
    value = update(first, put("s", update(field(first, 0), drop("k"), fields="k l")))
    base = call("CreateNamedStruct", LITERAL, STRUCT, LITERAL, V)
    assert {name for name, _ in sources(value, base)} == {"l"}
    assert {name for name, _ in sources(field(field(value, 0), 0), base)} == {"l"}


def test_a_struct_without_known_fields_is_used_as_a_whole() -> None:
    """An edge too many is better than a missing one: a record of an older release has no names."""
    assert {name for name, _ in sources(update(STRUCT, drop("k")))} == {"k", "l"}
    assert {name for name, _ in sources(update(call("Udf", K, L), drop("k"), fields="k l"))} == {"k", "l"}


def test_an_update_of_a_null_struct_is_null() -> None:
    """Each new field depends on the choice of the struct, not on the fields of the struct."""
    new = update(S, put("k", LITERAL), drop("l"))
    assert sources(new, NULLABLE) == {("v", False)}
    assert sources(update(NULLABLE, put("k", LITERAL), drop("l"), fields="k l")) == {("v", False)}


def test_a_column_of_a_dataset_is_used_by_the_fields_that_stay() -> None:
    """The edge names the field; a new field depends on whether the struct is null, too."""
    column_of_dataset = struct(1, "k", "l")

    def origins(value: Tree) -> set[tuple[tuple[str, ...], bool]]:
        ((_, result),) = evaluate(
            read_plan(project(scan(column_of_dataset, W), alias("r", 10, value)))
        ).output
        return {(origin[2], path.kind.is_direct) for origin, path in result.whole if origin[1] == 1}

    assert origins(update(column_of_dataset, drop("k"))) == {(("l",), True)}
    assert origins(update(column_of_dataset, put("k", W))) == {(("l",), True), ((), False)}


def test_structs_in_an_array_are_updated_one_by_one() -> None:
    """A lambda's variable is a struct whose fields are told apart."""
    variable: Tree = [{**struct(20, "k", "l")[0], "class": call("NamedLambdaVariable")[0]["class"]}]
    lambda_ = call("LambdaFunction", update(variable, drop("k")), variable)
    value = call("ArrayTransform", call("CreateArray", STRUCT), lambda_)
    expression = read_expression(value, lambda plan: NotImplemented)
    assert {key for key, _ in expression.uses} == {2}


@pytest.mark.parametrize(("test", "expected"), [(S, {"v"}), (NULLABLE, {"v"}), (STRUCT, set())])
def test_whether_a_struct_is_null_does_not_depend_on_its_fields(test: Tree, expected: set[str]) -> None:
    """`s is null` depends on what chose the struct."""
    assert {name for name, _ in sources(call("IsNull", test), NULLABLE)} == expected


def test_a_long_chain_of_updates_is_read_once() -> None:
    """A loop over `withField` is a chain of hundreds; each level must not read the levels below again."""
    value = S
    for number in range(300):
        value = update(value, put(f"f{number % 3}", W))
    assert {name for name, _ in sources(value)} == {"k", "l", "w"}
