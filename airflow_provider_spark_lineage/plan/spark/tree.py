"""Reads the shape of Spark's `TreeNode.toJSON`: nodes, attributes, types. Knows no particular class."""

from __future__ import annotations

from functools import cache
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import Attribute

_SIMPLE_TYPES = {
    "long": "bigint",
    "integer": "int",
    "short": "smallint",
    "byte": "tinyint",
}

NUMBER = "@"
"""Key of a column's number in a record's plan."""

_EXPRESSION_PACKAGES = (".expressions.", ".plans.physical.")
"""How rows are partitioned is an expression by its content, and its classes stand among the plans."""

_EXPRESSIONS_ELSEWHERE = frozenset(
    {
        # org.apache.spark.sql.catalyst.analysis, but for those that begin with Unresolved
        "CdcAssertCommitTimestampNotNull",
        "ExpressionWithUnresolvedIdentifier",
        "GetColumnByOrdinal",
        "GetViewColumnByNameAndOrdinal",
        "LazyExpression",
        "MultiAlias",
        "NamedParameter",
        "PosParameter",
        "ResolvedFieldName",
        "ResolvedFieldPosition",
        "ResolvedPartitionSpec",
        "ResolvedStar",
        "SQLFunctionExpression",
        "SQLScalarFunction",
        "TempResolvedColumn",
        # org.apache.spark.sql.catalyst.plans.logical
        "AlterColumnSpec",
        "Assignment",
        "ColumnDefinition",
        "DefaultValueExpression",
        "DeleteAction",
        "GeneratedColumnExpression",
        "InsertAction",
        "InsertReplaceOn",
        "InsertReplaceUsing",
        "InsertReplaceWhere",
        "InsertStarAction",
        "MergeRows$Discard",
        "MergeRows$Keep",
        "MergeRows$Split",
        "OptionList",
        "QualifiedColType",
        "UpdateAction",
        "UpdateStarAction",
        # optimizer, execution, ml, hive
        "CollectFrequentItems",
        "ColumnNodeExpression",
        "ComplexTypedAggregateExpression",
        "HiveGenericUDF",
        "HiveGenericUDTF",
        "HiveSimpleUDF",
        "HiveUDAFFunction",
        "InSubqueryExec",
        "NormalizeNaNAndZero",
        "ScalaAggregator",
        "ScalaUDAF",
        "ScalarCastHelper",
        "ScalarSubquery",
        "ScalarSubqueryReference",
        "SimpleTypedAggregateExpression",
        "SummaryBuilderImpl$MetricsAggregate",
        # Delta Lake, Iceberg
        "CheckDeltaInvariant",
        "CheckOverflowInTableWrite",
        "ConditionalIncrementMetric",
        "DeletedRecordCountsHistogramUtils$DeletedRecordCountsHistogramAgg",
        "DeltaMergeAction",
        "DeltaMergeIntoMatchedDeleteClause",
        "DeltaMergeIntoMatchedUpdateClause",
        "DeltaMergeIntoNotMatchedBySourceDeleteClause",
        "DeltaMergeIntoNotMatchedBySourceUpdateClause",
        "DeltaMergeIntoNotMatchedInsertClause",
        "FileSizeHistogramUtils$FileSizeHistogramAgg",
        "GenerateIdentityValues",
        "IncrementMetric",
        "MaxVariantStats",
        "MinVariantStats",
        "ThetaSketchAgg",
    }
)
"""Simple names of expressions whose package does not tell them from plans."""

_PLANS_ELSEWHERE = frozenset({"PipeOperator"})
"""And of its plan nodes that stand among the expressions."""


def simple_name(class_name: str) -> str:
    """Return a JVM class name without its package and without the `$` of a Scala object."""
    return class_name.rsplit(".", 1)[-1].rstrip("$")


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


def is_tree(value: Any) -> bool:
    """Return whether a JSON value is a tree: a pre-order list of nodes."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "class" in value[0]


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


def is_expression(value: Any) -> bool:
    """Return whether a JSON value is the tree of an expression, not of a plan."""
    return is_tree(value) and names_expression(value[0]["class"])


def is_plan(value: Any) -> bool:
    """Return whether a JSON value is the tree of a whole plan."""
    return is_tree(value) and not names_expression(value[0]["class"])


@cache
def names_expression(class_name: str) -> bool:
    """Return whether a class is one of an expression: by its package, or by its name."""
    name = simple_name(class_name)
    if any(package in class_name for package in _EXPRESSION_PACKAGES):
        return name not in _PLANS_ELSEWHERE
    return name in _EXPRESSIONS_ELSEWHERE


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
