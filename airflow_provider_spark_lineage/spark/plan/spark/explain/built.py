"""One node of a drawn plan that is being converted to `TreeNode.toJSON`, with the context for its row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import Columns, listed
from airflow_provider_spark_lineage.spark.plan.spark.explain.expressions import ExplainReader
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import Drawn, UnreadablePlanError
from airflow_provider_spark_lineage.spark.records.plan_json import Tree

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."


@dataclass
class Built:
    """The tree of a node with all nodes below it, and the ids of its columns in order."""

    tree: Tree
    output: list[int]


@dataclass
class Relation:
    """A leaf that reads from outside and needs facts with its name."""

    node: str
    """Simple class name."""

    output: list[tuple[int, str]]
    text: str
    """Spark's text of the relation itself: a format, a name, a class."""

    table: str = ""
    """The name of its table with the catalog, as Spark prints it without quotes."""

    view: str = ""
    """The view that it is read through; a name means the same relation throughout a query."""

    is_stream: bool = False
    """It is the source of a stream: a batch reads the new files of its folder."""


@dataclass
class PlanState:
    """State shared by all nodes of one plan text."""

    columns: Columns
    settings: Mapping[str, str]
    relations: list[Relation] = field(default_factory=list)
    targets: list[dict[str, Any]] = field(default_factory=list)
    """Facts of the targets of writes, in the order of the plan."""

    is_analyzed: bool = False
    """It is an analyzed plan, which still has the functions that Spark replaces by others."""

    problems: dict[Reason, str] = field(default_factory=dict)
    """What could not be read -> the class of its node; empty if it is about the whole plan."""

    is_unread: bool = False
    """The text does not have the written rows of one of its commands."""

    scanned: frozenset[int] = frozenset()
    """Ids of the columns that physical scans read."""

    places: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Name of a table without quotes -> facts of its location, from a command."""

    foreign: dict[str, None] = field(default_factory=dict)
    """Names of functions that are not Spark's own."""

    definitions: dict[int, list[int]] = field(default_factory=dict)
    """Id of a CTE -> its columns."""

    loops: list[list[tuple[int, str]]] = field(default_factory=list)
    """Columns of the loops of recursive CTEs, from the other plans of the text."""

    views: dict[int, str] = field(default_factory=dict)
    """`id()` of a drawn node -> the view around it."""

    streamed: set[int] = field(default_factory=set)
    """`id()` of each drawn node that is the only input of a node of a stream."""


@dataclass
class NodeContext:
    """One node with the context for reading it; the nodes below it have already been read."""

    drawn: Drawn
    name: str
    text: str
    """The arguments."""

    children: list[Built]
    inner: list[Built]
    state: PlanState
    reader: ExplainReader = field(init=False)

    def __post_init__(self) -> None:
        kinds = self.columns.kinds
        plans = [(plan.tree, kinds.get(plan.output[0]) if plan.output else None) for plan in self.inner]
        inputs = self.below if self.state.is_analyzed else []
        self.reader = ExplainReader(self.text, self.columns, plans, inputs)

    @property
    def columns(self) -> Columns:
        """Return the columns of the text."""
        return self.state.columns

    @property
    def below(self) -> list[int]:
        """Return the columns of all children."""
        return [column for child in self.children for column in child.output]

    @property
    def first(self) -> list[int]:
        """Return the columns of the first child."""
        return self.children[0].output if self.children else []

    def built(self, output: list[int], name: str = "", /, **fields: Any) -> Built:
        """Return the node with its children; `name` is its class, if Spark prints another name."""
        node = {"class": _LOGICAL + (name or self.name), "num-children": len(self.children), **fields}
        return Built([node, *(part for child in self.children for part in child.tree)], output)

    def defined(self, position: int, separator: str = ", ") -> tuple[list[int], int]:
        """Define the columns in the list at a position; return their ids and the position after it."""
        items, end = listed(self.text, position, separator)
        for expr_id, name, kind, big in items:
            self.columns.define(expr_id, name, kind, big)
            self.reader.inputs[expr_id] = None
        return [item[0] for item in items], end

    def trees(self, ids: list[int]) -> list[Tree]:
        """Return references to columns."""
        return [self.columns.tree(expr_id) for expr_id in ids]

    def lists(self) -> list[list[int]]:
        """Return every list of columns among the arguments; new columns are defined."""
        lists = []
        position = self.text.find("[")
        while position >= 0:
            try:
                ids, end = self.defined(position)
                lists.append(ids)
            except UnreadablePlanError:
                end = position + 1
            position = self.text.find("[", end)
        return lists

    def problem(self, reason: Reason) -> None:
        """Add a problem with reading this node."""
        name = self.name.removeprefix("unread ")
        self.state.problems[reason.reworded(f"{name}: {reason}")] = name


def printed_types(texts: list[str]) -> dict[int, types.Type]:
    """Return types from `name#1: int`, by column id."""
    types_by_id: dict[int, types.Type] = {}
    for text in texts:
        start = 0
        while (colon := text.find(": ", start)) >= 0:
            start = colon + 2
            digits = colon
            while digits > 0 and text[digits - 1].isdigit():
                digits -= 1
            if digits == colon or text[digits - 1 : digits] != "#":
                continue
            try:
                types_by_id[int(text[digits:colon])] = types.read_type(text, start)[0]
            except UnreadablePlanError:
                continue
    return types_by_id


NodeReader = Callable[[NodeContext], Built]
"""Reads a node; raises `UnreadablePlanError` if its text is not understood."""
