"""Translation of the operators of a `formatted` text to equivalent logical nodes, one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.conditions import conjunction
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.text import (
    SUBQUERY_NAME,
    Formatted,
    Operator,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import Drawn, UnreadablePlanError

NO_COLUMN = 10**12
"""The number of a scan without columns plus this is a column id: the key of its facts."""

MORE = re.compile(r"(?:, |^)\.\.\. \d+ more fields")
"""Spark's text in place of the rest of a long list."""

UNREAD = "Unread"
"""Prefix of the name of an operator that is not understood."""


@dataclass
class Translation:
    """The logical nodes of a text, operator by operator."""

    formatted: Formatted
    compared: frozenset[str]
    """Ids of the columns that joins compare."""

    row_of: Callable[[Operator], OperatorReader]
    problems: dict[Reason, str] = field(default_factory=dict)
    """Each thing that is not in the text -> the operator that it is about."""

    is_unread: bool = False
    """The effect of one of its commands is not in the text."""

    inside: list[Translation] = field(default_factory=list)
    """The plans of executions that this one ran."""

    done: dict[int, Drawn] = field(default_factory=dict)
    """`id()` of an operator -> its node."""

    def of(self, operator: Operator) -> Drawn:
        """Return the node of an operator that has already been translated."""
        return self.done[id(operator)]

    def input(self, operator: Operator) -> Drawn:
        """Return the node of the only input."""
        if len(operator.children) != 1:
            raise UnreadablePlanError(f"{operator.name} has {len(operator.children)} inputs")
        return self.of(operator.children[0])

    def arguments(self, operator: Operator) -> str:
        """Return the arguments of an operator; raise UnreadableError if Spark cut one of their lists."""
        arguments = operator.detail("Arguments")
        if MORE.search(arguments):
            cut = of_explained.CUT()
            self.problems[cut.reworded(f"{operator.name}: {cut}")] = operator.name
            raise UnreadablePlanError("its text was cut")
        return arguments

    def problem(self, operator: Operator, reason: Reason) -> None:
        """Add a missing detail of an operator."""
        reason = reason.reworded(of_explained.SET_MODE.format(reason=reason))
        self.problems[reason.reworded(f"{operator.name}: {reason}")] = operator.name

    def node(self, text: str, *children: Drawn) -> Drawn:
        """Return a node; the plans of the subqueries in its text are inside it."""
        inner = []
        for match in SUBQUERY_NAME.finditer(text):
            if match[1] not in self.formatted.subqueries:
                raise UnreadablePlanError(f"the plan of {match[1]} is not in the text")
            inner.append(self.translated(self.formatted.subqueries[match[1]]))
        return Drawn(SUBQUERY_NAME.sub(r"scalar-subquery#\2 []", text), 0, list(children), inner)

    def filtered(self, conditions: list[str], rows: Drawn) -> Drawn:
        """Return the rows that satisfy the conditions."""
        condition = conjunction(conditions, self.compared)
        return self.node(f"Filter {condition}", rows) if condition else rows

    def translated(self, root: Operator) -> Drawn:
        """Return the node of a plan's root."""
        for operator in reversed(list(root.below())):
            if id(operator) not in self.done:
                try:
                    self.done[id(operator)] = self.row_of(operator)(operator, self)
                except UnreadablePlanError:
                    self.done[id(operator)] = unread(operator, self)
        return self.of(root)


OperatorReader = Callable[[Operator, Translation], Drawn]
"""Returns the node of an operator; raises `UnreadablePlanError` if its details are not understood."""


def unread(operator: Operator, plan: Translation) -> Drawn:
    """Return the node of an operator that is not understood, with the columns that the text lists."""
    # A command has no rows, and therefore no columns.
    columns = (operator.gives or operator.details.get("Output", "")).partition("\n")[0]
    plan.is_unread |= not columns
    name = re.sub(r"\W", "", operator.name.removeprefix("Execute "))
    children = [plan.of(child) for child in operator.children]
    node = Drawn(f"{UNREAD}{name} {columns}", 0, children)
    return Drawn(f"Project {columns}", 0, [node]) if columns else node
