"""Conversion of function calls: the class over its arguments, and the type of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.plan.spark.explain import types
from airflow_provider_spark_lineage.plan.spark.explain.columns import MARK
from airflow_provider_spark_lineage.plan.spark.explain.functions import (
    AGGREGATES,
    CLASSES,
    REPLACED,
    call,
    result_type,
    type_of_function,
)
from airflow_provider_spark_lineage.plan.spark.lambdas import ACCUMULATOR, FUNCTIONS, INDEX
from airflow_provider_spark_lineage.records.plan_json import Tree


@dataclass
class Value:
    """An expression that was read."""

    tree: Tree
    kind: types.Type
    end: int
    """Position after it."""

    named: bool = False
    """It is an unchanged column, and has the column's name."""

    plain: bool = False
    """It is a literal."""


@dataclass
class Arguments:
    """The arguments of a call."""

    values: list[Value]
    lambdas: list[Value]
    """The values that are lambdas."""

    texts: list[str]
    """Spark's text of each value."""

    @property
    def trees(self) -> list[Tree]:
        """Return the trees of all values."""
        return [value.tree for value in self.values]

    @property
    def kinds(self) -> list[types.Type]:
        """Return the types of all values."""
        return [value.kind for value in self.values]


def called(name: str, arguments: Arguments, end: int) -> Value:
    """Return the call of a function; `end` is the position after it."""
    trees, kinds = arguments.trees, arguments.kinds
    class_name = CLASSES.get(name, "")
    if name == "outer" and len(trees) == 1 and arguments.values[0].named:
        tree = call("OuterReference", [])
        tree[0]["e"] = trees[0]
        return replace(arguments.values[0], tree=tree, end=end)
    if class_name in FUNCTIONS:
        return _higher_order(class_name, arguments, end)
    if class_name == "CreateNamedStruct":
        return _struct(arguments, end)
    if name == "arrays_zip":
        return _zipped(arguments, end)
    if name in REPLACED and len(trees) >= REPLACED[name][0]:
        return Value(REPLACED[name][1](trees), types.common(kinds), end)
    if name == "update_fields":
        # The fields of its struct are not in the text.
        return Value(call("Function", trees), types.closed(), end)
    tree = call(class_name or "Function", trees)
    if name in AGGREGATES:
        tree = call("AggregateExpression", [tree])
    return Value(tree, result_type(class_name, kinds), end)


def _struct(arguments: Arguments, end: int) -> Value:
    """Return a struct from alternating names and values."""
    values = arguments.values
    # A field may be named after its expression: `count(1)`.
    if len(values) % 2 or any(MARK.search(name) for name in arguments.texts[::2]):
        return Value(call("Function", arguments.trees), types.closed(), end)
    fields = [
        {"name": name, "type": value.kind}
        for name, value in zip(arguments.texts[::2], values[1::2], strict=True)
    ]
    return Value(call("CreateNamedStruct", arguments.trees), {"type": "struct", "fields": fields}, end)


def _zipped(arguments: Arguments, end: int) -> Value:
    """Return an `arrays_zip`: Spark prints the names of the fields after the arrays."""
    count = len(arguments.values) // 2
    arrays, names = arguments.values[:count], arguments.values[count:]
    if len(arrays) != len(names) or not all(name.plain for name in names):
        return Value(call("Function", arguments.trees), types.closed(), end)
    fields = [
        {"name": name, "type": types.element(array.kind)}
        for name, array in zip(arguments.texts[count:], arrays, strict=True)
    ]
    kind = {"type": "array", "elementType": {"type": "struct", "fields": fields}}
    return Value(call("ArraysZip", [array.tree for array in arrays]), kind, end)


def _higher_order(name: str, arguments: Arguments, end: int) -> Value:
    lambdas = arguments.lambdas
    values = arguments.values[: arguments.values.index(lambdas[0])] if lambdas else []
    if len(lambdas) != len(FUNCTIONS[name].variables) or not values:
        return Value(call("Function", arguments.trees), types.closed(), end)
    tree = call(name, [value.tree for value in (*values, *lambdas)])
    return Value(tree, type_of_function(name, values[0].kind, lambdas[-1].kind), end)


def meant(meaning: int, kinds: Sequence[types.Type]) -> types.Type:
    """Return the type of a lambda's variable, from its meaning in `lambdas.FUNCTIONS`."""
    if meaning == INDEX:
        return "int"
    if meaning == ACCUMULATOR:
        return kinds[1] if len(kinds) > 1 else types.whole()
    if meaning < 0 or meaning >= len(kinds):
        return types.whole()
    return result_type("Explode", [kinds[meaning]])
