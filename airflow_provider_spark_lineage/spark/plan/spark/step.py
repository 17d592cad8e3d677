"""One Spark node with the context that its row in a table needs to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.spark.plan.algebra import (
    Attribute,
    Expression,
    Kind,
    Node,
    Plan,
    Transformation,
    union,
)
from airflow_provider_spark_lineage.spark.plan.spark.expressions import read_expression
from airflow_provider_spark_lineage.spark.plan.spark.tree import attribute_of, attributes, column_alone, trees
from airflow_provider_spark_lineage.spark.records.plan_json import is_tree

Columns = dict[int, tuple[Expression, ...]]


@dataclass(frozen=True)
class Step:
    """A node of the plan JSON that is being read into the algebra."""

    name: str
    """Simple class name."""

    label: str
    """Class and position in the plan, for a person."""

    fields: dict[str, Any]
    inputs: tuple[int, ...]
    input_outputs: tuple[tuple[Attribute, ...], ...]
    read_plan: Callable[[list[Any]], Plan]
    put: Callable[[Node], int]
    """Adds a node below this node, for a row that needs several nodes; returns its position."""

    target: int
    """Number of earlier nodes of this class."""

    above: dict[str, Any]
    """The fields of the node above, if this is its first input; empty for the root."""

    is_root: bool = False
    """It is the root of its plan."""

    def output(self, index: int = 0) -> tuple[Attribute, ...]:
        """Return the columns of one input; empty without such an input."""
        return self.input_outputs[index] if index < len(self.input_outputs) else ()

    @property
    def all_outputs(self) -> tuple[Attribute, ...]:
        """Return the columns of all inputs."""
        return tuple(column for output in self.input_outputs for column in output)

    def attributes(self, field: str) -> tuple[Attribute, ...]:
        """Return the columns that a field lists."""
        return attributes(self.fields.get(field))

    def read(self, value: Any) -> Expression:
        """Read all expressions in a JSON value as one; an empty expression without a value."""
        return union(read_expression(tree, self.read_plan) for tree in trees(value))

    def expression(self, field: str) -> Expression:
        """Read all expressions of a field as one; an empty expression if this Spark lacks the field."""
        return self.read(self.fields.get(field))

    def influences(self, kind: Kind, *fields: str) -> tuple[tuple[Kind, Expression], ...]:
        """Read fields whose expressions decide the rows."""
        read = ((kind, self.expression(field)) for field in fields)
        return tuple(influence for influence in read if influence[1] != Expression())

    def named(self, field: str) -> tuple[tuple[Attribute, ...], Columns]:
        """Read a sequence of named expressions; return the columns, and the expressions that compute them.

        A column that only passes through has no expression.
        """
        types = {column.id: column.type for column in self.all_outputs}
        output: list[Attribute] = []
        columns: Columns = {}
        for tree in trees(self.fields.get(field)):
            alone = column_alone(tree)
            passed = alone.attribute if alone is not None else None
            if passed is not None and passed.id in types:
                output.append(passed)
                continue
            # A subquery may return a column of the query around it.
            outer: Any = tree[0].get("e") if tree else None
            column = attribute_of(outer if is_tree(outer) else tree)
            if column is None:
                continue
            output.append(column)
            if len(tree) > 1 or column.id not in types:
                columns[column.id] = (read_expression(tree, self.read_plan),)
        return tuple(output), columns


def everything(columns: tuple[Attribute, ...]) -> Expression:
    """Return an expression that uses every column as a value."""
    step = Transformation(Kind.TRANSFORMATION)
    return Expression(tuple((column.id, step) for column in columns))


NodeReader = Callable[[Step], Node]
"""Reads a node; `docs/coverage.md` prints its docstring."""
