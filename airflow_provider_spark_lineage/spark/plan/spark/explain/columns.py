"""The columns of one plan text: name and type of each expression id."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.spark.plan.database_sql.functions import Body
from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, is_tree

EXPRESSION = "org.apache.spark.sql.catalyst.expressions."

MARK = re.compile(r"#(\d+)(L?)(?:-T\d+ms)?")
"""The end of every reference to a column: its id, `L` for a bigint, and the delay of a watermark."""

_TYPED = re.compile(r": ")


class Columns:
    """All columns that a plan text defines."""

    def __init__(self, kinds: dict[int, types.Type] | None = None) -> None:
        self.names: dict[int, set[str]] = {}
        self.kinds: dict[int, types.Type] = {}
        self._printed = kinds or {}
        """Types by id from other places of the text."""

        self.is_open = False
        """A node was not understood, and may define unknown columns."""

        self.lost_ids: list[int] = []
        """Ids that the text uses but does not define, for nodes whose columns Spark does not print."""

        self.bodies: Mapping[str, Body] = {}
        """Name of an SQL function in the plan -> its body."""

    def define(self, expr_id: int, name: str, kind: types.Type | None = None, big: bool = False) -> None:
        """Add a column; `big` if the text marks it as a bigint."""
        self.names.setdefault(expr_id, set()).add(name)
        other_kind = "bigint" if big else self._printed.get(expr_id)
        if kind is None or (other_kind is not None and not types.is_known(kind)):
            kind = other_kind
        if expr_id not in self.kinds or kind is not None:
            self.kinds[expr_id] = types.unknown() if kind is None else kind

    def tree(self, expr_id: int, name: str = "") -> Tree:
        """Return a reference to a column."""
        return reference(expr_id, name or min(self.names.get(expr_id) or {""}), self.kinds.get(expr_id))

    def renumbered(self, expr_id: int, name: str, inputs: Iterable[int]) -> int:
        """Return the input behind an argument of a function whose id is not the id of an input.

        If a relation is read twice, Spark gives its columns new ids the second time, except in the original
        arguments of a replaced function (`RuntimeReplaceable`), which it prints. They are matched by name.
        """
        if self.is_open:
            return expr_id
        same = [
            other
            for other in inputs
            if name.lower() in (known.lower() for known in self.names.get(other, ()))
        ]
        return same[0] if len(same) == 1 else expr_id


def reference(expr_id: int, name: str, kind: types.Type | None) -> Tree:
    """Return the tree of a reference to a column."""
    node = {"class": EXPRESSION + "AttributeReference", "num-children": 0, "name": name}
    return [{**node, "exprId": {"id": expr_id}, **({} if kind is None else {"dataType": kind})}]


class Marks:
    """The places of ids in one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._all = list(MARK.finditer(text))
        self._starts = [mark.start() for mark in self._all]

    def after(self, position: int) -> Iterator[re.Match[str]]:
        """Yield the ids at or after a position."""
        for index in range(bisect_left(self._starts, position), len(self._all)):
            yield self._all[index]

    def column_at(self, position: int, columns: Columns) -> re.Match[str] | None:
        """Return the id of the column whose reference begins exactly here."""
        for count, mark in enumerate(self.after(position)):
            # A query may write a name in any case.
            name = self.text[position : mark.start()].lower()
            if any(name == known.lower() for known in columns.names.get(int(mark[1]), ())):
                return mark
            # A name that contains marks contains only a few.
            if count > 8:
                return None
        return None

    def references(self, start: int, end: int, columns: Columns) -> dict[int, None]:
        """Return the ids of known columns that are named between two positions."""
        ids: dict[int, None] = {}
        for mark in self.after(start):
            if mark.end() > end:
                break
            before = self.text[start : mark.start()].lower()
            if any(before.endswith(name.lower()) for name in columns.names.get(int(mark[1]), ())):
                ids[int(mark[1])] = None
        return ids


def definitions(text: str, separator: str) -> list[tuple[int, str, types.Type | None, bool]]:
    """Read a list of columns: id, name, type if the text has it, and whether it is marked as bigint.

    Names may contain any text, also the separator: an item ends with an id.
    """
    items: list[tuple[int, str, types.Type | None, bool]] = []
    begin = 0
    for mark in MARK.finditer(text):
        end, kind = mark.end(), None
        typed = _TYPED.match(text, end)
        if typed:
            try:
                kind, end = types.read_type(text, typed.end())
            except UnreadablePlanError:
                continue
        if mark.start() >= begin and (end == len(text) or text.startswith(separator, end)):
            items.append((int(mark[1]), text[begin : mark.start()], kind, bool(mark[2])))
            begin = end + len(separator)
    if begin < len(text):
        raise UnreadablePlanError(f"no list of columns at character {begin}")
    return items


def is_column(tree: Any) -> bool:
    """Return whether a tree is a reference to a column."""
    return is_tree(tree) and tree[0]["class"] == EXPRESSION + "AttributeReference"


def listed(
    text: str, position: int, separator: str = ", "
) -> tuple[list[tuple[int, str, types.Type | None, bool]], int]:
    """Read the list of columns in brackets at a position; return it with the position after it."""
    if not text.startswith("[", position):
        raise UnreadablePlanError(f"no list at character {position}")
    if text.startswith("]", position + 1):
        return [], position + 2
    for mark in MARK.finditer(text, position):
        end = text.find("]", mark.end())
        typed = _TYPED.match(text, mark.end())
        if end == mark.end() or (typed and end > 0 and types.whole_type(text[typed.end() : end]) is not None):
            return definitions(text[position + 1 : end], separator), end + 1
    raise UnreadablePlanError(f"a list without an end at character {position}")
