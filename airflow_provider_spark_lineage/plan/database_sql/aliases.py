"""Aliases of SELECT's expressions, and the clauses that may use them in each database.

A name may be both an alias and a column. The database's rule decides, or the known columns, or the reading
that the database would not reject. Otherwise it is read as the alias, and the scope notes that this is not
certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import Expression
from airflow_provider_spark_lineage.plan.database_sql.scope import Dialect, Scope

Meaning = tuple[bool, tuple[Expression, ...]]
"""(True for a column, the expressions of the alias)."""

COLUMN: Meaning = (True, ())


class Clause(Enum):
    """A place in a query with its own rule for names."""

    SELECT = "select"
    """An expression of SELECT after the expression with the alias."""

    WHERE = "where"
    GROUP = "group"
    HAVING = "having"
    QUALIFY = "qualify"
    ORDER = "order"
    """A name that is a whole key of ORDER BY; in all databases an alias."""

    SORTED = "sorted"
    """A name inside a key of ORDER BY."""


def _clauses(names: str) -> frozenset[Clause]:
    return frozenset(Clause(name) for name in names.split())


_SPARK = _clauses("select group having qualify sorted")
_WIDE = _clauses("select where group having qualify sorted")
_VISIBLE: Mapping[str, frozenset[Clause]] = {
    "": _clauses("group having sorted"),
    "athena": _clauses("sorted"),
    "bigquery": _clauses("group having qualify sorted"),
    "clickhouse": _WIDE,
    "databricks": _SPARK,
    "duckdb": _WIDE,
    "hive": _clauses("group having sorted"),
    "mysql": _clauses("group having sorted"),
    "oracle": _clauses("group having sorted"),
    "postgres": _clauses("group"),
    "presto": _clauses("sorted"),
    "redshift": _clauses("select group qualify"),
    "singlestore": _clauses("group having sorted"),
    "snowflake": _WIDE,
    "spark": _SPARK,
    "sqlite": _clauses("where group having sorted"),
    "teradata": _WIDE,
    "trino": _clauses("sorted"),
    "tsql": frozenset(),
}
"""Dialect -> clauses that may use aliases, besides whole keys of ORDER BY."""

_EVERY = frozenset(Clause)
_ALIAS_FIRST: Mapping[str, frozenset[Clause]] = {
    # BigQuery rejects a name that is both, unless both are the same expression.
    "bigquery": _EVERY,
    # `prefer_column_name_to_alias` is off.
    "clickhouse": _EVERY,
    **dict.fromkeys(
        ("athena", "databricks", "hive", "mysql", "presto", "singlestore", "spark", "trino"),
        _clauses("order sorted"),
    ),
}
"""Dialect -> clauses where an alias hides a column of the same name; by default only ORDER BY."""

_LOOSE = frozenset({"mysql", "singlestore", "sqlite"})
"""Dialects where SELECT may name columns that are not in GROUP BY, perhaps depending on a setting."""


class Names:
    """The aliases of one SELECT."""

    def __init__(self, select: Any, scope: Scope, dialect: Dialect, read: Callable[..., Expression]) -> None:
        self._scope = scope
        self._dialect = dialect
        self._read = read
        self._named = {
            item.alias.lower(): (position, item.this)
            for position, item in enumerate(select.expressions)
            if item.args.get("alias")
        }
        self._keys: tuple[Any, ...] = ()
        self._known: dict[int, Expression] = {}

    def group_by(self, keys: list[Any]) -> None:
        """Set the keys of GROUP BY, which decide what HAVING may name."""
        self._keys = tuple(keys)

    def meaning_in(self, clause: Clause, position: int | None = None) -> Callable[[Any], Meaning]:
        """Return the function that looks names up in a clause, or in SELECT's expression at a position."""

        def meaning(column: Any) -> Meaning:
            alias = None if column.table else self._named.get(column.name.lower())
            # An expression may use only the aliases before it.
            if alias is None or (position is not None and alias[0] >= position):
                return COLUMN
            return self._meaning(column, clause, *alias)

        return meaning

    def _meaning(self, column: Any, clause: Clause, position: int, expression: Any) -> Meaning:
        """Decide whether a name is a column or the alias."""
        name, dialect = column.name.lower(), self._dialect.name
        alias: Meaning = (False, (self._expression(position, expression),))
        # For `t.a AS a` both readings are the same column, or the database would reject the name.
        renamed = type(expression).__name__ != "Column" or expression.name.lower() != name
        if clause is Clause.ORDER or not renamed:
            return alias
        if clause not in _VISIBLE.get(dialect, _VISIBLE[""]):
            return COLUMN
        if clause in _ALIAS_FIRST.get(dialect, ()):
            return alias
        if self._is_column(name, expression):
            return COLUMN if dialect else (True, alias[1])
        if all(table.more is None for table in self._scope.tables):
            return alias
        return self._inferred(column, clause, expression, alias)

    def _inferred(self, column: Any, clause: Clause, expression: Any, alias: Meaning) -> Meaning:
        """Exclude the reading that the database would reject."""
        from sqlglot import exp

        name = column.name.lower()
        aggregated = expression.find(exp.AggFunc, exp.Window) is not None
        if clause is Clause.GROUP:
            if aggregated:
                return COLUMN
            needed = {needed_column.name.lower() for needed_column in bare_columns(expression)}
            if self._dialect.name not in _LOOSE and needed - self._grouped(besides=name):
                return alias
        if clause is Clause.HAVING and self._dialect.name != "sqlite":
            if isinstance(column.find_ancestor(exp.AggFunc, exp.Having), exp.Having):
                # HAVING may use a column outside aggregates only if it is a key of GROUP BY.
                keyed = any(_is_bare(key, name) for key in self._keys)
                return self._meaning(column, Clause.GROUP, *self._named[name]) if keyed else alias
            if aggregated:
                return COLUMN
        self._scope.note(f"`{column.name}` may be a column or an alias of SELECT")
        return alias

    def _is_column(self, name: str, expression: Any) -> bool:
        """Return whether one of the tables is known to have a column of this name."""
        from sqlglot import exp

        return any(name in table.columns for table in self._scope.tables) or any(
            column.name.lower() == name for column in expression.find_all(exp.Column)
        )

    def _grouped(self, besides: str) -> set[str]:
        """Return the columns in the keys of GROUP BY other than the bare name `besides`."""
        from sqlglot import exp

        return {
            column.name.lower()
            for key in self._keys
            if not _is_bare(key, besides)
            for column in key.find_all(exp.Column)
        }

    def _expression(self, position: int, expression: Any) -> Expression:
        """Read an expression of SELECT once, although several aliases may refer to it."""
        if position not in self._known:
            self._known[position] = self._read(expression, self.meaning_in(Clause.SELECT, position))
        return self._known[position]


def _is_bare(key: Any, name: str) -> bool:
    return type(key).__name__ == "Column" and not key.table and key.name.lower() == name


def bare_columns(expression: Any) -> list[Any]:
    """Return the columns of an expression of SELECT that are outside aggregates."""
    from sqlglot import exp

    query = expression.find_ancestor(exp.Query)
    return [
        column
        for column in expression.find_all(exp.Column)
        if column.find_ancestor(exp.AggFunc, exp.Query) is query
    ]
