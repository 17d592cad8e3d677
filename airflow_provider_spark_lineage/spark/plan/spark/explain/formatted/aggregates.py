"""Reader of the physical aggregates of a text: Spark runs one aggregate as several operators.

The functions of the last operator name the columns that the first operator reads; the others are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import MARK
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.conditions import (
    listed_items,
    split_outside,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.text import Operator
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.translation import Translation
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import (
    Drawn,
    UnreadablePlanError,
    required,
)

AGGREGATES = ("HashAggregate", "ObjectHashAggregate", "SortAggregate")

_BETWEEN = frozenset(
    {
        *("AQEShuffleRead", "Exchange", "ShuffleQueryStage", "Sort"),
        *("MergingSessions", "SessionWindowStateStoreRestore", "SessionWindowStateStoreSave"),
        *("StateStoreRestore", "StateStoreSave", "UpdatingSessions"),
    }
)
_PART = re.compile(r"(?:partial|merge)_")
_FILTERED = " FILTER (WHERE "
_ALIAS = re.compile(r" AS (?=[^()\[\]]*#\d+L?$)")
_OF_REWRITE = re.compile(r"gid#\d+")
"""Spark's column that marks the rows of each of several DISTINCT."""


def aggregate(operator: Operator, plan: Translation) -> Drawn:
    """Return the whole aggregate: `Aggregate [a#1], [a#1, sum(b#2) AS total#5]`."""
    functions = listed_items(operator.detail("Functions"))
    if any(_PART.match(function) for function in functions):
        raise UnreadablePlanError("the other part of its aggregate is not in the text")
    parts = _parts(operator, functions)
    first = parts[-1] if parts else operator
    functions = _with_filters(functions, parts)
    attributes = listed_items(operator.detail("Aggregate Attributes"))
    if len(attributes) != len(functions):
        raise UnreadablePlanError("the numbers of its functions and columns differ")
    results = _inlined(operator.detail("Results"), dict(zip(attributes, functions, strict=True)))
    keys = listed_items(operator.detail("Keys"))
    plain = [_ALIAS.split(key)[-1] for key in keys]
    # Spark adds keys for DISTINCT; the aggregate above repeats the query's own keys.
    is_rewrite = any(_OF_REWRITE.fullmatch(key) for key in plain)
    grouping = f"[{', '.join(plain)}], " if plain and not is_rewrite else ""
    rows = _with_keys(listed_items(first.detail("Keys")), first, plan)
    return plan.node(f"Aggregate {grouping}{results}", rows)


def _inlined(results: str, functions: Mapping[str, str]) -> str:
    """Return the results with functions in place of Spark's columns for them."""
    attributes = {}
    for attribute in functions:
        mark = MARK.search(attribute, max(attribute.rfind("#"), 0))
        if mark is None:
            raise UnreadablePlanError("a function has no column")
        attributes[mark[0]] = attribute
    parts, end = [], 0
    for mark in MARK.finditer(results):
        attribute = attributes.get(mark[0], "")
        begin = mark.end() - len(attribute)
        if attribute and begin >= end and results.startswith(attribute, begin):
            before, after = results[max(begin - 2, 0) : begin], results[mark.end() : mark.end() + 2]
            is_alone = before.endswith(("[", ", ")) and (after == ", " or mark.end() == len(results) - 1)
            name = f" AS result{mark[0]}" if is_alone else ""
            parts += [results[end:begin], functions[attribute], name]
            end = mark.end()
    return "".join([*parts, results[end:]])


def _parts(operator: Operator, functions: list[str]) -> list[Operator]:
    """Return the operators that compute parts of an aggregate, from the last to the first."""
    parts: list[Operator] = []
    # For DISTINCT, two more operators have no functions, or only some of them.
    of_distinct = 2 if any("(distinct " in function for function in functions) else 0
    below = _next(operator)
    while below is not None and functions:
        of_below = listed_items(below.detail("Functions"))
        is_part = any(_PART.match(function) for function in of_below)
        if not is_part and not (of_distinct and parts and not of_below):
            break
        if not of_below:
            of_distinct -= 1
        parts.append(below)
        below = _next(below)
    return parts


def _next(operator: Operator) -> Operator | None:
    """Return the aggregate whose rows an operator reads, directly or through an exchange."""
    while len(operator.children) == 1:
        (operator,) = operator.children
        if operator.name in AGGREGATES:
            return operator
        if operator.name not in _BETWEEN:
            break
    return None


def _with_filters(functions: list[str], parts: list[Operator]) -> list[str]:
    """Return the functions with their conditions, which are only in the first part of each."""
    partial = [
        function.removeprefix("partial_")
        for part in reversed(parts)
        for function in listed_items(part.detail("Functions"))
        if function.startswith("partial_")
    ]
    if not any(_FILTERED in function for function in partial):
        return functions
    if [function.partition(_FILTERED)[0] for function in partial] != functions:
        raise UnreadablePlanError("its functions with a condition could not be told apart")
    return partial


def in_python(operator: Operator, plan: Translation) -> Drawn:
    """`ArrowAggregatePython [a#1], [mean(b#2)#7], [a#1, mean(b#2)#7#8 AS mean#9], 202`."""
    keys, functions, results = _lists(plan.arguments(operator))
    of_results = f"[{', '.join(results)}]"
    columns = {}
    for function in functions:
        match = required(re.search(re.escape(function) + r"#\d+L?", of_results), "a function has no column")
        columns[match[0]] = function
    of_results = _inlined(of_results, columns)
    grouping = f"[{', '.join(_ALIAS.split(key)[-1] for key in keys)}], " if keys else ""
    return plan.node(f"Aggregate {grouping}{of_results}", _with_keys(keys, operator, plan))


def _with_keys(keys: list[str], operator: Operator, plan: Translation) -> Drawn:
    """Return the rows that an aggregate reads, with the keys that it computes."""
    computed = [key for key in keys if _ALIAS.search(key)]
    rows = plan.input(operator)
    if not computed:
        return rows
    # A key that normalizes a column may have the id of that column.
    ids = {_id_of(key) for key in computed}
    columns = [column for column in listed_items(operator.detail("Input")) if _id_of(column) not in ids]
    return plan.node(f"Project [{', '.join([*columns, *computed])}]", rows)


def _id_of(column: str) -> str:
    return column.rpartition("#")[2]


def _lists(arguments: str) -> list[list[str]]:
    """Return the first three lists of the arguments."""
    parts = split_outside(arguments, ", ")
    if len(parts) < 3 or not all(part.startswith("[") for part in parts[:3]):
        raise UnreadablePlanError("no lists")
    return [listed_items(part) for part in parts[:3]]
