"""A small relational algebra: only the parts of a query plan that decide the origin of columns.

Readers translate their plans into it (Spark's plan JSON, for example); `lineage/` evaluates it. A plan is a
flat list of nodes, each after its inputs, so that neither a reader nor the evaluation recurses over deep
plans. The algebra is independent of datasets and of Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from typing import TypeVar

from airflow_provider_spark_lineage.spark.gaps.kinds import Reason


class Kind(Enum):
    """The action of a field on another; the value is OpenLineage's (type, subtype).

    Edges are listed in the order of the members. For the direct kinds the order is also their strength:
    the strongest kind along a path is the kind of the path.
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

    def __init__(self, directness: str, subtype: str) -> None:
        self.type, self.subtype = directness, subtype
        self.is_direct = directness == "DIRECT"
        """The value itself flows, not only its influence."""

        self.order = len(type(self).__members__)
        """Position in this class."""


@dataclass(frozen=True)
class Transformation:
    """One step, or a whole path, from one field to another."""

    kind: Kind
    masking: bool = False
    """The value cannot be read back from the result: a hash, or a count."""

    def after(self, inner: Transformation) -> Transformation:
        """Return the transformation of the path `inner` followed by this step."""
        return _compose(self, inner)


@cache  # At most 18 x 18 pairs.
def _compose(outer: Transformation, inner: Transformation) -> Transformation:
    masking = outer.masking or inner.masking
    if not outer.kind.is_direct:
        return Transformation(outer.kind, masking)
    if not inner.kind.is_direct:
        return Transformation(inner.kind, masking)
    return Transformation(max(outer.kind, inner.kind, key=lambda kind: kind.order), masking)


IDENTITY = Transformation(Kind.IDENTITY)


@dataclass(frozen=True)
class Attribute:
    """A column of a node's output; `id` is unique within the application that wrote the plan."""

    id: int
    name: str
    type: str = ""
    """Spark's simple string; empty if the plan does not have it."""


VARIABLE = -1
"""Id of the one column of a `Scan` of a variable."""

IMMEDIATE = "EXECUTE IMMEDIATE"
"""Relation of a `Scan` of a value in the text of this statement, which may be a variable's."""

PARAMETER = "parameter"
"""Name of the column of such a scan, if the value is in the place of a parameter."""

NO_NEW_DATA = "stream without new data"
"""Relation of a `Scan` in a batch of a stream that reads only rows that earlier batches kept in the state."""


Part = TypeVar("Part")
Use = TypeVar("Use")

Member = tuple[int, str]
"""Position of a field in a struct, and its name; the name is empty if the plan does not have it."""


PRESENCE: Member = (-1, "")
"""In the place of a field: whether the struct is null, or how many structs an array has."""


@dataclass(frozen=True)
class Subquery:
    """A plan inside an expression: its columns are the value, and its row influences act on the value."""

    plan: Plan
    transformation: Transformation
    valued: bool = True
    """False if only the number of its rows matters: EXISTS."""

    path: tuple[Member, ...] = ()
    """The used field of its value, if that is a struct; empty for the whole value."""

    def member(self, path: Iterable[Member]) -> Subquery:
        """Return the use of one field of the value that this uses."""
        return replace(self, path=(*self.path, *path))


@dataclass(frozen=True)
class Expression:
    """The dependencies of an expression: attributes and subqueries, each with how it acts."""

    uses: tuple[tuple[int, Transformation], ...] = ()
    subqueries: tuple[Subquery, ...] = ()
    field_uses: tuple[tuple[int, tuple[Member, ...], Transformation], ...] = ()
    """Single fields of struct attributes: the attribute, the path from the outside in, how the field acts."""

    members: tuple[Expression, ...] = ()
    """The dependencies of each field of a struct (or of an array's structs); empty if they are unknown."""

    def after(self, steps: Iterable[Transformation]) -> Expression:
        """Return this expression followed by steps; with several, each use is repeated for each step."""
        steps = tuple(steps)
        return Expression(
            tuple((key, step.after(path)) for key, path in self.uses for step in steps),
            tuple(
                replace(subquery, transformation=step.after(subquery.transformation))
                for subquery in self.subqueries
                for step in steps
            ),
            tuple((key, fields, step.after(path)) for key, fields, path in self.field_uses for step in steps),
            tuple(member.after(steps) for member in self.members),
        )

    def influenced(self, other: Expression) -> Expression:
        """Return this expression with another that acts on it as a whole, and therefore on each part."""
        return Expression(
            (*self.uses, *other.uses),
            (*self.subqueries, *other.subqueries),
            (*self.field_uses, *other.field_uses),
            tuple(member.influenced(other) for member in self.members),
        )

    def presence(self) -> Expression:
        """Return what decides whether a struct is null: not its fields, but what acts on all of them.

        A field that is read from another struct is null with that struct.
        """
        if not self.members:
            return self
        members = self.members
        uses = in_all([((use[0],), use) for use in member.uses] for member in members)
        fields = in_all([(use[:2], use) for use in member.field_uses] for member in members)
        subqueries = in_all(
            [((each.plan, each.path), each) for each in member.subqueries] for member in members
        )
        around = (
            (key, (*path[:-1], PRESENCE), step) for member in members for key, path, step in member.field_uses
        )
        outer = (
            replace(each, path=(*each.path[:-1], PRESENCE))
            for member in members
            for each in member.subqueries
            if each.path
        )
        return Expression(
            uses, tuple(dict.fromkeys((*subqueries, *outer))), tuple(dict.fromkeys((*fields, *around)))
        )


def in_all(parts: Iterable[Sequence[tuple[Hashable, Use]]]) -> tuple[Use, ...]:
    """Return the uses whose key is in every part, each once."""
    parts = list(parts)
    keys = set[Hashable].intersection(*({key for key, _ in uses} for uses in parts))
    return tuple(dict.fromkeys(use for uses in parts for key, use in uses if key in keys))


def union(expressions: Iterable[Expression]) -> Expression:
    """Merge expressions into one; the fields of structs are merged by position."""
    expressions = tuple(expressions)
    if len(expressions) == 1:
        return expressions[0]
    return Expression(
        tuple(use for expression in expressions for use in expression.uses),
        tuple(subquery for expression in expressions for subquery in expression.subqueries),
        tuple(use for expression in expressions for use in expression.field_uses),
        # An expression without dependencies is a null, which may be a struct of any width.
        united((expression.members for expression in expressions if expression != Expression()), union),
    )


def same(column: Attribute) -> Expression:
    """Return the expression of a column, unchanged."""
    return Expression(((column.id, IDENTITY),))


def united(structs: Iterable[Sequence[Part]], join: Callable[[Sequence[Part]], Part]) -> tuple[Part, ...]:
    """Merge structs by position; return no parts unless all structs have the same number of them."""
    structs = list(structs)
    if len({len(members) for members in structs}) != 1:
        return ()
    return tuple(join(members) for members in zip(*structs, strict=True))


@dataclass(frozen=True, eq=False)
class Node:
    """Base of the algebra: `inputs` are positions in the plan's node list, all before this node."""

    inputs: tuple[int, ...]
    output: tuple[Attribute, ...]
    label: str
    """For a person, for example `Filter#4`."""


@dataclass(frozen=True, eq=False)
class Scan(Node):
    """Rows from outside: a file, a table, the memory of a program."""

    relation: str = ""
    """The node's class in the plan; this and the id of the first attribute identify the scan's facts."""

    hidden: frozenset[int] = frozenset()
    """Ids of columns that describe a row and are in no dataset: the name of its file, for example."""


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """Rows that depend on no dataset: a literal relation, a range."""


@dataclass(frozen=True, eq=False)
class Opaque(Node):
    """Code over whole rows: every output column may depend on every input column."""

    reason: Reason | None = None
    influences: tuple[tuple[Kind, Expression], ...] = ()
    """The keys of code that runs once for each group."""


@dataclass(frozen=True, eq=False)
class Derive(Node):
    """Computes columns from columns of its inputs; an output column that is not computed passes through."""

    columns: Mapping[int, tuple[Expression, ...]] = field(default_factory=dict)
    """Attribute id -> the expressions that compute it; several if rows are multiplied (Expand)."""

    influences: tuple[tuple[Kind, Expression], ...] = ()
    """Expressions that decide which rows are in the output, and their order."""

    reason: Reason | None = None
    """Reason of a gap, for a node that the reader does not know; None otherwise."""


@dataclass(frozen=True, eq=False)
class Combine(Node):
    """Appends the rows of several inputs: column i comes from column i of each input."""

    compared: bool = False
    """Rows of all inputs are compared to decide which rows of the first stay: INTERSECT and EXCEPT."""


@dataclass(frozen=True, eq=False)
class Apply(Node):
    """Runs a plan for each row of its input; the plan may refer to that row: LATERAL."""

    plan: Plan | None = None
    influences: tuple[tuple[Kind, Expression], ...] = ()


@dataclass(frozen=True, eq=False)
class Reference(Node):
    """Reads a CTE that this plan or a plan around it defines: column i is the definition's column i."""

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
    """Effect of a command without a query on a table."""

    CREATED = "created"
    """Without rows."""

    REPLACED = "replaced"
    """Created without rows; an earlier table of the name was removed."""

    EMPTIED = "emptied"
    DROPPED = "dropped"
    """A table, or all tables of a database."""

    RENAMED = "renamed"
    ALTERED = "altered"
    """Its columns, its partitions or its location changed."""

    LOADED = "loaded"
    """Files were moved into it."""

    READ = "read"
    """Its rows were read, to count them for example."""


@dataclass(frozen=True, eq=False)
class Command(Node):
    """A command without a query in its plan; `change` is its effect on a table.

    The table's facts are the `target`-th facts of class `relation`.
    """

    relation: str = ""
    target: int = 0
    change: Change | None = None
    reason: Reason | None = None
    """Why its effect is unknown; None for a command that moves no rows."""


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
    """Writes its input's rows to a target; its facts are the `target`-th facts of class `relation`."""

    relation: str = ""
    target: int = 0
    partial: bool = False
    """It overwrites some of the rows and keeps the others."""

    partitions: tuple[str, ...] = ()
    """Names of the partition columns."""

    copied: bool = False
    """It copies the rows of another dataset; only the facts name it."""

    inserted: bool = False
    """It inserts the rows of a query, which may lack columns of the table."""

    table: tuple[Attribute, ...] = ()
    """The columns of the table that it inserts into, if the plan shows them."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A whole plan; the last node is its root.

    Nodes that the root does not reach are ignored.
    """

    nodes: tuple[Node, ...]
    definitions: Mapping[int, Plan] = field(default_factory=dict)
    """Definition -> plan that a `Reference` reads."""

    @property
    def root(self) -> Node:
        """Return the last node: its rows are the plan's result."""
        return self.nodes[-1]
