"""What SELECT calls its expressions: in which clauses a database lets these names be used.

A name may then also be a column. Which of both is meant follows from the database's rule, from the
columns that are known, or from what the query would otherwise break; if from none of them, it stands for the
expression, and the scope says that this is not sure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import Expression
from airflow_provider_spark_lineage.plan.sql.scope import Dialect, Scope

Meaning = tuple[bool, tuple[Expression, ...]]
"""What a name stands for: whether for a column, and for which expressions besides."""

COLUMN: Meaning = (True, ())


class Clause(Enum):
    """A place in a query where names are looked up by a rule of its own."""

    SELECT = "select"
    """The expressions behind the one that has the name."""

    WHERE = "where"
    GROUP = "group"
    HAVING = "having"
    QUALIFY = "qualify"
    ORDER = "order"
    """A name that is a whole key; in all databases that of SELECT's list."""

    SORTED = "sorted"
    """A name inside of a key."""


def _clauses(names: str) -> frozenset[Clause]:
    return frozenset(Clause(name) for name in names.split())


_SPARK = _clauses("select group having qualify sorted")
_WIDE = _clauses("select where group having qualify sorted")
_SEEN: Mapping[str, frozenset[Clause]] = {
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
"""Dialect -> where a name of SELECT's list can be used, besides as a whole key of ORDER BY."""

_EVERY = frozenset(Clause)
_WINS: Mapping[str, frozenset[Clause]] = {
    # A name that is both is an error unless both are the same.
    "bigquery": _EVERY,
    # `prefer_column_name_to_alias` is off.
    "clickhouse": _EVERY,
    **dict.fromkeys(
        ("athena", "databricks", "hive", "mysql", "presto", "singlestore", "spark", "trino"),
        _clauses("order sorted"),
    ),
}
"""Dialect -> where a name of SELECT's list goes before a column of that name; all others: in ORDER BY."""

_LOOSE = frozenset({"mysql", "singlestore", "sqlite"})
"""Dialects in which, perhaps by a setting, SELECT may name columns that GROUP BY does not."""


class Names:
    """The names of one SELECT's list."""

    def __init__(self, select: Any, scope: Scope, dialect: Dialect, read: Callable[..., Expression]) -> None:
        self._scope = scope
        self._dialect = dialect
        self._read = read
        self._named = {
            one.alias.lower(): (position, one.this)
            for position, one in enumerate(select.expressions)
            if one.args.get("alias")
        }
        self._keys: tuple[Any, ...] = ()
        self._known: dict[int, Expression] = {}

    def group_by(self, keys: list[Any]) -> None:
        """Tell by what the rows are grouped."""
        self._keys = tuple(keys)

    def seen_by(self, clause: Clause, position: int | None = None) -> Callable[[Any], Meaning]:
        """Return what columns stand for in a clause, or in SELECT's expression at a position."""

        def meaning(column: Any) -> Meaning:
            found = None if column.table else self._named.get(column.name.lower())
            # An expression does not see its own name, nor those behind it.
            if found is None or (position is not None and found[0] >= position):
                return COLUMN
            return self._meaning(column, clause, *found)

        return meaning

    def _meaning(self, column: Any, clause: Clause, position: int, expression: Any) -> Meaning:
        """Decide between a column and the expression that has its name."""
        name, dialect = column.name.lower(), self._dialect.name
        alias: Meaning = (False, (self._expression(position, expression),))
        # A column that is called as it was is the one that is meant, or the query would be ambiguous.
        renamed = type(expression).__name__ != "Column" or expression.name.lower() != name
        if clause is Clause.ORDER or not renamed:
            return alias
        if clause not in _SEEN.get(dialect, _SEEN[""]):
            return COLUMN
        if clause in _WINS.get(dialect, ()):
            return alias
        if self._is_column(name, expression):
            return COLUMN if dialect else (True, alias[1])
        if all(table.more is None for table in self._scope.tables):
            return alias
        return self._inferred(column, clause, expression, alias)

    def _inferred(self, column: Any, clause: Clause, expression: Any, alias: Meaning) -> Meaning:
        """Decide by what the database would not allow."""
        from sqlglot import exp

        name = column.name.lower()
        aggregated = expression.find(exp.AggFunc, exp.Window) is not None
        if clause is Clause.GROUP:
            if aggregated:
                return COLUMN
            needed = {one.name.lower() for one in bare_columns(expression)}
            if self._dialect.name not in _LOOSE and needed - self._grouped(besides=name):
                return alias
        if clause is Clause.HAVING and self._dialect.name != "sqlite":
            if isinstance(column.find_ancestor(exp.AggFunc, exp.Having), exp.Having):
                # A column that is tested outside of aggregates is one of those that are grouped by.
                keyed = any(_is_bare(key, name) for key in self._keys)
                return self._meaning(column, Clause.GROUP, *self._named[name]) if keyed else alias
            if aggregated:
                return COLUMN
        self._scope.unknown(f"whether `{column.name}` is a column or what SELECT calls so is not known")
        return alias

    def _is_column(self, name: str, expression: Any) -> bool:
        """Return whether one of the tables surely has a column of a name."""
        from sqlglot import exp

        return any(name in table.columns for table in self._scope.tables) or any(
            one.name.lower() == name for one in expression.find_all(exp.Column)
        )

    def _grouped(self, besides: str) -> set[str]:
        """Return the columns in the keys of GROUP BY that are not the bare name in question."""
        from sqlglot import exp

        return {
            one.name.lower()
            for key in self._keys
            if not _is_bare(key, besides)
            for one in key.find_all(exp.Column)
        }

    def _expression(self, position: int, expression: Any) -> Expression:
        """Read an expression of SELECT once: others may be made of it, and others of these."""
        if position not in self._known:
            self._known[position] = self._read(expression, self.seen_by(Clause.SELECT, position))
        return self._known[position]


def _is_bare(key: Any, name: str) -> bool:
    return type(key).__name__ == "Column" and not key.table and key.name.lower() == name


def bare_columns(expression: Any) -> list[Any]:
    """Return the columns of an expression of SELECT that stand outside of aggregates."""
    from sqlglot import exp

    here = expression.find_ancestor(exp.Query)
    return [
        one for one in expression.find_all(exp.Column) if one.find_ancestor(exp.AggFunc, exp.Query) is here
    ]
