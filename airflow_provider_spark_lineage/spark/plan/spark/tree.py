"""Trees of Spark's plan JSON: children, attributes, types. Independent of particular classes."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from airflow_provider_spark_lineage.spark.plan.algebra import Attribute
from airflow_provider_spark_lineage.spark.records.plan_json import is_expression, simple_name

_SIMPLE_TYPES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}

_AMBIGUOUS = re.compile("[:<>`]")

NUMBER = "@"
"""Key of a column's number in a record's plan."""


class PlanColumn(dict[str, Any]):
    """A column of a plan; all expressions that are only this column are one tree."""

    def __init__(self, node: dict[str, Any]) -> None:
        super().__init__(node)
        self.tree = [self]

    @cached_property
    def attribute(self) -> Attribute | None:
        """Return it as an attribute; None if it has no name."""
        return _attribute(self, self)


def expanded(plan: list[Any]) -> list[Any]:
    """Return a record's plan with every column in full: a record has it once, and then only its number.

    Most of a wide plan are columns that pass through its nodes: all of them are the same `PlanColumn`.
    """
    columns: dict[Any, PlanColumn] = {}

    def full(value: Any) -> Any:
        if isinstance(value, list):
            if len(value) == 1 and isinstance(value[0], dict):
                node = full(value[0])
                return node.tree if type(node) is PlanColumn else [node]
            return [full(item) if isinstance(item, (list, dict)) else item for item in value]
        if len(value) == 1 and NUMBER in value:
            return columns[value[NUMBER]]
        node = {
            name: full(item) if isinstance(item, (list, dict)) and name != "dataType" else item
            for name, item in value.items()
        }
        if NUMBER not in node:
            return node
        number = node.pop(NUMBER)
        columns[number] = PlanColumn(node)
        return columns[number]

    return full(plan)  # type: ignore[no-any-return]


def check(tree: list[dict[str, Any]]) -> None:
    """Raise ValueError if the numbers of children do not add up: the list is not a complete tree."""
    open_slots = 1
    for node in tree:
        count = node["num-children"]
        if not open_slots or type(count) is not int or count < 0:
            break
        open_slots += count - 1
    else:
        if not open_slots:
            return
    raise ValueError(f"the nodes below {simple_name(str(tree[0]['class']))} do not fit together")


def trees(value: Any) -> list[list[dict[str, Any]]]:
    """Return every expression tree in a field, however deep Spark nested its sequences."""
    expressions = []
    stack = [value]
    while stack:
        current = stack.pop()
        if column_alone(current) is not None:
            expressions.append(current)
        elif is_expression(current):
            check(current)
            expressions.append(current)
        elif isinstance(current, list):
            stack.extend(reversed(current))
    return expressions


def column_alone(tree: Any) -> PlanColumn | None:
    """Return the column if a value is the tree of a `PlanColumn`; None for any other value."""
    is_alone = isinstance(tree, list) and len(tree) == 1 and type(tree[0]) is PlanColumn
    return tree[0] if is_alone else None


def spans(tree: list[dict[str, Any]], position: int = 0) -> list[tuple[int, int]]:
    """Return where the trees below a node begin and end in a pre-order node list."""
    places = []
    end = position + 1
    for _ in range(tree[position]["num-children"]):
        start, end = end, end_of(tree, end)
        places.append((start, end))
    return places


def children(tree: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the trees below the root of a pre-order node list."""
    return [tree[start:end] for start, end in spans(tree)]


def end_of(tree: list[dict[str, Any]], position: int) -> int:
    """Return the position after the subtree that starts at `position`."""
    open_slots = 1
    while open_slots:
        open_slots += tree[position]["num-children"] - 1
        position += 1
    return position


def attribute_of(tree: list[dict[str, Any]]) -> Attribute | None:
    """Return the column of a named expression; None for an expression without a name."""
    root = tree[0]
    if type(root) is PlanColumn:
        return root.attribute
    # Only an attribute has a type in the JSON; an alias of an attribute has the same type.
    is_renamed = simple_name(root["class"]) == "Alias" and len(tree) == 2 and "dataType" in tree[1]
    return _attribute(root, tree[1] if is_renamed else root)


def _attribute(root: dict[str, Any], typed: dict[str, Any]) -> Attribute | None:
    """Return the column of a node, with the type of another; None if the node has no name."""
    expr_id = root.get("exprId")
    if not isinstance(expr_id, dict) or "name" not in root:
        return None
    return Attribute(int(expr_id["id"]), str(root["name"]), type_name(typed.get("dataType")))


def attributes(value: Any) -> tuple[Attribute, ...]:
    """Return the columns of a sequence of named expressions."""
    return tuple(column for tree in trees(value) if (column := attribute_of(tree)) is not None)


def element(kind: Any) -> Any:
    """Return the type of an array's elements or of a map's values; any other type is unchanged."""
    while isinstance(kind, dict) and kind.get("type") in ("array", "map"):
        kind = kind.get("elementType") or kind.get("valueType")
    return kind


def _member(name: str) -> str:
    """Return the name of a struct's member, in backticks if the type would be ambiguous without them."""
    return f"`{name.replace('`', '``')}`" if _AMBIGUOUS.search(name) else name


def type_name(data_type: Any) -> str:
    """Return Spark's simple string of a data type in Spark's JSON, for example `array<bigint>`."""
    if isinstance(data_type, str):
        return _SIMPLE_TYPES.get(data_type, data_type)
    # A type from a plan's text may have only some of its fields.
    if not isinstance(data_type, dict) or "partial" in data_type:
        return ""
    kind = data_type.get("type")
    if kind == "struct":
        fields = ",".join(
            f"{_member(item['name'])}:{type_name(item['type'])}" for item in data_type["fields"]
        )
        return f"struct<{fields}>"
    if kind == "array":
        return f"array<{type_name(data_type['elementType'])}>"
    if kind == "map":
        return f"map<{type_name(data_type['keyType'])},{type_name(data_type['valueType'])}>"
    if kind == "udt":
        return type_name(data_type.get("sqlType")) or "udt"
    return str(kind or "")
