"""Rows in FROM that no table holds: listed by the query, or made by a function.

Of a function that is not known nobody can say what it reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.plan.algebra import Attribute, Derive, Expression, Kind, Transformation
from airflow_provider_spark_lineage.plan.sql.nodes import LABEL, Result, SqlError
from airflow_provider_spark_lineage.plan.sql.scope import Scope, Table
from airflow_provider_spark_lineage.plan.sql.with_clause import Definitions

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.plan.sql.queries import QueryReader

_OWN_NAMES = {
    "databricks": ("col", 1),
    "duckdb": ("col", 0),
    "hive": ("col", 1),
    "mysql": ("column_", 0),
    "presto": ("_col", 0),
    "spark": ("col", 1),
    "trino": ("_col", 0),
}
"""Dialect -> what the columns of VALUES are called where the query does not say it, and the first number."""

_OF_JSON = ("key", "value", "type", "atom", "id", "parent", "fullkey", "path")
_ITSELF = ("",)
"""One column, called like the item."""

_OPEN: tuple[str, ...] = ()
"""Columns that depend on the arguments, or on the dialect."""

_GIVES: Mapping[str, tuple[str, ...]] = {
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
"""Functions that read nothing but their arguments, by sqlglot's class or by their name, and their columns."""


def listed_rows(reader: QueryReader, values: Any, definitions: Definitions) -> Result:
    """Read VALUES: column i comes from the i-th expression of every row."""
    scope = Scope()
    read = reader.expressions(scope, definitions)
    rows = [[read.read(one) for one in _row(row)] for row in values.expressions]
    width = len(rows[0]) if rows else 0
    if any(len(row) != width for row in rows):
        raise SqlError("the rows of VALUES differ")
    nodes = reader.nodes
    stem, first = _OWN_NAMES.get(reader.dialect.name, ("column", 1))
    columns = [nodes.attribute(f"{stem}{first + position}") for position in range(width)]
    made = {column.id: tuple(row[i] for row in rows) for i, column in enumerate(columns)}
    start = nodes.constant()
    node = nodes.add(lambda: Derive((start,), tuple(columns), LABEL, made, reason=scope.reason))
    return Result(node, columns)


def _row(row: Any) -> list[Any]:
    """Return the expressions of a row, which some databases write as `ROW(..)`."""
    parts = list(row.expressions) if type(row).__name__ == "Tuple" else [row]
    if len(parts) == 1 and type(parts[0]).__name__ == "Anonymous" and parts[0].name.lower() == "row":
        return list(parts[0].expressions)
    return parts


def made_rows(
    reader: QueryReader, item: Any, left: int | None, scope: Scope, definitions: Definitions
) -> int:
    """Read rows that functions make of their arguments; which columns they have may not be known."""
    functions = _functions(item)
    for one in functions:
        if _key(one) not in _GIVES:
            scope.unknown(f"what {_name(one)} reads is not known")
    read = reader.expressions(scope, definitions)
    arrays = functions[0].expressions if type(functions[0]).__name__ == "Unnest" else functions
    values = [_taken(read.read(one)) for one in arrays]
    columns: dict[Attribute, tuple[Expression, ...]] = {}
    nodes = reader.nodes

    def more(name: str) -> Attribute:
        column = nodes.attribute(name)
        columns[column] = tuple(values)
        return column

    names, position = _columns(functions, item, reader.dialect.name), item.args.get("offset")
    listed = {name.lower(): more(name) for name in names}
    if len(values) == len(names):
        # Arrays beside one another give a column each.
        columns.update((column, (value,)) for column, value in zip(listed.values(), values, strict=False))
    if getattr(position, "name", ""):
        listed[position.name.lower()] = more(position.name)
    scope.tables.append(Table(item.alias.lower(), listed, None if names else more, made=True))
    start = nodes.constant() if left is None else left
    influences = tuple((Kind.FILTER, value) for value in values)
    made = nodes.add(
        lambda: Derive(
            (start,),
            tuple(columns),
            LABEL,
            {column.id: sources for column, sources in columns.items()},
            influences,
        )
    )
    return nodes.beside(left, made)


def _functions(item: Any) -> list[Any]:
    """Return the calls that give the rows of an item of FROM."""
    from sqlglot import exp

    if isinstance(item, exp.Unnest):
        return [item]
    if item.args.get("rows_from"):
        return list(chain.from_iterable(_functions(one) for one in item.args["rows_from"]))
    called = item.this
    while isinstance(called, exp.Dot):
        called = called.expression
    if isinstance(called, exp.Anonymous) and called.name.lower() == "table" and len(called.expressions) == 1:
        called = called.expressions[0]
    return [called]


def _key(function: Any) -> str:
    """Return what a function is called in the table."""
    name = type(function).__name__
    return str(function.name if name == "Anonymous" else name).lower()


def _columns(functions: Sequence[Any], item: Any, dialect: str) -> list[str]:
    """Return the columns of rows that functions make; none where they are not known."""
    alias = item.args.get("alias")
    names = [one.name for one in alias.columns] if alias is not None else []
    if len(functions) > 1:
        return names
    gives = _GIVES.get(_key(functions[0]), _OPEN)
    if gives is _OF_JSON and dialect == "postgres":
        gives = gives[:2]
    own = [one or item.alias or functions[0].name for one in gives]
    return [*names, *own[len(names) :]]


def _name(function: Any) -> str:
    from sqlglot import exp

    if isinstance(function, exp.Func):
        return str(function.name if isinstance(function, exp.Anonymous) else type(function).__name__)
    return f"`{function.sql()}`"


def _taken(value: Expression) -> Expression:
    return value.after([Transformation(Kind.TRANSFORMATION)])
