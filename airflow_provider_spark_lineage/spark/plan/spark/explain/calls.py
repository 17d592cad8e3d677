"""Conversion of function calls: the class over its arguments, and the type of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import EXPRESSION, MARK
from airflow_provider_spark_lineage.spark.plan.spark.explain.functions import (
    AGGREGATES,
    CLASSES,
    REPLACED,
    call,
    result_type,
    type_of_function,
)
from airflow_provider_spark_lineage.spark.plan.spark.lambdas import ACCUMULATOR, FUNCTIONS, INDEX
from airflow_provider_spark_lineage.spark.plan.spark.struct_updates import FIELDS
from airflow_provider_spark_lineage.spark.plan.spark.structs import UPDATE
from airflow_provider_spark_lineage.spark.plan.spark.tree import element
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, simple_name


@dataclass
class ReadExpression:
    """An expression that was read."""

    tree: Tree
    kind: types.Type
    end: int
    """Position after it."""

    is_column: bool = False
    """It is an unchanged column, and has the column's name."""

    is_literal: bool = False
    """It is a literal."""


def called(
    name: str, values: list[ReadExpression], texts: list[str], lambdas: list[ReadExpression], end: int
) -> ReadExpression:
    """Return the call of a function; `texts` is Spark's text of each value, `end` the position after it.

    `lambdas` are the values that are lambdas.
    """
    trees, kinds = [value.tree for value in values], [value.kind for value in values]
    class_name = CLASSES.get(name, "")
    if name == "outer" and len(trees) == 1 and values[0].is_column:
        tree = call("OuterReference", [])
        tree[0]["e"] = trees[0]
        return replace(values[0], tree=tree, end=end)
    result: tuple[Tree, types.Type] | None = None
    if class_name in FUNCTIONS:
        result = _higher_order(class_name, values, lambdas)
    elif class_name == "CreateNamedStruct":
        result = _struct(values, texts)
    elif name == "arrays_zip":
        result = _zipped(values, texts)
    elif name in REPLACED and len(trees) >= REPLACED[name][0]:
        result = REPLACED[name][1](trees), types.common(kinds)
    elif name.lower() in _OPERATIONS:
        result = _operation(name.lower(), values, texts)
    elif name == "update_fields":
        result = _updated(values)
    else:
        tree = call(class_name or "Function", trees)
        result = (
            call("AggregateExpression", [tree]) if name in AGGREGATES else tree,
            result_type(class_name, kinds),
        )
    tree, kind = result or (call("Function", trees), types.closed())
    return ReadExpression(tree, kind, end)


def over_window(value: ReadExpression, specification: ReadExpression) -> ReadExpression:
    """Return a function over a window."""
    specification.tree[0]["class"] = EXPRESSION + "WindowSpecDefinition"
    # Over a window, a Python function is an aggregate.
    function = call("AggregateExpression", [value.tree]) if _is(value.tree, "PythonUDF") else value.tree
    tree = call("WindowExpression", [function, specification.tree])
    return ReadExpression(tree, value.kind, specification.end)


def filtered(value: ReadExpression, condition: ReadExpression, end: int) -> ReadExpression:
    """Return an aggregate of the rows that meet a condition."""
    of_aggregate = value.tree[1:] if _is(value.tree, "AggregateExpression") else value.tree
    tree = call("AggregateExpression", [of_aggregate, condition.tree])
    return ReadExpression(tree, value.kind, end)


def _is(tree: Tree, name: str) -> bool:
    return bool(tree[0]["class"] == EXPRESSION + name)


def _struct(values: list[ReadExpression], texts: list[str]) -> tuple[Tree, types.Type] | None:
    """Return a struct from alternating names and values."""
    # A field may be named after its expression: `count(1)`.
    if len(values) % 2 or any(MARK.search(name) for name in texts[::2]):
        return None
    fields = [
        {"name": name, "type": value.kind} for name, value in zip(texts[::2], values[1::2], strict=True)
    ]
    return call("CreateNamedStruct", [value.tree for value in values]), {"type": "struct", "fields": fields}


_OPERATIONS = {"dropfield": ("DropField", 1), "withfield": ("WithField", 2)}
"""Function in lower case -> its class, and the number of its arguments: a name, and the new value if any."""


def _operation(name: str, values: list[ReadExpression], texts: list[str]) -> tuple[Tree, types.Type] | None:
    """Return an operation of `update_fields`."""
    class_name, arity = _OPERATIONS[name]
    if len(values) != arity:
        return None
    tree = call(class_name, [value.tree for value in values[1:]])
    tree[0]["name"] = texts[0]
    return tree, values[-1].kind


def _updated(values: list[ReadExpression]) -> tuple[Tree, types.Type] | None:
    """Return an `update_fields`: its struct, and operations on the struct's fields."""
    names = {class_name for class_name, _ in _OPERATIONS.values()}
    struct, *operations = values
    if not all(simple_name(value.tree[0]["class"]) in names for value in operations):
        return None
    tree = call(UPDATE, [value.tree for value in values])
    kind = struct.kind
    if not isinstance(kind, dict) or kind.get("type") != "struct" or not types.is_known(kind):
        return tree, types.closed()
    tree[0][FIELDS] = types.field_names(kind)
    fields = {field["name"].lower(): field for field in kind["fields"]}
    for value in operations:
        name = str(value.tree[0]["name"])
        if len(value.tree) > 1:
            fields[name.lower()] = {"name": name, "type": value.kind}
        else:
            fields.pop(name.lower(), None)
    return tree, {"type": "struct", "fields": [*fields.values()]}


def _zipped(values: list[ReadExpression], texts: list[str]) -> tuple[Tree, types.Type] | None:
    """Return an `arrays_zip`: Spark prints the names of the fields after the arrays."""
    count = len(values) // 2
    arrays, names = values[:count], values[count:]
    if len(arrays) != len(names) or not all(name.is_literal for name in names):
        return None
    fields = [
        {"name": name, "type": element(array.kind)} for name, array in zip(texts[count:], arrays, strict=True)
    ]
    kind = {"type": "array", "elementType": {"type": "struct", "fields": fields}}
    return call("ArraysZip", [array.tree for array in arrays]), kind


def _higher_order(
    name: str, values: list[ReadExpression], lambdas: list[ReadExpression]
) -> tuple[Tree, types.Type] | None:
    arguments = values[: values.index(lambdas[0])] if lambdas else []
    if len(lambdas) != len(FUNCTIONS[name].variables) or not arguments:
        return None
    tree = call(name, [value.tree for value in (*arguments, *lambdas)])
    return tree, type_of_function(name, arguments[0].kind, lambdas[-1].kind)


def meant(meaning: int, kinds: Sequence[types.Type]) -> types.Type:
    """Return the type of a lambda's variable, from its meaning in `lambdas.FUNCTIONS`."""
    if meaning == INDEX:
        return "int"
    if meaning == ACCUMULATOR:
        return kinds[1] if len(kinds) > 1 else types.whole()
    if meaning < 0 or meaning >= len(kinds):
        return types.whole()
    return result_type("Explode", [kinds[meaning]])
