"""Rows in FROM that do not come from a table: VALUES, or the rows of a function.

A function that is not in the list below may read any table, which is noted as a gap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_queries
from airflow_provider_spark_lineage.spark.plan.algebra import Attribute, Derive, Expression, Kind
from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import (
    LABEL,
    Definitions,
    QueryRows,
    SqlError,
)
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import QueryScope, Table
from airflow_provider_spark_lineage.spark.plan.database_sql.subqueries import Subqueries
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp
from airflow_provider_spark_lineage.spark.plan.steps import VALUE

_OWN_NAMES = {
    "databricks": ("col", 1),
    "duckdb": ("col", 0),
    "hive": ("col", 1),
    "mysql": ("column_", 0),
    "presto": ("_col", 0),
    "spark": ("col", 1),
    "trino": ("_col", 0),
}
"""Dialect -> (prefix, first number) of the names of VALUES' columns without an alias."""

_OF_JSON = ("key", "value", "type", "atom", "id", "parent", "fullkey", "path")
_ITSELF = ("",)
"""One column with the name of the item."""

_OPEN: tuple[str, ...] = ()
"""Columns that depend on the arguments, or on the dialect."""

_FUNCTION_COLUMNS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("explode", "explodeouter", "inline", "posexplode", "posexplodeouter"), _OPEN),
    **dict.fromkeys(("flatten", "jsontable", "openjson", "stack", "unnest", "xmltable"), _OPEN),
    **dict.fromkeys(("generatedatearray", "generatetimestamparray", "generator", "json_tuple"), _OPEN),
    **dict.fromkeys(("json_to_recordset", "jsonb_to_recordset", "range", "sequence"), _OPEN),
    **dict.fromkeys(("explodinggenerateseries", "generate_series", "generate_subscripts"), _ITSELF),
    **dict.fromkeys(("generateseries", "json_object_keys", "jsonb_object_keys", "string_to_table"), _ITSELF),
    **dict.fromkeys(("regexp_matches", "regexp_split_to_table"), _ITSELF),
    **dict.fromkeys(("json_array_elements", "json_array_elements_text"), ("value",)),
    **dict.fromkeys(("jsonb_array_elements", "jsonb_array_elements_text"), ("value",)),
    **dict.fromkeys(("json_each_text", "jsonb_each", "jsonb_each_text"), ("key", "value")),
    **dict.fromkeys(("json_each", "json_tree"), _OF_JSON),
    "split_to_table": ("seq", "index", "value"),
    "string_split": ("value", "ordinal"),
    "strtok_split_to_table": ("seq", "index", "value"),
}
"""sqlglot's class or name of a function that reads only its arguments -> its columns."""


def listed_rows(reader: Subqueries, values: Any, definitions: Definitions) -> QueryRows:
    """Read VALUES: column i comes from the i-th expression of every row."""
    scope = QueryScope()
    read = reader.expressions(scope, definitions)
    rows = [[read.read(expression) for expression in _row(row)] for row in values.expressions]
    width = len(rows[0]) if rows else 0
    if any(len(row) != width for row in rows):
        raise SqlError("the rows of VALUES differ")
    nodes = reader.nodes
    stem, first = _OWN_NAMES.get(reader.dialect.name, ("column", 1))
    columns = [nodes.attribute(f"{stem}{first + position}") for position in range(width)]
    expressions = {column.id: tuple(row[i] for row in rows) for i, column in enumerate(columns)}
    start = nodes.constant()
    node = nodes.add(lambda: Derive((start,), tuple(columns), LABEL, expressions, reason=scope.reason))
    return QueryRows(node, columns)


def _row(row: Any) -> list[Any]:
    """Return the expressions of a row, written as `(..)` or `ROW(..)`."""
    parts = list(row.expressions) if type(row).__name__ == "Tuple" else [row]
    if len(parts) == 1 and type(parts[0]).__name__ == "Anonymous" and parts[0].name.lower() == "row":
        return list(parts[0].expressions)
    return parts


def function_rows(
    reader: Subqueries, item: Any, left: int | None, scope: QueryScope, definitions: Definitions
) -> int:
    """Read functions in FROM; their columns may be unknown."""
    functions = _functions(item)
    for function in functions:
        if _key(function) not in _FUNCTION_COLUMNS:
            scope.note(of_queries.UNKNOWN_INPUTS(function=_name(function)))
    read = reader.expressions(scope, definitions)
    arrays = functions[0].expressions if type(functions[0]).__name__ == "Unnest" else functions
    values = [read.read(array).after(VALUE) for array in arrays]
    columns: dict[Attribute, tuple[Expression, ...]] = {}
    nodes = reader.nodes

    def more(name: str) -> Attribute:
        column = nodes.attribute(name)
        columns[column] = tuple(values)
        return column

    names, position = _columns(functions, item, reader.dialect.name), item.args.get("offset")
    listed = {name.lower(): more(name) for name in names}
    if len(values) == len(names):
        # UNNEST of several arrays has one column for each array.
        columns.update((column, (value,)) for column, value in zip(listed.values(), values, strict=False))
    if getattr(position, "name", ""):
        listed[position.name.lower()] = more(position.name)
    scope.tables.append(Table(item.alias.lower(), listed, None if names else more, is_function=True))
    start = nodes.constant() if left is None else left
    influences = tuple((Kind.FILTER, value) for value in values)
    node = nodes.add(
        lambda: Derive(
            (start,),
            tuple(columns),
            LABEL,
            {column.id: sources for column, sources in columns.items()},
            influences,
        )
    )
    return nodes.beside(left, node)


def _functions(item: Any) -> list[Any]:
    """Return the function calls of an item of FROM."""
    if isinstance(item, exp.Unnest):
        return [item]
    if item.args.get("rows_from"):
        return list(chain.from_iterable(_functions(call) for call in item.args["rows_from"]))
    called = item.this
    while isinstance(called, exp.Dot):
        called = called.expression
    if isinstance(called, exp.Anonymous) and called.name.lower() == "table" and len(called.expressions) == 1:
        called = called.expressions[0]
    return [called]


def _key(function: Any) -> str:
    """Return a function's key in `_FUNCTION_COLUMNS`."""
    name = type(function).__name__
    return str(function.name if name == "Anonymous" else name).lower()


def _columns(functions: Sequence[Any], item: Any, dialect: str) -> list[str]:
    """Return the names of a function's columns; empty if they are unknown."""
    alias = item.args.get("alias")
    names = [column.name for column in alias.columns] if alias is not None else []
    if len(functions) > 1:
        return names
    gives = _FUNCTION_COLUMNS.get(_key(functions[0]), _OPEN)
    if gives is _OF_JSON and dialect == "postgres":
        gives = gives[:2]
    own = [own_name or item.alias or functions[0].name for own_name in gives]
    return [*names, *own[len(names) :]]


def _name(function: Any) -> str:
    if isinstance(function, exp.Func):
        return str(function.name if isinstance(function, exp.Anonymous) else type(function).__name__)
    return f"`{function.sql()}`"
