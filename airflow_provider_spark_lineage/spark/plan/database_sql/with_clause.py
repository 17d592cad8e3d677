"""WITH: CTEs, which are read again for each use, and recursive CTEs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from airflow_provider_spark_lineage.spark.plan.algebra import Loop, Reference
from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import (
    LABEL,
    Definitions,
    QueryRows,
    SqlError,
    renamed,
)
from airflow_provider_spark_lineage.spark.plan.database_sql.subqueries import Subqueries
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp


@dataclass
class Recursion:
    """A CTE that refers to itself."""

    definition: int
    columns: tuple[str, ...]


def with_definitions(query: Any, definitions: Definitions) -> Definitions:
    """Return the definitions visible to a query: the definitions around it, and its own."""
    clause = query.args.get("with_") or query.args.get("with")
    visible = dict(definitions)
    for cte in clause.expressions if clause else ():
        if cte.args.get("scalar"):
            raise SqlError("a value in WITH is not known")
        visible[cte.alias.lower()] = (cte, dict(visible))
    return visible


def read_definition(reader: Subqueries, table: Any, definitions: Definitions) -> QueryRows | None:
    """Read the CTE that a name in FROM refers to; return None for a table of the database."""
    definition = definitions.get(table.name.lower()) if len(table.parts) == 1 else None
    if isinstance(definition, Recursion):
        columns = [reader.nodes.attribute(name) for name in definition.columns]
        node = reader.nodes.add(lambda: Reference((), tuple(columns), LABEL, definition.definition))
        return QueryRows(node, columns)
    return None if definition is None else _read_cte(reader, *definition)


def _read_cte(reader: Subqueries, cte: Any, definitions: Definitions) -> QueryRows:
    name, column_names = cte.alias.lower(), [column.name for column in cte.args["alias"].columns]
    inner = cte.this.unnest() if isinstance(cte.this, exp.Subquery) else cte.this
    loops = isinstance(inner, exp.SetOperation) and _mentions(inner.right, name)
    if loops and reader.dialect.may_recurse(cte):
        return _read_recursion(reader, inner, name, column_names, definitions)
    result = reader.query(cte.this, definitions)
    if not column_names:
        return result
    columns = [
        replace(column, name=new_name)
        for column, new_name in zip(result.columns, renamed(column_names, result), strict=True)
    ]
    return replace(result, columns=columns)


def _read_recursion(
    reader: Subqueries, query: Any, name: str, column_names: list[str], definitions: Definitions
) -> QueryRows:
    """Read a recursive CTE."""
    # The CTE's query may have a WITH of its own.
    definitions = with_definitions(query, definitions)
    begin, steps = query.left, [query.right]
    distinct = bool(query.args.get("distinct"))
    while type(begin) is type(query) and _mentions(begin, name):
        # Several members of the UNION may be recursive.
        distinct = distinct or bool(begin.args.get("distinct"))
        begin, steps = begin.left, [begin.right, *steps]
    start = reader.query(begin, definitions)
    if start.more is not None:
        raise SqlError("the columns of a * in a recursion are not known")
    names = renamed(column_names, start)
    recursion = Recursion(next(reader.nodes.ids), tuple(names))
    inner, visible = reader.beside(), {**definitions, name: recursion}
    results = [inner.query(step, visible, [""] * len(names)) for step in steps]
    if any(len(result.columns) != len(names) for result in results):
        raise SqlError("the sides of a UNION differ")
    plan = inner.plan(inner.nodes.below(results))
    columns = [reader.nodes.attribute(column_name) for column_name in names]
    first = reader.nodes.listed(start)
    node = reader.nodes.add(lambda: Loop((first,), tuple(columns), LABEL, plan, recursion.definition))
    result = QueryRows(node, columns)
    return reader.nodes.distinct(result) if distinct else result


def _mentions(query: Any, name: str) -> bool:
    """Return whether a query mentions a CTE."""
    return any(len(table.parts) == 1 and table.name.lower() == name for table in query.find_all(exp.Table))
