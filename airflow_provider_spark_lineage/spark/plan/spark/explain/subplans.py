"""The plans below a node, placed in the node's text: at its subqueries, and at its calls of SQL functions.

Spark draws the plans in the order of the expressions that contain them. The text names a subquery, but not
the queries inside a function that is written in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from airflow_provider_spark_lineage.spark.plan.algebra import Kind
from airflow_provider_spark_lineage.spark.plan.database_sql.functions import Body
from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.functions import call, is_known, literal
from airflow_provider_spark_lineage.spark.records.plan_json import Tree

SUBQUERY = re.compile(r"(scalar-subquery|exists|list|lateral-subquery)#\d+ \[")
SUBQUERIES = {
    "scalar-subquery": "ScalarSubquery",
    "exists": "Exists",
    "list": "ListQuery",
    "lateral-subquery": "LateralSubquery",
}
"""Name of a subquery in the text -> its class."""

CALL = re.compile(r"([^\s()\[\],\0]+)\(")
RESULT = re.compile(r"#\d+L?")
"""Id of the result of a Python function, after its arguments."""

_PARENTHESIS = re.compile(r"[()]")

Subplan = tuple[Tree, types.Type | None]
"""(plan of a subquery, type of its first column if the text has it)."""


class Subplans:
    """The plans of one text."""

    def __init__(self, text: str, plans: Sequence[Subplan], bodies: Mapping[str, Body]) -> None:
        self.starts = [match.start() for match in SUBQUERY.finditer(text)]
        """Positions of the names of subqueries."""

        self.placed, self.are_certain = _placed(text, self.starts, plans, bodies)
        """Position of a subquery or a call -> its plans; and whether the places of all plans are certain."""

    def trees(self, start: int, end: int) -> list[Tree]:
        """Return the plans between two positions, as scalar subqueries."""
        inside = (plans for position, plans in self.placed.items() if start <= position < end)
        return [[{**call("ScalarSubquery", [])[0], "plan": plan}] for plans in inside for plan, _ in plans]


def _placed(
    text: str, starts: Sequence[int], plans: Sequence[Subplan], bodies: Mapping[str, Body]
) -> tuple[dict[int, list[Subplan]], bool]:
    if len(starts) == len(plans):
        return {start: [plan] for start, plan in zip(starts, plans, strict=True)}, True
    if not plans:
        return {}, True
    calls = [match for match in _calls(text) if not is_known(match[1])]
    known = [body for body in (bodies.get(match[1]) for match in calls) if body is not None]
    if len(known) < len(calls):
        of_calls = zip(calls, plans, strict=False)
        return {match.start(): [plan] for match, plan in of_calls} if len(calls) == len(plans) else {}, False
    # Each function has as many plans as its body has queries.
    counts = dict.fromkeys(starts, 1)
    counts |= {match.start(): body.queries for match, body in zip(calls, known, strict=True)}
    if sum(counts.values()) != len(plans):
        return {}, False
    waiting = iter(plans)
    placed = {position: list(islice(waiting, count)) for position, count in sorted(counts.items())}
    return {**{start: placed[start] for start in starts}, **placed}, True


def _calls(text: str) -> Iterator[re.Match[str]]:
    """Yield possible calls of functions, without calls in names of columns: `AS f(a)#12`."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for parenthesis in _PARENTHESIS.finditer(text):
        if parenthesis[0] == "(":
            opened.append(parenthesis.end())
        elif opened:
            ends[opened.pop()] = parenthesis.end()
    behind = 0
    for match in CALL.finditer(text):
        end = ends.get(match.end(), 0)
        if end and RESULT.match(text, end):
            behind = max(behind, end)
        elif match.start() >= behind:
            yield match


def result_of(body: Body, arguments: Sequence[Tree], queries: Sequence[Tree]) -> Tree:
    """Return the result of a function: its body applied to its arguments and its queries."""
    uses = [(arguments[position], kind) for position, kind in body.arguments]
    kinds = sorted(body.of_query, key=lambda kind: kind.order)
    uses += [(query, kind) for query in queries for kind in kinds]
    if len(uses) == 1 and uses[0][1] is Kind.IDENTITY:
        return uses[0][0]
    parts = [
        call("If", [part, literal(), literal()]) if kind is Kind.CONDITIONAL else part for part, kind in uses
    ]
    return call("Function", parts)
