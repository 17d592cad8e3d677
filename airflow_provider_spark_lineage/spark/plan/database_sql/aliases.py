"""Aliases of SELECT's expressions: a name may be both an alias and a column.

A whole key of ORDER BY is the alias. Elsewhere a name is the column if a table is known to have it. If that
depends on columns that the text does not show, it is neither, and the scope notes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_queries
from airflow_provider_spark_lineage.spark.plan.algebra import Expression
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import QueryScope
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp

Meaning = Callable[[Any], Expression | None]
"""Returns the expression of the alias that a name refers to; None for a column."""


def column(_: Any) -> None:
    """Read every name as a column."""


class Names:
    """The aliases of one SELECT."""

    def __init__(self, select: Any, scope: QueryScope, read: Callable[[Any, Meaning], Expression]) -> None:
        self._scope = scope
        self._read = read
        self._named = {
            item.alias.lower(): (position, item.this)
            for position, item in enumerate(select.expressions)
            if item.args.get("alias")
        }
        self._known: dict[int, Expression] = {}

    def in_order(self, name: Any) -> Expression | None:
        """Read a name that is a whole key of ORDER BY."""
        alias = None if name.table else self._named.get(name.name.lower())
        return None if alias is None else self._expression(*alias)

    def elsewhere(self, behind: int | None = None) -> Meaning:
        """Return the meaning of names in another clause, inside a key of ORDER BY, or inside SELECT.

        `behind` is the position of an expression of SELECT: it can only use the aliases before it.
        """

        def meaning(name: Any) -> Expression | None:
            alias = None if name.table else self._named.get(name.name.lower())
            if alias is None or (behind is not None and alias[0] >= behind):
                return None
            return self._meaning(name, *alias)

        return meaning

    def _meaning(self, name: Any, position: int, expression: Any) -> Expression | None:
        key = name.name.lower()
        if type(expression).__name__ == "Column" and expression.name.lower() == key:
            # For `t.a AS a` both readings are the same column.
            return self._expression(position, expression)
        if self._is_column(key, expression):
            return None
        if all(table.more is None for table in self._scope.tables):
            return self._expression(position, expression)
        self._scope.note(of_queries.COLUMN_OR_ALIAS(name=name.name))
        return Expression()

    def _is_column(self, name: str, expression: Any) -> bool:
        """Return whether one of the tables is known to have a column of this name."""
        return any(name in table.columns for table in self._scope.tables) or any(
            column.name.lower() == name for column in expression.find_all(exp.Column)
        )

    def _expression(self, position: int, expression: Any) -> Expression:
        """Read an expression of SELECT once, although several names may refer to it."""
        if position not in self._known:
            self._known[position] = self._read(expression, self.elsewhere(position))
        return self._known[position]
