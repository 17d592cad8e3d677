"""Reader of the physical operators with several inputs: joins and unions, also of INTERSECT and EXCEPT."""

from __future__ import annotations

import re

from airflow_provider_spark_lineage.plan.spark.explain.columns import MARK
from airflow_provider_spark_lineage.plan.spark.explain.formatted.aggregates import AGGREGATES
from airflow_provider_spark_lineage.plan.spark.explain.formatted.conditions import listed_items
from airflow_provider_spark_lineage.plan.spark.explain.formatted.text import Operator
from airflow_provider_spark_lineage.plan.spark.explain.formatted.translation import (
    OperatorReader,
    Translation,
)
from airflow_provider_spark_lineage.plan.spark.explain.sections import Drawn, UnreadableError, required

_KEYS = ("Left keys", "Right keys")


def _join(operator: Operator, plan: Translation) -> Drawn:
    compared = [item for key in _KEYS for item in listed_items(operator.details.get(key, "[]"))]
    condition = operator.details.get("Join condition", "None")
    if condition != "None":
        compared.append(condition)
    left, right = operator.children
    kind = operator.details.get("Join type", "Inner")
    exists = re.fullmatch(r"ExistenceJoin\((.*)\)", kind)
    if exists:
        # Spark creates this join for an EXISTS or IN that is used as a value.
        rows = plan.node(f"Filter and({', '.join(compared)})", plan.of(right))
        return Drawn(f"WithExists [{exists[1]}]", 0, [plan.of(left)], [rows])
    if _is_of_subquery(operator):
        plan.problem(operator, "it may come from a subquery of the query")
    text = f", and({', '.join(compared)})" if compared else ""
    return plan.node(f"Join {kind}{text}", plan.of(left), plan.of(right))


def _is_of_subquery(join: Operator) -> bool:
    """Return whether a join may come from a correlated subquery: one side is grouped by its keys."""
    for key, child in zip(_KEYS, join.children, strict=True):
        if "isnull(" in join.details.get(key, ""):
            # This also compares nulls: it joins the rows for which the subquery runs.
            return True
        compared = {mark[1] for mark in MARK.finditer(join.details.get(key, ""))}
        side = child
        while side.name not in AGGREGATES and len(side.children) == 1:
            side = side.children[0]
        keys = {mark[1] for mark in MARK.finditer(side.details.get("Keys", ""))}
        if side.name in AGGREGATES and keys <= compared:
            return True
    return False


def repeated_rows(operator: Operator, plan: Translation, columns: str) -> Drawn:
    """INTERSECT ALL and EXCEPT ALL: Spark counts equal rows of both sides, and repeats each that often."""
    union = next((below for below in operator.below() if below.name == "Union"), None)
    if union is None:
        raise UnreadableError("the rows that it repeats are not in the text")
    sides = []
    for child in union.children:
        if child.name != "Project":
            raise UnreadableError("the rows that it repeats are not in the text")
        marks = required(
            re.match(r"\[(?:(?:true|null|-?1) AS vcol\d*#\d+L?, )+", child.detail("Output")),
            "the rows that it repeats are not in the text",
        )
        sides.append(plan.node(f"Project [{child.detail('Output')[marks.end() :]}", plan.input(child)))
    return plan.node(f"Project [{columns}]", plan.node("ExceptAll", *sides))


def _union(operator: Operator, plan: Translation) -> Drawn:
    return plan.node("Union", *(plan.of(child) for child in operator.children))


JOINS: dict[str, OperatorReader] = {
    "BroadcastHashJoin": _join,
    "BroadcastNestedLoopJoin": _join,
    "CartesianProduct": _join,
    "ShuffledHashJoin": _join,
    "SortMergeJoin": _join,
    "Union": _union,
}
"""Name that Spark prints -> row."""
