"""FROM: adds the tables of a query to its scope, and joins their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_queries
from airflow_provider_spark_lineage.spark.plan.algebra import (
    IDENTITY,
    Apply,
    Attribute,
    Expression,
    Kind,
    Scan,
)
from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import (
    LABEL,
    Definitions,
    QueryRows,
    SqlError,
    renamed,
)
from airflow_provider_spark_lineage.spark.plan.database_sql.rows import function_rows
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import (
    Dialect,
    QueryScope,
    Table,
    unqualified,
)
from airflow_provider_spark_lineage.spark.plan.database_sql.select_list import Changes, every_column, selected
from airflow_provider_spark_lineage.spark.plan.database_sql.subqueries import Subqueries
from airflow_provider_spark_lineage.spark.plan.database_sql.with_clause import read_definition
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp

_WITH_DUAL = frozenset({"", "clickhouse", "mysql", "oracle", "redshift", "singlestore", "snowflake"})
"""Dialects where `dual` is a placeholder with one row."""


def text_of(table: Any, dialect: Dialect) -> str:
    """Return a table's name as written, with quotes."""
    parts = [part.sql(dialect=dialect.name or None) for part in table.parts]
    # `db..t` names the default schema.
    return (".." if len(parts) == 2 and table.catalog else ".").join(parts)


def is_no_table(table: Any, dialect: Dialect) -> bool:
    """Return whether a table is the placeholder for a FROM without tables."""
    name = ".".join(part.name.lower() for part in table.parts)
    return name == "sysibm.sysdummy1" or (name in ("dual", "sys.dual") and dialect.name in _WITH_DUAL)


class From:
    """Reads the tables of one query; each may refer to the tables on its left."""

    def __init__(self, reader: Subqueries, scope: QueryScope, definitions: Definitions) -> None:
        self._reader = reader
        self._nodes = reader.nodes
        self._scope = scope
        self._definitions = definitions

    def read(self, select: Any) -> int:
        """Read FROM with its joins and Hive's lateral views; a query without FROM has one row."""
        clause = select.args.get("from_") or select.args.get("from")
        if clause is None:
            return self._nodes.constant()
        node = self._item(clause.this, None)
        for join in select.args.get("joins") or ():
            node = self._join(join, node)
        for view in select.args.get("laterals") or ():
            node = self._item(view, node)
        return node

    def _item(self, item: Any, left: int | None) -> int:
        """Read an item with its own joins, and join it to the items on its left."""
        node = self._item_alone(item, left)
        for join in item.args.get("joins") or ():
            node = self._join(join, node)
        return node

    def _item_alone(self, item: Any, left: int | None) -> int:
        if item.args.get("pivots"):
            raise SqlError("PIVOT is not known")
        if isinstance(item, exp.Final):
            return self._item_alone(item.this, left)
        if isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery):
            return self._lateral(item, left)
        if self._is_function(item):
            return function_rows(self._reader, item, left, self._scope, self._definitions)
        if isinstance(item, exp.Table) and is_no_table(item, self._reader.dialect):
            self._scope.tables.append(Table(item.alias_or_name.lower(), {}))
            return self._nodes.beside(left, self._nodes.constant())
        if isinstance(item, exp.Table):
            result = self._table(item)
        elif isinstance(item, exp.Subquery) and not _is_query(item):
            return self._nodes.beside(left, self._inside(item))
        elif isinstance(item, (exp.Subquery, exp.Values)):
            result = self._reader.query(item, self._definitions)
        else:
            raise SqlError(f"{type(item).__name__.upper()} in FROM is not known")
        self._scope.tables.append(_as_table(item.alias_or_name, result, item))
        return self._nodes.beside(left, result.node)

    def _is_function(self, item: Any) -> bool:
        """Return whether the rows of an item come from a function or from an array in a column."""
        if isinstance(item, exp.Table):
            return not isinstance(item.this, exp.Identifier)
        return isinstance(item, (exp.Lateral, exp.Unnest)) or type(item).__name__ == "TableFromRows"

    def _inside(self, item: Any) -> int:
        """Read tables in parentheses; with an alias they are visible only under the alias."""
        scope = QueryScope(reasons=self._scope.reasons)
        node = From(self._reader, scope, self._definitions)._item(item.this, None)
        if not item.alias:
            self._scope.tables.extend(scope.tables)
            self._scope.merged.update(scope.merged)
            return node
        columns = list(every_column(scope, Changes()))
        result = selected(self._nodes, node, columns, scope, ())
        self._scope.tables.append(_as_table(item.alias, result, item))
        return result.node

    def _join(self, join: Any, left: int) -> int:
        before = list(self._scope.tables)
        node = self._item(join.this, left)
        behind = self._scope.tables[len(before) :]
        if join.args.get("pivots"):
            raise SqlError("PIVOT is not known")
        using = [column.name for column in join.args.get("using") or ()]
        if join.args.get("method") == "NATURAL":
            using = self._common(before, behind)
        influences = tuple((Kind.JOIN, self._merge(name, before, behind)) for name in using)
        for clause in ("on", "match_condition"):
            if join.args.get(clause):
                read = self._reader.expressions(self._scope, self._definitions)
                influences += ((Kind.JOIN, read.read(join.args[clause])),)
        if {join.kind, join.side} & {"SEMI", "ANTI"}:
            self._scope.tables = behind if join.side == "RIGHT" else before
        return self._nodes.influenced(node, influences)

    def _merge(self, name: str, before: Sequence[Table], behind: Sequence[Table]) -> Expression:
        """Merge the columns that both sides of a join have under a name in USING."""
        merged = self._scope.merged.get(name.lower(), ())
        left = None if merged else unqualified(name, before)
        right = unqualified(name, behind)
        if right is None or (left is None and not merged):
            self._scope.note(of_queries.UNKNOWN_TABLE(name=name))
        ids = tuple(column.id for column in (left, right) if column is not None)
        self._scope.merged[name.lower()] = merged + ids
        return Expression(tuple((attribute_id, IDENTITY) for attribute_id in ids))

    def _common(self, before: Sequence[Table], behind: Sequence[Table]) -> list[str]:
        """Return the names that both sides of a NATURAL JOIN have."""
        if any(table.more is not None for table in (*before, *behind)):
            self._scope.note(of_queries.NATURAL_JOIN())
            return []
        right = {name for table in behind for name in table.columns}
        return list(dict.fromkeys(name for table in before for name in table.columns if name in right))

    def _table(self, table: Any) -> QueryRows:
        """Read a table of the database, or a definition of WITH."""
        defined = read_definition(self._reader, table, self._definitions)
        if defined is not None:
            return defined
        output: list[Attribute] = []
        text = text_of(table, self._reader.dialect)

        def more(name: str) -> Attribute:
            column = self._nodes.attribute(name)
            output.append(column)
            return column

        node = self._nodes.add(lambda: Scan((), tuple(output), LABEL, relation=text))
        return QueryRows(node, [], more)

    def _lateral(self, item: Any, left: int | None) -> int:
        """Read LATERAL: a query that runs for each row on its left and may refer to that row."""
        inner = self._reader.inside(self._scope)
        result = inner.query(item.this, self._definitions)
        start = self._nodes.constant() if left is None else left
        node = self._nodes.add(lambda: Apply((start,), (), LABEL, inner.plan(result)))
        self._scope.tables = [*self._scope.tables, _as_table(item.alias, result, item)]
        return node


def _is_query(item: Any) -> bool:
    """Return whether parentheses, nested or not, contain a query and not a table or a join."""
    inner = item.this
    if isinstance(inner, exp.Subquery):
        return not inner.alias and not inner.args.get("joins") and _is_query(inner)
    return isinstance(inner, (exp.Select, exp.SetOperation, exp.Values))


def _as_table(name: str, result: QueryRows, item: Any) -> Table:
    """Return a result as a table of the query around it; its alias may rename columns."""
    alias = item.args.get("alias")
    names = renamed([column.name for column in alias.columns] if alias is not None else [], result)
    columns = {name.lower(): column for name, column in zip(names, result.columns, strict=True)}
    return Table(name.lower(), columns, result.more)
