"""Reader of the body of an SQL function: finds how its result depends on its arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.algebra import IDENTITY, Expression, Kind, Plan, Transformation
from airflow_provider_spark_lineage.spark.plan.database_sql.expressions import SqlExpressionReader
from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import SqlError
from airflow_provider_spark_lineage.spark.plan.database_sql.parser import parsed
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp

_QUERY = re.compile(r"(?i)\s*(?:from|select|table|values|with)\b")
_WORD = re.compile(r"`[^`]*`|\w+|[^\w\s]")
_KINDS = frozenset({Kind.IDENTITY, Kind.TRANSFORMATION, Kind.CONDITIONAL})


@dataclass(frozen=True)
class Body:
    """Use of a function's arguments, and of the queries in its body."""

    arity: int
    arguments: tuple[tuple[int, Kind], ...]
    """(position of an argument, how it acts on the result), for arguments that are used outside queries."""

    queries: int
    """Number of queries inside."""

    of_query: frozenset[Kind]
    """How each of the queries acts on the result."""


def read_body(text: str, parameters: str) -> Body | None:
    """Return the body of a function as read; None if it is not certain.

    >>> read_body("IF(x > 0, x, y)", "x INT, y INT").arity
    2
    """
    try:
        return _read(text, _names(parameters))
    except (SqlError, RecursionError):
        return None


def _names(parameters: str) -> list[str]:
    """Return the names of a list such as `x INT, y STRUCT<a: INT, b: INT>`, in lower case."""
    names: list[str] = []
    depth, is_begin = 0, True
    for word in _WORD.findall(parameters):
        if is_begin and depth == 0 and (word[0] == "`" or word[0].isalnum() or word[0] == "_"):
            names.append(word.strip("`").lower())
            is_begin = False
        depth += (word in ("(", "<")) - (word in (")", ">"))
        is_begin |= word == "," and depth == 0
    return names


def _read(text: str, names: list[str]) -> Body:
    select = parsed(f"SELECT ({text})" if _QUERY.match(text) else f"SELECT {text}", "spark")
    if not isinstance(select, exp.Select) or len(select.expressions) != 1 or select.args.get("from_"):
        raise SqlError("it is not an expression")
    (body,) = select.expressions
    inside = {id(node) for query in body.find_all(exp.Query) for node in query.walk()}
    if any(isinstance(node, exp.Anonymous | exp.Lambda) for node in body.walk() if id(node) not in inside):
        raise SqlError("it calls another function")
    plans: list[Plan] = []

    def plan(query: Any) -> Plan:
        plans.append(Plan(()))
        return plans[-1]

    def column(written: Any) -> tuple[tuple[int, Transformation], ...]:
        if written.table or written.name.lower() not in names:
            raise SqlError("it has a name that is not a parameter")
        return ((names.index(written.name.lower()), IDENTITY),)

    def unresolved(reason: Reason) -> None:
        raise SqlError(reason)

    read = SqlExpressionReader(column, plan, unresolved).read(body)
    arguments = tuple((position, _kind(step)) for position, step in read.uses)
    return Body(len(names), arguments, len(plans), _kind_of_queries(read, plans))


def _kind_of_queries(read: Expression, plans: list[Plan]) -> frozenset[Kind]:
    """Return how the queries act; raise SqlError if they differ, since they could not be told apart."""
    kinds_by_plan: dict[int, set[Kind]] = {id(plan): set() for plan in plans}
    for query in read.subqueries:
        if not query.valued:
            raise SqlError("it has EXISTS")
        kinds_by_plan[id(query.plan)].add(_kind(query.transformation))
    kinds = {frozenset(of_plan) for of_plan in kinds_by_plan.values()}
    if len(kinds) > 1:
        raise SqlError("its queries act in several ways")
    return kinds.pop() if kinds else frozenset()


def _kind(step: Transformation) -> Kind:
    if step.masking or step.kind not in _KINDS:
        raise SqlError("its result is not a plain value")
    return step.kind
