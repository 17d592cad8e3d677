"""A small relational algebra: what of a query plan decides where columns come from, and nothing else.

Readers (Spark's plan JSON is the first) translate their plans into it; `lineage/` evaluates it. A plan
is a flat list of nodes in which every node comes after its inputs, so that neither a reader nor the
evaluation recurses over deep plans. Nothing here knows datasets or Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from typing import TypeVar


class Kind(Enum):
    """How a field acts on another; the value is OpenLineage's (type, subtype).

    The order of the members is the order in which edges are listed, and among the direct ones also
    their strength: along a path the strongest wins.
    """

    IDENTITY = ("DIRECT", "IDENTITY")
    TRANSFORMATION = ("DIRECT", "TRANSFORMATION")
    AGGREGATION = ("DIRECT", "AGGREGATION")
    FILTER = ("INDIRECT", "FILTER")
    JOIN = ("INDIRECT", "JOIN")
    GROUP_BY = ("INDIRECT", "GROUP_BY")
    SORT = ("INDIRECT", "SORT")
    WINDOW = ("INDIRECT", "WINDOW")
    CONDITIONAL = ("INDIRECT", "CONDITIONAL")

    @property
    def type(self) -> str:
        """Return `DIRECT` or `INDIRECT`."""
        return self.value[0]

    @property
    def subtype(self) -> str:
        """Return OpenLineage's name of the transformation's subtype."""
        return self.value[1]

    @property
    def direct(self) -> bool:
        """Return whether the value itself flows, not only its influence."""
        return self.value[0] == "DIRECT"

    @property
    def order(self) -> int:
        """Return the position in this class."""
        return _ORDER[self]


_ORDER = {kind: position for position, kind in enumerate(Kind)}


@dataclass(frozen=True)
class Transformation:
    """One step, or a whole path, from a field to another."""

    kind: Kind
    masking: bool = False
    """The value cannot be read back from the result: a hash, or a count."""

    def after(self, inner: Transformation) -> Transformation:
        """Return what this step makes of a path that already ends in `inner`."""
        return _compose(self, inner)


@cache  # At most 18 x 18 pairs.
def _compose(outer: Transformation, inner: Transformation) -> Transformation:
    masking = outer.masking or inner.masking
    if not outer.kind.direct:
        return Transformation(outer.kind, masking)
    if not inner.kind.direct:
        return Transformation(inner.kind, masking)
    return Transformation(max(outer.kind, inner.kind, key=lambda kind: kind.order), masking)


IDENTITY = Transformation(Kind.IDENTITY)


@dataclass(frozen=True)
class Attribute:
    """A column of a node's output; `id` is unique within the application that made the plan."""

    id: int
    name: str
    type: str = ""
    """Spark's simple string; empty where the plan does not say it."""


VARIABLE = -1
"""Id of the one column of a `Scan` of a variable."""

NO_NEW_DATA = "stream without new data"
"""Relation of a `Scan` in a batch of a stream whose rows are those that earlier batches kept in its state."""


Member = tuple[int, str]
"""Position of a field in a struct, and its name, which is empty where the plan does not say it."""


@dataclass(frozen=True)
class Subquery:
    """A plan inside an expression: its columns are the value, its row influences act on that value."""

    plan: Plan
    transformation: Transformation
    valued: bool = True
    """False where only the number of its rows matters: EXISTS."""

    path: tuple[Member, ...] = ()
    """The field of its value that is used, where that is a struct; empty for all of it."""

    def part(self, path: Iterable[Member]) -> Subquery:
        """Return the use of one field of what this uses."""
        return replace(self, path=(*self.path, *path))


@dataclass(frozen=True)
class Expression:
    """What an expression depends on: attributes and subqueries, each with how it acts."""

    uses: tuple[tuple[int, Transformation], ...] = ()
    subqueries: tuple[Subquery, ...] = ()
    field_uses: tuple[tuple[int, tuple[Member, ...], Transformation], ...] = ()
    """Single fields of struct attributes: the attribute, the path from the outside in, how the field acts."""

    parts: tuple[Expression, ...] = ()
    """What each field of a struct (or of an array's structs) depends on; empty where that is not known."""

    def after(self, steps: Iterable[Transformation]) -> Expression:
        """Return this expression with more steps behind it, side by side where there are several."""
        steps = tuple(steps)
        return Expression(
            tuple((key, step.after(path)) for key, path in self.uses for step in steps),
            tuple(
                replace(subquery, transformation=step.after(subquery.transformation))
                for subquery in self.subqueries
                for step in steps
            ),
            tuple((key, fields, step.after(path)) for key, fields, path in self.field_uses for step in steps),
            tuple(part.after(steps) for part in self.parts),
        )

    def influenced(self, other: Expression) -> Expression:
        """Return this expression where another one acts on it as a whole, and so on each of its parts."""
        return Expression(
            (*self.uses, *other.uses),
            (*self.subqueries, *other.subqueries),
            (*self.field_uses, *other.field_uses),
            tuple(part.influenced(other) for part in self.parts),
        )


def union(expressions: Iterable[Expression]) -> Expression:
    """Merge expressions into one; where each may be the struct, the parts are merged by position."""
    expressions = tuple(expressions)
    if len(expressions) == 1:
        return expressions[0]
    return Expression(
        tuple(use for expression in expressions for use in expression.uses),
        tuple(subquery for expression in expressions for subquery in expression.subqueries),
        tuple(use for expression in expressions for use in expression.field_uses),
        # An expression that depends on nothing is a null, which may be a struct of any width.
        united((expression.parts for expression in expressions if expression != Expression()), union),
    )


Part = TypeVar("Part")


def united(structs: Iterable[Sequence[Part]], join: Callable[[Sequence[Part]], Part]) -> tuple[Part, ...]:
    """Merge structs by position; return no parts unless all structs have the same number of them."""
    structs = list(structs)
    if len({len(parts) for parts in structs}) != 1:
        return ()
    return tuple(join(parts) for parts in zip(*structs, strict=True))


@dataclass(frozen=True, eq=False)
class Node:
    """Base of the algebra: `inputs` are positions in the plan's node list, all before this node."""

    inputs: tuple[int, ...]
    output: tuple[Attribute, ...]
    label: str
    """For a person, for example `Filter#4`."""


@dataclass(frozen=True, eq=False)
class Scan(Node):
    """Rows that come from outside: a file, a table, the memory of a program."""

    relation: str = ""
    """The node's class in the plan; this and the id of the first attribute identify the scan's facts."""

    hidden: frozenset[int] = frozenset()
    """Ids of columns that no dataset has because they describe the row: the name of its file, for example."""


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """Rows that depend on no dataset: a literal relation, a range."""


@dataclass(frozen=True, eq=False)
class Opaque(Node):
    """Code over whole rows: every output column may depend on every input column."""

    reason: str = ""
    influences: tuple[tuple[Kind, Expression], ...] = ()
    """The keys of code that runs once for each group."""


@dataclass(frozen=True, eq=False)
class Derive(Node):
    """Computes columns from those of its inputs; an output column that is not computed passes through."""

    columns: Mapping[int, tuple[Expression, ...]] = field(default_factory=dict)
    """Attribute id -> the expressions that give it; several where rows are multiplied (Expand)."""

    influences: tuple[tuple[Kind, Expression], ...] = ()
    """Expressions that decide which rows there are, and in what order."""

    reason: str = ""
    """Why this node is a gap, for a node that the reader does not know; empty otherwise."""


@dataclass(frozen=True, eq=False)
class Combine(Node):
    """Appends the rows of several inputs: column i comes from column i of each input."""

    valued: int = -1
    """How many inputs give values (INTERSECT and EXCEPT: the first alone); -1 is all."""

    compared: bool = False
    """Rows of all inputs are compared to decide which stay."""


@dataclass(frozen=True, eq=False)
class Apply(Node):
    """Runs a plan for each row of its input; the plan may refer to that row: LATERAL."""

    plan: Plan | None = None
    influences: tuple[tuple[Kind, Expression], ...] = ()


@dataclass(frozen=True, eq=False)
class Reference(Node):
    """Reads a CTE, defined in this plan or in one around it: column i is the definition's column i."""

    definition: int = -1
    """Key in `Plan.definitions`."""


@dataclass(frozen=True, eq=False)
class Loop(Node):
    """A recursive CTE: starts with the rows of its input, then runs `plan` on the rows so far, repeatedly.

    Inside `plan`, a `Reference` to `definition` reads the rows so far.
    """

    plan: Plan | None = None
    definition: int = -1


class Change(Enum):
    """What a command does to a table without a query."""

    CREATED = "created"
    """Without rows."""

    REPLACED = "replaced"
    """Created without rows; a table that existed under the name is gone."""

    EMPTIED = "emptied"
    DROPPED = "dropped"
    """A table, or all tables of a database."""

    RENAMED = "renamed"
    ALTERED = "altered"
    """Its columns, its partitions or its place changed."""

    LOADED = "loaded"
    """Files were moved into it."""

    READ = "read"
    """Its rows were read, to count them for example."""


@dataclass(frozen=True, eq=False)
class Command(Node):
    """A command whose plan shows no query; `change` is what it does to a table.

    The table's facts are the `target`-th of class `relation`.
    """

    relation: str = ""
    target: int = 0
    change: Change | None = None
    reason: str = ""
    """Why its effect is not known; empty for a command that moves no rows."""


@dataclass(frozen=True, eq=False)
class Assign(Node):
    """Sets session variables to its input's columns; later executions may use them."""

    variables: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Declare(Node):
    """Creates variables with one value; the `target`-th facts of class `relation` have their names."""

    value: Expression = Expression()
    relation: str = ""
    target: int = 0


@dataclass(frozen=True, eq=False)
class Write(Node):
    """Writes its input's rows to the target whose facts are the `target`-th of class `relation`."""

    relation: str = ""
    target: int = 0
    partial: bool = False
    """It overwrites some of the rows and keeps the others."""

    partitions: tuple[str, ...] = ()
    """Names of the partition columns."""

    copied: bool = False
    """It copies the rows of another dataset, which the facts name and the plan does not."""

    inserted: bool = False
    """It inserts the rows of a query, which may lack columns of the table."""

    table: tuple[Attribute, ...] = ()
    """The columns of the table that it inserts into, where the plan shows them."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A whole plan; the last node is its root.

    Nodes that the root does not reach are ignored.
    """

    nodes: tuple[Node, ...]
    definitions: Mapping[int, Plan] = field(default_factory=dict)
    """Plans that are evaluated where a `Reference` names them."""

    @property
    def root(self) -> Node:
        """Return the node that gives the plan's result."""
        return self.nodes[-1]
