"""Reads the trees of Spark's plan JSON: children, attributes, types. Knows no particular class."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.plan.algebra import Attribute
from airflow_provider_spark_lineage.plan_json import is_expression, simple_name

_SIMPLE_TYPES = {
    "long": "bigint",
    "integer": "int",
    "short": "smallint",
    "byte": "tinyint",
}

NUMBER = "@"
"""Key of a column's number in a record's plan."""


def expanded(plan: list[Any]) -> list[Any]:
    """Return a record's plan with every column in full: it is written once, and then by its number alone."""
    columns: dict[Any, Any] = {}

    def full(value: Any) -> Any:
        if isinstance(value, list):
            return [full(one) if isinstance(one, (list, dict)) else one for one in value]
        if len(value) == 1 and NUMBER in value:
            return columns[value[NUMBER]]
        found = {
            name: full(one) if isinstance(one, (list, dict)) and name != "dataType" else one
            for name, one in value.items()
        }
        if NUMBER in found:
            columns[found.pop(NUMBER)] = found
        return found

    return full(plan)  # type: ignore[no-any-return]


def check(tree: list[dict[str, Any]]) -> None:
    """Raise ValueError where the numbers of children do not add up: the list is torn, or never was a tree."""
    left = 1
    for node in tree:
        count = node["num-children"]
        if not left or type(count) is not int or count < 0:
            break
        left += count - 1
    else:
        if not left:
            return
    raise ValueError(f"the nodes below {simple_name(str(tree[0]['class']))} do not fit together")


def trees(value: Any) -> list[list[dict[str, Any]]]:
    """Return every expression tree in a field, however deep Spark nested its sequences."""
    found = []
    stack = [value]
    while stack:
        current = stack.pop()
        if is_expression(current):
            check(current)
            found.append(current)
        elif isinstance(current, list):
            stack.extend(reversed(current))
    return found


def children(tree: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the trees below the root of a pre-order node list."""
    found = []
    start = 1
    for _ in range(tree[0]["num-children"]):
        end = end_of(tree, start)
        found.append(tree[start:end])
        start = end
    return found


def end_of(tree: list[dict[str, Any]], position: int) -> int:
    """Return the position after the subtree that starts at `position`."""
    left = 1
    while left:
        left += tree[position]["num-children"] - 1
        position += 1
    return position


def attribute_of(tree: list[dict[str, Any]]) -> Attribute | None:
    """Return the column that a named expression makes; None for an expression without a name."""
    root = tree[0]
    expr_id = root.get("exprId")
    if not isinstance(expr_id, dict) or "name" not in root:
        return None
    # Only an attribute says its type; an alias of one inherits it.
    typed = root
    if simple_name(root["class"]) == "Alias" and len(tree) == 2 and "dataType" in tree[1]:
        typed = tree[1]
    return Attribute(int(expr_id["id"]), str(root["name"]), type_name(typed.get("dataType")))


def attributes(value: Any) -> tuple[Attribute, ...]:
    """Return the columns of a sequence of named expressions."""
    return tuple(column for tree in trees(value) if (column := attribute_of(tree)) is not None)


def type_name(data_type: Any) -> str:
    """Turn a data type of Spark's JSON into Spark's simple string, for example `array<bigint>`."""
    if isinstance(data_type, str):
        return _SIMPLE_TYPES.get(data_type, data_type)
    if not isinstance(data_type, dict):
        return ""
    kind = data_type.get("type")
    if kind == "struct":
        fields = ",".join(f"{item['name']}:{type_name(item['type'])}" for item in data_type["fields"])
        return f"struct<{fields}>"
    if kind == "array":
        return f"array<{type_name(data_type['elementType'])}>"
    if kind == "map":
        return f"map<{type_name(data_type['keyType'])},{type_name(data_type['valueType'])}>"
    if kind == "udt":
        return type_name(data_type.get("sqlType")) or "udt"
    return str(kind or "")
