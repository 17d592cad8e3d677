"""WITH: the queries that a query names, each read anew wherever it is named, and recursions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.plan.algebra import Loop, Reference
from airflow_provider_spark_lineage.plan.sql.nodes import LABEL, Result, SqlError, renamed

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.plan.sql.queries import QueryReader

Definitions = Mapping[str, Any]
"""Names of WITH to their CTE and the definitions that it can see, or to a recursion that is being read."""


@dataclass
class Recursion:
    """A definition that refers to itself."""

    definition: int
    columns: tuple[str, ...]


def with_own(query: Any, definitions: Definitions) -> Definitions:
    """Return the definitions that a query can see: those around it, and its own."""
    clause = query.args.get("with_") or query.args.get("with")
    known = dict(definitions)
    for cte in clause.expressions if clause else ():
        if cte.args.get("scalar"):
            raise SqlError("a value in WITH is not known")
        known[cte.alias.lower()] = (cte, dict(known))
    return known


def read_definition(reader: QueryReader, table: Any, definitions: Definitions) -> Result | None:
    """Read what a name in FROM was defined as; None for one of the database's own tables."""
    found = definitions.get(table.name.lower()) if len(table.parts) == 1 else None
    if isinstance(found, Recursion):
        return _so_far(reader, found)
    return None if found is None else _defined(reader, *found)


def _so_far(reader: QueryReader, recursion: Recursion) -> Result:
    columns = [reader.nodes.attribute(name) for name in recursion.columns]
    definition = recursion.definition
    node = reader.nodes.add(lambda: Reference((), tuple(columns), LABEL, definition))
    return Result(node, columns)


def _defined(reader: QueryReader, cte: Any, definitions: Definitions) -> Result:
    from sqlglot import exp

    name, given = cte.alias.lower(), [one.name for one in cte.args["alias"].columns]
    inner = cte.this.unnest() if isinstance(cte.this, exp.Subquery) else cte.this
    loops = isinstance(inner, exp.SetOperation) and _names(inner.right, name)
    if loops and reader.dialect.sees_itself(cte):
        return _looped(reader, inner, name, given, definitions)
    result = reader.query(cte.this, definitions)
    if not given:
        return result
    columns = [
        replace(column, name=one) for column, one in zip(result.columns, renamed(given, result), strict=True)
    ]
    return replace(result, columns=columns)


def _looped(reader: QueryReader, query: Any, name: str, given: list[str], definitions: Definitions) -> Result:
    """Read a definition that refers to itself."""
    # A WITH of its own may stand inside of the definition.
    definitions = with_own(query, definitions)
    begin, steps = query.left, [query.right]
    distinct = bool(query.args.get("distinct"))
    while type(begin) is type(query) and _names(begin, name):
        # Several members may refer to it, one below the other.
        distinct = distinct or bool(begin.args.get("distinct"))
        begin, steps = begin.left, [begin.right, *steps]
    start = reader.query(begin, definitions)
    if start.more is not None:
        raise SqlError("the columns of a * in a recursion are not known")
    names = renamed(given, start)
    recursion = Recursion(next(reader.nodes.ids), tuple(names))
    inner, seen = reader.beside(), {**definitions, name: recursion}
    made = [inner.query(step, seen, [""] * len(names)) for step in steps]
    if any(len(one.columns) != len(names) for one in made):
        raise SqlError("the sides of a UNION differ")
    plan = inner.plan(inner.nodes.below(made))
    columns = [reader.nodes.attribute(one) for one in names]
    first = reader.nodes.listed(start)
    node = reader.nodes.add(lambda: Loop((first,), tuple(columns), LABEL, plan, recursion.definition))
    result = Result(node, columns)
    return reader.nodes.distinct(result) if distinct else result


def _names(query: Any, name: str) -> bool:
    """Return whether a definition is mentioned in a query."""
    from sqlglot import exp

    return any(len(one.parts) == 1 and one.name.lower() == name for one in query.find_all(exp.Table))
