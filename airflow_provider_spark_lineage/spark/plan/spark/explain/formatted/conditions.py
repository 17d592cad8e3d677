"""Split of the conditions and lists in the text of a physical plan by their brackets."""

from __future__ import annotations

import re
from collections import Counter

from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import MARK
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.text import Formatted
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError

_NOT_NULL = re.compile(r"isnotnull\([^()]*#(\d+)L?\)")


def split_outside(text: str, separator: str) -> list[str]:
    """Split a text at each separator outside brackets; raise UnreadableError if brackets do not match."""
    parts, depth, begin = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            raise UnreadablePlanError("its brackets do not match")
        if depth == 0 and text.startswith(separator, index):
            parts.append(text[begin:index])
            begin = index + len(separator)
    if depth:
        raise UnreadablePlanError("its brackets do not match")
    return [*parts, text[begin:]]


def listed_items(text: str) -> list[str]:
    """Return the items of a list: `[a#1, sum(b#2)]`."""
    inside = text.strip()[1:-1]
    return split_outside(inside, ", ") if inside else []


def conjuncts(text: str) -> list[str]:
    """Return the parts of an AND; a text whose brackets do not match is one condition."""
    groups = _conjunctions(text)
    waiting, conditions = [(0, len(text))], []
    while waiting:
        begin, end = waiting.pop()
        close, ends = groups.get(begin, (0, []))
        if ends and close == end - 1:
            begins = [begin + 1, *(end_of_part + len(_AND) for end_of_part in ends)]
            waiting.extend(reversed(list(zip(begins, [*ends, close], strict=True))))
        else:
            conditions.append(text[begin:end])
    return conditions


def _conjunctions(text: str) -> dict[int, tuple[int, list[int]]]:
    """Return for each pair of brackets with AND right inside: opening -> (closing, each AND)."""
    groups: dict[int, tuple[int, list[int]]] = {}
    opened: list[tuple[int, list[int]]] = []
    for match in _BRACKET_OR_AND.finditer(text):
        if match[0] == _AND:
            if opened:
                opened[-1][1].append(match.start())
        elif match[0] in "([{":
            opened.append((match.start(), []))
        elif not opened:
            return {}
        else:
            begin, ends = opened.pop()
            groups[begin] = (match.start(), ends if text[begin] == "(" else [])
    return {} if opened else groups


_AND = " AND "
_BRACKET_OR_AND = re.compile(rf"[()\[\]{{}}]|{_AND}")


def conjunction(conditions: list[str], compared: frozenset[str]) -> str:
    """Return conditions joined by AND, without `isnotnull` that the optimizer adds for compared columns."""
    uses = Counter(
        column for condition in conditions for column in {mark[1] for mark in MARK.finditer(condition)}
    )
    needed = []
    for condition in conditions:
        match = _NOT_NULL.fullmatch(condition)
        if match is None or not (match[1] in compared or uses[match[1]] > 1):
            needed.append(condition)
    return needed[0] if len(needed) == 1 else f"({' AND '.join(needed)})" if needed else ""


_COPY = re.compile(r"#(\d+)L? AS [^,]*?#(\d+)L?(?=, |\]$)")
KEYS = ("Left keys", "Right keys")
"""Details of a join with the columns that it compares, by side."""


def compared_by_joins(formatted: Formatted) -> frozenset[str]:
    """Return the ids of the columns that joins compare, and of the columns that these copy."""
    details = [operator.details for operator in formatted.numbered.values()]
    texts = [of.get(key, "") for of in details for key in (*KEYS, "Join condition")]
    ids = {mark[1] for text in texts for mark in MARK.finditer(text)}
    copies = [match for of in details for match in _COPY.finditer(of.get("Output", ""))]
    for match in reversed(copies):
        if match[2] in ids:
            ids.add(match[1])
    return frozenset(ids)
