"""Parts of a query while it is read: the nodes of its plan, and the results of its subqueries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.algebra import (
    Attribute,
    Combine,
    Constant,
    Derive,
    Expression,
    Kind,
    Node,
    Plan,
    same,
)

LABEL = "SQL"

_MAX_NODES = 20_000
"""Limit on size: a CTE is read again for each use, so the size can grow exponentially."""

Definitions = Mapping[str, Any]
"""Name -> (CTE, definitions visible inside it), or the recursive CTE that is being read."""

Influences = tuple[tuple[Kind, Expression], ...]


class SqlError(ValueError):
    """A text that cannot be read as a query; the message says why."""


@dataclass
class QueryRows:
    """The rows of a query."""

    node: int
    columns: list[Attribute]
    more: Callable[[str], Attribute | None] | None = None
    """Returns a column of its `*` with unknown columns; None if all columns are listed."""


@dataclass
class Nodes:
    """The nodes of one plan.

    Nodes are created after everything was read, because a table has the columns that the query names.
    """

    ids: Iterator[int]
    _makers: list[Callable[[], Node]] = field(default_factory=list)

    def attribute(self, name: str) -> Attribute:
        """Return a new column."""
        return Attribute(next(self.ids), name)

    def add(self, make: Callable[[], Node]) -> int:
        """Append a node, and return its position."""
        if len(self._makers) >= _MAX_NODES:
            raise SqlError("it is too large")
        self._makers.append(make)
        return len(self._makers) - 1

    def constant(self) -> int:
        """Add the single row of a query without tables."""
        return self.add(lambda: Constant((), (), LABEL))

    def beside(self, left: int | None, right: int) -> int:
        """Return a node with the columns of two nodes, side by side."""
        return right if left is None else self.add(lambda: Derive((left, right), (), LABEL))

    def influenced(self, node: int, influences: Influences) -> int:
        """Append a node with the expressions that filter, join, group or sort the rows of a node."""
        if all(expression == Expression() for _, expression in influences):
            return node
        return self.add(lambda: Derive((node,), (), LABEL, influences=influences))

    def doubtful(self, node: int, reason: Reason | None) -> int:
        """Append a gap to a node, if there is a reason."""
        return self.add(lambda: Derive((node,), (), LABEL, reason=reason)) if reason else node

    def distinct(self, result: QueryRows) -> QueryRows:
        """Compare the rows of a result by all of its columns."""
        # Evaluated after everything was read, because a `*` has only the columns that the query names.
        node = self.add(
            lambda: Derive(
                (result.node,),
                (),
                LABEL,
                influences=tuple((Kind.GROUP_BY, same(column)) for column in result.columns),
            )
        )
        return replace(result, node=node)

    def listed(self, result: QueryRows) -> int:
        """Add a node whose output is exactly the columns of a result."""
        return self.add(lambda: Derive((result.node,), tuple(result.columns), LABEL))

    def below(self, results: Sequence[QueryRows]) -> QueryRows:
        """Append the rows of results that have the same number of columns."""
        if len(results) == 1:
            return results[0]
        columns = [self.attribute(column.name) for column in results[0].columns]
        inputs = tuple(self.listed(result) for result in results)
        return QueryRows(self.add(lambda: Combine(inputs, tuple(columns), LABEL)), columns)

    def plan(self) -> Plan:
        """Return the plan of all nodes."""
        return Plan(tuple(make() for make in self._makers))


def renamed(names: Sequence[str], result: QueryRows) -> list[str]:
    """Return the names of a result's columns after an alias renamed the first of them."""
    if names and result.more is not None:
        raise SqlError("columns of a * are renamed by their position")
    if len(names) > len(result.columns):
        raise SqlError("more columns are renamed than there are")
    return [*names, *(column.name for column in result.columns[len(names) :])]
