"""Split of the `formatted` explain text into operators: the tree, and the details of each number.

This text is the default of `spark.sql.ui.explainMode`. It has only the physical plan. This module knows how
Spark prints operators (`ExplainUtils`); `operators` knows their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import (
    PHYSICAL,
    Drawn,
    UnreadablePlanError,
    draw,
    required,
)

_SUBQUERY = re.compile(r"^Subquery:\d+ Hosting operator id = \d+ Hosting Expression = (.*)$", re.MULTILINE)
SUBQUERY_NAME = re.compile(r"(?:Reused)?Subquery (?:Subquery )?(\S+#(\d+)), \[id=#\d+\]")
"""A subquery in an expression of the physical plan."""

_DETAILS = re.compile(r"\n\n+(?=\(\d+\) \S)")
_HEAD = re.compile(
    r"\((\d+)\) (.+?)(?: \[codegen id : \d+\])?(?: \[Reuses operator id: (\d+)\])? *", re.DOTALL
)
_DETAIL = re.compile(r"([A-Z][A-Za-z]+(?: [a-z0-9A-Z]+)*)(?: \[\d+\])? ?:(?: (.*))?")
_LINE = re.compile(
    r"(?:\* )?(.*?) *\((\d+)\)(?: \(columnarIn=\w+, columnarOut=\w+\))?(?:, Statistics\(.*\))?"
)
_INITIAL = "== Initial Plan =="


@dataclass
class Operator:
    """One physical operator, or one logical node inside a command."""

    number: str
    name: str
    """Its name in the details: `HashAggregate`, `Scan parquet db.t`, `Execute CreateViewCommand`."""

    details: dict[str, str]
    """`Output`, `Input`, `Condition`, ... as Spark prints them."""

    children: list[Operator] = field(default_factory=list)
    inner: list[Operator] = field(default_factory=list)
    """The query of a command, or the plan of a cached query."""

    above: str = ""
    """The name of the operator that reads its rows."""

    gives: str = ""
    """The list of its columns, if the operator above has the columns that it reads."""

    reuses: str = ""
    """The number of the exchange that it repeats."""

    def detail(self, name: str) -> str:
        """Return a detail; raise UnreadableError if the text does not have it."""
        if name not in self.details:
            raise UnreadablePlanError(f"{self.name} has no {name}")
        return self.details[name]

    def below(self) -> Iterator[Operator]:
        """Yield the operator and all operators below it, each before its children."""
        waiting = [self]
        while waiting:
            operator = waiting.pop()
            yield operator
            waiting.extend(reversed((*operator.inner, *operator.children)))


@dataclass
class Formatted:
    """A whole text."""

    root: Operator
    numbered: dict[str, Operator]
    subqueries: dict[str, Operator]
    """Spark's name of a subquery, `subquery#12`, -> its plan."""


def is_formatted(text: str) -> bool:
    """Return whether a text has the mode `formatted`."""
    return text.startswith(PHYSICAL + "\n") and re.search(r"^\(1\) \S", text, re.MULTILINE) is not None


def split(text: str) -> Formatted:
    """Split a text; raise `UnreadablePlanError` if a part of it is missing."""
    first, *others = _SUBQUERY.split(text.removeprefix(PHYSICAL + "\n").partition("\n\n===== Adaptively")[0])
    named = dict(zip(others[::2], others[1::2], strict=True))
    trees: dict[str, str] = {}
    operators: dict[str, Operator] = {}
    for name, part in (("", first), *named.items()):
        tree, *blocks = _DETAILS.split(part.rstrip().removesuffix("===== Subqueries =====").rstrip())
        for block in blocks:
            number, operator = _operator(block)
            if number in operators:
                raise UnreadablePlanError(f"there are two operators with the number {number}")
            operators[number] = operator
        match = SUBQUERY_NAME.match(name)
        if tree.strip() and (match or not name):
            trees.setdefault(match[1] if match else "", tree.strip("\n"))
    placed = {name: _placed(draw(_plain(tree)), operators) for name, tree in trees.items()}
    root = placed.pop("")
    return Formatted(root, operators, placed)


def _plain(tree: str) -> str:
    """Return a drawn tree without the marks of generated code."""
    return re.sub(r"^((?:   |:  )*(?:\+- |:- )?)\* ", r"\1", tree, flags=re.MULTILINE)


def _operator(block: str) -> tuple[str, Operator]:
    lines = block.split("\n")
    # The name of a query for a database may have several lines.
    first = next((n for n, line in enumerate(lines) if n and _DETAIL.fullmatch(line)), len(lines))
    head = required(_HEAD.fullmatch("\n".join(lines[:first]).rstrip()), "an operator has no number")
    details: dict[str, str] = {}
    last = ""
    for line in lines[first:]:
        match = _DETAIL.fullmatch(line)
        if match and match[1] in details:
            raise UnreadablePlanError(f"{head[2]} has {match[1]} twice")
        if match:
            last = match[1]
            details[last] = match[2] or ""
        else:
            # A literal may have several lines.
            details[last] += "\n" + line
    return head[1], Operator(head[1], head[2].strip(), details, reuses=head[3] or "")


def _placed(root: Drawn, operators: dict[str, Operator]) -> Operator:
    """Return the operator of a drawn tree, with the operators below it."""
    done: dict[int, Operator] = {}
    for node in reversed(list(root.below())):
        match = _LINE.fullmatch(node.text.rpartition("\n")[2])
        if not match or match[2] not in operators:
            raise UnreadablePlanError(f"an operator has no details: {node.text[:60]}")
        operator = operators[match[2]]
        operator.children = [done[id(child)] for child in _plans(node.children)]
        if len(operator.children) == 1 and "Input" in operator.details:
            operator.children[0].gives = operator.details["Input"]
        for child in operator.children:
            child.above = operator.name
        operator.inner = [done[id(child)] for child in node.inner]
        done[id(node)] = operator
    return done[id(root)]


def _plans(children: list[Drawn]) -> list[Drawn]:
    """Return the children; for an adaptive plan, the initial plan: later plans leave out empty parts."""
    initial = [child for child in children if child.text.startswith(_INITIAL)]
    return initial or children
