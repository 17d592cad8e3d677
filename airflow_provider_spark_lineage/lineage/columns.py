"""Evaluates a plan of the algebra: which fields of which scans each written column depends on, and how.

The cost is linear in nodes and columns: a node shares what passes through it with its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.plan.algebra import (
    IDENTITY,
    Apply,
    Attribute,
    Combine,
    Constant,
    Derive,
    Expression,
    Kind,
    Node,
    Opaque,
    Plan,
    Reference,
    Scan,
    Transformation,
    Write,
)

Origin = tuple[Scan, str]
"""A field of one scan."""

Sources = frozenset[tuple[Origin, Transformation]]
"""What a column depends on."""

Scope = Mapping[int, Sources]
"""Attribute id -> what it depends on, at one place of a plan."""

NOTHING: Sources = frozenset()


@dataclass(frozen=True)
class Hole:
    """A place of the plan that hides where columns come from."""

    label: str
    reason: str
    columns: tuple[str, ...] = ()


@dataclass
class Written:
    """One write with what its columns and its rows depend on."""

    write: Write
    columns: list[tuple[Attribute, Sources]]
    rows: Sources
    scans: list[Scan]
    holes: list[Hole]


@dataclass
class Evaluation:
    """Everything a plan reads, and every write in it."""

    scans: list[Scan] = field(default_factory=list)
    writes: list[Written] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    output: list[tuple[Attribute, Sources]] = field(default_factory=list)
    """The columns of the plan's result."""


@dataclass
class _Reach:
    """What one part of a plan met on its way: scans, row influences, holes."""

    scans: dict[Scan, None] = field(default_factory=dict)
    rows: set[tuple[Origin, Transformation]] = field(default_factory=set)
    holes: list[Hole] = field(default_factory=list)

    def absorb(self, other: _Reach, kind: Kind | None = None) -> None:
        """Take over another part; `kind` is what its row influences become, if they change."""
        self.scans.update(other.scans)
        self.holes.extend(other.holes)
        self.rows.update(other.rows if kind is None else apply(Transformation(kind), other.rows))


def apply(step: Transformation, sources: Iterable[tuple[Origin, Transformation]]) -> Sources:
    """Return what sources become after one more step."""
    return frozenset((origin, step.after(path)) for origin, path in sources)


def evaluate(plan: Plan) -> Evaluation:
    """Evaluate a whole plan."""
    evaluator = _Evaluator()
    result = Evaluation()
    reach, scope = evaluator.plan(plan, {}, result.writes)
    result.scans = list(reach.scans)
    result.holes = reach.holes
    result.output = [(column, scope.get(column.id, NOTHING)) for column in plan.root.output]
    return result


class _Evaluator:
    """Holds what is shared over a whole evaluation: CTE definitions, each evaluated once."""

    def __init__(self) -> None:
        self._definitions: dict[int, Plan] = {}
        self._evaluated: dict[int, tuple[_Reach, list[Sources]]] = {}

    def plan(self, plan: Plan, outer: Scope, writes: list[Written]) -> tuple[_Reach, Scope]:
        """Evaluate a plan; `outer` is what a correlated subquery can refer to."""
        self._definitions.update(plan.definitions)
        reach = _Reach()
        scopes: dict[int, Scope] = {}
        # How often a node's scope is still needed, so that wide plans do not pile up in memory.
        wanted = _uses(plan)
        for position, node in enumerate(plan.nodes):
            if not wanted[position]:
                continue
            inputs = [scopes[index] for index in node.inputs]
            scopes[position] = self._node(plan, node, inputs, outer, reach, writes)
            for index in node.inputs:
                wanted[index] -= 1
                if not wanted[index]:
                    del scopes[index]
        return reach, scopes[len(plan.nodes) - 1]

    def _node(
        self, plan: Plan, node: Node, inputs: list[Scope], outer: Scope, reach: _Reach, writes: list[Written]
    ) -> Scope:
        if isinstance(node, Scan):
            reach.scans[node] = None
            return {column.id: frozenset({((node, column.name), IDENTITY)}) for column in node.output}
        if isinstance(node, Constant):
            return {column.id: NOTHING for column in node.output}
        if isinstance(node, Opaque):
            return self._opaque(node, inputs, reach)
        if isinstance(node, Derive):
            return self._derive(node, inputs, outer, reach)
        if isinstance(node, Combine):
            return self._combine(plan, node, inputs, reach)
        if isinstance(node, Reference):
            return self._reference(node, outer, reach)
        if isinstance(node, Apply):
            return self._apply(node, inputs, outer, reach)
        if isinstance(node, Write):
            source = plan.nodes[node.inputs[0]].output
            columns = [(column, inputs[0].get(column.id, NOTHING)) for column in source]
            writes.append(Written(node, columns, frozenset(reach.rows), list(reach.scans), list(reach.holes)))
            return {}
        raise TypeError(f"{type(node).__name__} is not a node of the algebra")

    def _opaque(self, node: Opaque, inputs: list[Scope], reach: _Reach) -> Scope:
        everything = frozenset().union(*(sources for scope in inputs for sources in scope.values()))
        taken = apply(Transformation(Kind.TRANSFORMATION), everything)
        reach.holes.append(Hole(node.label, node.reason, tuple(column.name for column in node.output)))
        return {column.id: taken for column in node.output}

    def _derive(self, node: Derive, inputs: list[Scope], outer: Scope, reach: _Reach) -> Scope:
        if not inputs:
            scope: Scope = {}
        elif len(inputs) == 1:
            scope = inputs[0]
        else:
            scope = {key: value for one in inputs for key, value in one.items()}
        for kind, expression in node.influences:
            reach.rows.update(
                apply(Transformation(kind), self._expression(expression, scope, outer, reach, node))
            )
        if node.reason:
            reach.holes.append(Hole(node.label, node.reason))
        if not node.columns:
            return scope
        made = {
            key: frozenset().union(*(self._expression(one, scope, outer, reach, node) for one in expressions))
            for key, expressions in node.columns.items()
        }
        return {
            column.id: made[column.id] if column.id in made else scope.get(column.id, NOTHING)
            for column in node.output
        }

    def _expression(
        self, expression: Expression, scope: Scope, outer: Scope, reach: _Reach, node: Node
    ) -> Sources:
        parts = []
        for attribute, step in expression.uses:
            sources = scope.get(attribute, outer.get(attribute))
            if sources is None:
                reason = "a column that an expression uses is not among those it can see"
                reach.holes.append(Hole(node.label, reason))
                continue
            parts.append(sources if step == IDENTITY else apply(step, sources))
        for subquery in expression.subqueries:
            inner, values = self.plan(subquery.plan, {**outer, **scope}, [])
            reach.scans.update(inner.scans)
            reach.holes.extend(inner.holes)
            for sources in (*(values.get(c.id, NOTHING) for c in subquery.plan.root.output), inner.rows):
                parts.append(apply(subquery.transformation, sources))
        return parts[0] if len(parts) == 1 else frozenset().union(*parts)

    def _combine(self, plan: Plan, node: Combine, inputs: list[Scope], reach: _Reach) -> Scope:
        columns_of = [
            [scope.get(column.id, NOTHING) for column in plan.nodes[index].output]
            for index, scope in zip(node.inputs, inputs, strict=True)
        ]
        if node.compared:
            for sources in (sources for columns in columns_of for sources in columns):
                reach.rows.update(apply(Transformation(Kind.JOIN), sources))
        valued = columns_of if node.valued < 0 else columns_of[: node.valued]
        return {
            column.id: frozenset().union(*(columns[i] for columns in valued if i < len(columns)))
            for i, column in enumerate(node.output)
        }

    def _reference(self, node: Reference, outer: Scope, reach: _Reach) -> Scope:
        if node.definition not in self._evaluated:
            definition = self._definitions.get(node.definition)
            if definition is None:
                reach.holes.append(Hole(node.label, "the definition that it refers to is not in the plan"))
                return {column.id: NOTHING for column in node.output}
            inner, scope = self.plan(definition, outer, [])
            values = [scope.get(column.id, NOTHING) for column in definition.root.output]
            self._evaluated[node.definition] = (inner, values)
        inner, values = self._evaluated[node.definition]
        reach.absorb(inner)
        return {column.id: sources for column, sources in zip(node.output, values, strict=False)}

    def _apply(self, node: Apply, inputs: list[Scope], outer: Scope, reach: _Reach) -> Scope:
        scope = dict(inputs[0])
        if node.plan is not None:
            inner, values = self.plan(node.plan, {**outer, **scope}, [])
            reach.absorb(inner)
            scope.update(values)
        for kind, expression in node.influences:
            reach.rows.update(
                apply(Transformation(kind), self._expression(expression, scope, outer, reach, node))
            )
        return scope


def _uses(plan: Plan) -> list[int]:
    """Return how many nodes read each node, counting only those that the root reaches."""
    uses = [0] * len(plan.nodes)
    uses[-1] = 1
    for position in range(len(plan.nodes) - 1, -1, -1):
        if uses[position]:
            for index in plan.nodes[position].inputs:
                uses[index] += 1
    return uses
