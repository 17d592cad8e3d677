"""One Spark node with everything that its row in a table needs to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import (
    IDENTITY,
    Attribute,
    Expression,
    Kind,
    Node,
    Plan,
    Transformation,
    union,
)
from airflow_provider_spark_lineage.plan.spark.expressions import read_expression
from airflow_provider_spark_lineage.plan.spark.tree import attribute_of, attributes, trees
from airflow_provider_spark_lineage.records.plan_json import is_tree

Columns = dict[int, tuple[Expression, ...]]


@dataclass(frozen=True)
class Step:
    """A node of the plan JSON on its way into the algebra."""

    name: str
    """Simple class name."""

    label: str
    """Class and position in the plan, for a person."""

    fields: dict[str, Any]
    inputs: tuple[int, ...]
    input_outputs: tuple[tuple[Attribute, ...], ...]
    read_plan: Callable[[list[Any]], Plan]
    put: Callable[[Node], int]
    """Puts a node below this one, for a row that needs more than one; gives its position."""

    target: int
    """How many nodes of this class came before."""

    above: dict[str, Any]
    """The fields of the node that this one is the first input of; empty for the root."""

    root: bool = False
    """Nothing stands above it."""

    def output(self, index: int = 0) -> tuple[Attribute, ...]:
        """Return the columns of one input; none when there is no such input."""
        return self.input_outputs[index] if index < len(self.input_outputs) else ()

    @property
    def all_outputs(self) -> tuple[Attribute, ...]:
        """Return the columns of all inputs."""
        return tuple(column for output in self.input_outputs for column in output)

    def attributes(self, field: str) -> tuple[Attribute, ...]:
        """Return the columns that a field lists."""
        return attributes(self.fields.get(field))

    def read(self, value: Any) -> Expression:
        """Read all expressions in a JSON value as one; none where the value is not there."""
        return union(read_expression(tree, self.read_plan) for tree in trees(value))

    def expression(self, field: str) -> Expression:
        """Read all expressions of a field as one; none where this Spark version does not have it."""
        return self.read(self.fields.get(field))

    def influences(self, kind: Kind, *fields: str) -> tuple[tuple[Kind, Expression], ...]:
        """Read fields whose expressions decide which rows there are."""
        read = ((kind, self.expression(field)) for field in fields)
        return tuple(influence for influence in read if influence[1] != Expression())

    def named(self, field: str) -> tuple[tuple[Attribute, ...], Columns]:
        """Read a sequence of named expressions: the columns they make, and from what.

        A column that only passes through is left out of the second part.
        """
        types = {column.id: column.type for column in self.all_outputs}
        output: list[Attribute] = []
        columns: Columns = {}
        for tree in trees(self.fields.get(field)):
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
    """Return an expression that takes a value from every one of the columns."""
    step = Transformation(Kind.TRANSFORMATION)
    return Expression(tuple((column.id, step) for column in columns))


def same(column: Attribute) -> Expression:
    """Return the expression that is one column as it is."""
    return Expression(((column.id, IDENTITY),))


NodeReader = Callable[[Step], Node]
"""How a node reads; its docstring says it for a person, and `docs/coverage.md` prints it."""
