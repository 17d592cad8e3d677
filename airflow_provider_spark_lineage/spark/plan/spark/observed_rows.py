"""Rows that a node `CollectMetrics` observed, on their way to the write: a table of the nodes above it.

A number that Spark observed is true of the written rows only if these are the observed ones. A node without a
row in the table may repeat, add or change rows, so nothing is known of what comes out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from airflow_provider_spark_lineage.spark.plan.spark.reader import inlined, read_plan
from airflow_provider_spark_lineage.spark.plan.spark.tree import (
    attribute_of,
    attributes,
    check,
    end_of,
    expanded,
    trees,
    type_name,
)
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, is_plan, simple_name

OBSERVATION = "CollectMetrics"
"""Class of the node that observes the rows of its child."""


_READ = "CTERelationRef"
_DEFINED = "ids of the definition"
"""Field of a node that reads a CTE for the ids of the definition's columns; Spark's have no spaces."""


class Rows(IntEnum):
    """The rows that are written, against the observed ones."""

    ALL = 0
    """Each observed row, once."""

    PART = 1
    """Some of the observed rows, and no others."""

    OTHER = 2
    """Rows may be repeated, added or changed."""


@dataclass(frozen=True)
class ObservedColumn:
    """An observed column where the rows are written."""

    name: str
    """Its name in the written rows."""

    first_name: str = ""
    """Its name where it was observed."""

    problem: str = ""
    """Why its values may be others there, one sentence; empty if they are the observed ones."""


@dataclass(frozen=True)
class ObservedRows:
    """Relation between the rows of one observation and the rows that are written."""

    rows: Rows
    reason: str = ""
    """The step that leaves out, adds or changes rows, one sentence; empty if all rows are written."""

    uses: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Observed number -> ids of the columns that it is computed from."""

    columns: Mapping[int, ObservedColumn] = field(default_factory=dict)
    """Id of such a column -> the column where the rows are written."""


def observed_rows(plans: Iterable[Tree], name: str, own_filters: int = 0) -> ObservedRows | None:
    """Return what becomes of the rows of an observation; None if no plan has it.

    `plans` are an execution's own plan and the plans that ran inside of it, in the form of a record. An inner
    one may have more steps, for example the casts of an insert; the innermost is the last. `own_filters` is
    the number of nodes `Filter` right above the observation that belong to it.
    """
    ways = [_followed(whole, name, own_filters) for plan in plans if _mentions(whole := expanded(plan), name)]
    if not ways:
        return None
    last = ways[-1]
    worst = max(ways, key=lambda each: each.rows)
    columns = {
        key: next((each.columns[key] for each in ways if each.columns[key].problem), column)
        for key, column in last.columns.items()
        if all(key in each.columns for each in ways)
    }
    return replace(last, rows=worst.rows, reason=worst.reason, columns=columns)


def _followed(plan: Tree, name: str, own_filters: int) -> ObservedRows:
    """Return what becomes of the rows in one plan."""
    tree = [*inlined(plan)]
    check(tree)
    times = sum(_observes(node, name) for node in _nodes(tree))
    starts = [at for at, node in enumerate(tree) if _observes(node, name)]
    if times > 1 or len(starts) != 1:
        reason = "the plan of the write has the checked frame several times"
        return ObservedRows(Rows.OTHER, reason if times > 1 else "the checked frame is inside of a subquery")
    uses: dict[str, frozenset[int]] = {}
    followed: dict[int, _Followed] = {}
    for metric in trees(tree[starts[0]].get("metrics")):
        used = {column.id: column.name for each in _all(metric) if (column := attribute_of([each]))}
        used.pop(int(metric[0]["exprId"]["id"]), None)
        uses[str(metric[0].get("name"))] = frozenset(used)
        followed.update({key: _Followed(key, written, written) for key, written in used.items()})
    result = ObservedRows(Rows.ALL, uses=uses)
    for node, child in _above(tree, starts[0]):
        kind = simple_name(str(node["class"]))
        if own_filters and kind == "Filter":
            own_filters -= 1
            continue
        own_filters = 0
        step = _step(kind, node)
        rows = _rows_of(kind, node, child)
        if rows > result.rows:
            result = replace(result, rows=rows, reason=f"{_REASONS[rows]} ({step})")
        followed = {key: each.through(kind, node, step) for key, each in followed.items()}
    columns = {
        key: ObservedColumn(each.name, each.first_name, each.problem) for key, each in followed.items()
    }
    return replace(result, columns=columns)


_REASONS = {
    Rows.PART: "after check(), rows may be left out",
    Rows.OTHER: "after check(), rows may be repeated, added or changed",
}


@dataclass(frozen=True)
class _Followed:
    """An observed column on its way to the write."""

    id: int
    name: str
    first_name: str
    problem: str = ""

    def through(self, kind: str, node: Mapping[str, Any], step: str) -> _Followed:
        """Return the column in what comes out of a node."""
        if self.problem:
            return self
        if kind == "Project":
            listed = trees(node.get("projectList"))
        elif kind == _READ:
            position = next((at for at, key in enumerate(node[_DEFINED]) if key == self.id), None)
            output = attributes(node.get("output"))
            if position is not None and len(output) == len(node[_DEFINED]):
                return replace(self, id=output[position].id)
            listed = []
        else:
            return self
        same = [column for tree in listed if _source(tree) == self.id and (column := attribute_of(tree))]
        names = [str(tree[0].get("name")).lower() for tree in listed]
        same.sort(key=lambda column: column.name.lower() != self.first_name.lower())
        # Under its first name there may be another column now.
        is_other = bool(same) and same[0].name.lower() != self.first_name.lower()
        if not same or (is_other and self.first_name.lower() in names):
            return replace(
                self, problem=f"after check(), `{self.first_name}` is changed or left out ({step})"
            )
        return replace(self, id=same[0].id, name=same[0].name)


def _source(tree: Tree) -> int | None:
    """Return the id of the column whose values a named expression has; None if it computes others."""
    below = tree[1:] if simple_name(str(tree[0]["class"])) == "Alias" else tree
    kinds = []
    for node in below:
        kind = simple_name(str(node["class"]))
        if kind == "Cast":
            kinds.append(type_name(node.get("dataType")))
        elif kind == "AttributeReference":
            types = [*kinds, type_name(node.get("dataType"))]
            # An insert into a narrower column fails if a value does not fit.
            is_checked = simple_name(str(below[0]["class"])) in _FAILS_IF_CHANGED
            is_same = all(map(_keeps_values, types[1:], types, [is_checked] * len(kinds)))
            column = attribute_of([node])
            return column.id if is_same and column else None
        elif kind not in _SAME_VALUE:
            return None
    return None


_FAILS_IF_CHANGED = frozenset({"CheckOverflowInTableInsert", "CheckOverflowInTableWrite"})
_SAME_VALUE = _FAILS_IF_CHANGED | {"AssertNotNull", "KnownNotNull", "KnownNullable"}
"""Functions of one argument that return it, or fail."""

_INTEGERS = ("tinyint", "smallint", "int", "bigint")


def _keeps_values(kind: str, wider: str, is_checked: bool) -> bool:
    """Return whether a cast from a type to another one keeps every value."""
    if kind in _INTEGERS and wider in _INTEGERS:
        return is_checked or _INTEGERS.index(kind) <= _INTEGERS.index(wider)
    return bool(kind) and kind == wider


def _each_once(node: Mapping[str, Any], child: int) -> Rows:
    return Rows.ALL


def _some(node: Mapping[str, Any], child: int) -> Rows:
    # The other input of INTERSECT and EXCEPT has rows of its own.
    return Rows.OTHER if child else Rows.PART


def _sampled(node: Mapping[str, Any], child: int) -> Rows:
    return Rows.PART if node.get("withReplacement") is False else Rows.OTHER


def _joined(node: Mapping[str, Any], child: int) -> Rows:
    kind = _join_type(node)
    if child == 0 and kind in ("LeftSemi", "LeftAnti"):
        return Rows.PART
    # It adds a column to each row of the left side.
    return Rows.ALL if child == 0 and kind == "ExistenceJoin" else Rows.OTHER


def _join_type(node: Mapping[str, Any]) -> str:
    kind = node.get("joinType")
    return simple_name(str(kind.get("object") or kind.get("product-class"))) if isinstance(kind, dict) else ""


NODES: dict[str, Callable[[Mapping[str, Any], int], Rows]] = {
    **dict.fromkeys(
        """
        ArrowEvalPython AttachDistributedSequence BatchEvalPython CTERelationDef CTERelationRef CollectMetrics
        DeltaInvariantChecker EventTimeWatermark LimitAll OrderAwareCoalesce PipeOperator Project
        RebalancePartitions Repartition RepartitionByExpression ResolvedHint ReturnAnswer Sort Subquery
        SubqueryAlias View Window WithCTE WriteFiles
        """.split(),
        _each_once,
    ),
    # Commands that write the rows of their query as they come.
    **dict.fromkeys(
        """
        AppendData CreateDataSourceTableAsSelectCommand CreateDeltaTableCommand CreateHiveTableAsSelectCommand
        CreateTableAsSelect DeltaDynamicPartitionOverwriteCommand InsertIntoDataSourceCommand
        InsertIntoDataSourceDirCommand InsertIntoHadoopFsRelationCommand InsertIntoHiveDirCommand
        InsertIntoHiveTable OverwriteByExpression OverwritePartitionsDynamic ReplaceTableAsSelect
        SaveAsV1TableCommand SaveIntoDataSourceCommand
        """.split(),
        _each_once,
    ),
    **dict.fromkeys(
        """
        Deduplicate DeduplicateWithinWatermark Distinct Except Filter GlobalLimit Intersect LocalLimit Offset
        Tail TypedFilter WindowGroupLimit
        """.split(),
        _some,
    ),
    "Join": _joined,
    "Sample": _sampled,
}
"""Simple class name -> what happens to the rows of one of a node's children, by the child's position."""


def _rows_of(kind: str, node: Mapping[str, Any], child: int) -> Rows:
    return NODES[kind](node, child) if kind in NODES else Rows.OTHER


def _step(kind: str, node: Mapping[str, Any]) -> str:
    """Return a node as Spark's plans show it, without expressions."""
    if kind == "Sample" and node.get("withReplacement") is not False:
        return "Sample with replacement"
    return f"{kind} {_join_type(node)}".strip()


def _above(tree: Tree, start: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield each node above one, up to the root, with the position of the child that leads to it.

    A CTE's rows go on at the one place that reads it; if there are several, the definition is the last node.
    """
    parents = _parents(tree)
    at = start
    seen = {start}
    while at:
        at, child = parents[at]
        if at in seen:
            return  # A damaged plan.
        seen.add(at)
        yield tree[at], child
        if simple_name(str(tree[at]["class"])) == "CTERelationDef":
            number = tree[at].get("id")
            reads = [place for place, node in enumerate(tree) if _reads(node, number)]
            if len(reads) != 1 or sum(_reads(node, number) for node in _nodes(tree)) != 1:
                yield {"class": "CTE that is read several times"}, 0
                return
            # The columns have other ids there.
            defined = [column.id for column in read_plan(tree[at + 1 : end_of(tree, at)]).root.output]
            at = reads[0]
            yield {**tree[at], _DEFINED: defined}, 0


def _parents(tree: Tree) -> list[tuple[int, int]]:
    """Return for each node of a tree the position of its parent, and its number among the children."""
    parents: list[tuple[int, int]] = []
    unfinished: list[tuple[int, int]] = []
    for at, node in enumerate(tree):
        parents.append((0, 0))
        if unfinished:
            parents[at] = unfinished.pop()
            above, child = parents[at]
            if child + 1 < tree[above]["num-children"]:
                unfinished.append((above, child + 1))
        if node["num-children"]:
            unfinished.append((at, 0))
    return parents


def _observes(node: Mapping[str, Any], name: str) -> bool:
    return simple_name(str(node.get("class"))) == OBSERVATION and node.get("name") == name


def _reads(node: Mapping[str, Any], number: Any) -> bool:
    return simple_name(str(node.get("class"))) == _READ and node.get("cteId") == number


def _nodes(tree: Tree) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a plan, and those in their expressions.

    A plan that is a field is below the command already, or a copy: `analyzedQuery` of AppendData.
    """
    for node in tree:
        yield node
        for value in node.values():
            if isinstance(value, (list, dict)) and not is_plan(value):
                yield from _all(value)


def _mentions(plan: Tree, name: str) -> int:
    """Return how often a plan has an observation, also in subqueries and in the fields of commands."""
    return sum(_observes(node, name) for node in _all(plan))


def _all(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every node in a JSON value, of plans and of expressions, however deep it is."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, list):
            waiting += current
        elif isinstance(current, dict):
            if "class" in current:
                yield current
            waiting += [item for item in current.values() if isinstance(item, (list, dict))]
