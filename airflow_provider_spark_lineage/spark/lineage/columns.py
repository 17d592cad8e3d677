"""Evaluation of a plan of the algebra: finds the fields of scans that each written column depends on.

The cost is linear in nodes and columns: a node shares unchanged columns with its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.lineage.values import (
    NOTHING,
    ColumnValue,
    Origin,
    Sources,
    apply,
    column_of,
    union,
)
from airflow_provider_spark_lineage.spark.plan.algebra import (
    Apply,
    Assign,
    Attribute,
    Combine,
    Command,
    Constant,
    Declare,
    Derive,
    Expression,
    Kind,
    Loop,
    Node,
    Opaque,
    Plan,
    Reference,
    Scan,
    Transformation,
    Write,
)

Scope = Mapping[int, ColumnValue]
"""Attribute id -> its sources, for the output of one node."""

MAX_OPAQUE_EDGES = 250_000
"""Limit: code over 5,000 columns that returns 5,000 would have 25 million edges."""


@dataclass(frozen=True)
class PlanGap:
    """A node of the plan at which the origin of columns is unknown."""

    label: str
    reason: Reason
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """One write with the sources of its columns and of its rows."""

    write: Write
    columns: tuple[tuple[Attribute, ColumnValue], ...]
    rows: Sources
    scans: tuple[Scan, ...]
    gaps: tuple[PlanGap, ...]


@dataclass
class Evaluation:
    """Everything a plan reads, and every write in it."""

    scans: list[Scan] = field(default_factory=list)
    writes: list[Written] = field(default_factory=list)
    gaps: list[PlanGap] = field(default_factory=list)
    output: list[tuple[Attribute, ColumnValue]] = field(default_factory=list)
    """The columns of the plan's result."""

    rows: Sources = frozenset()
    """The sources of the rows of the plan's result."""

    commands: list[Command] = field(default_factory=list)
    variables: dict[str, Sources] = field(default_factory=dict)
    """Name of a variable that the plan sets -> its sources."""

    declared: list[tuple[Declare, Sources]] = field(default_factory=list)
    """The declarations of variables with their sources; the names are in the facts."""


@dataclass
class _Reach:
    """The scans, the influences on rows and the gaps of one part of a plan."""

    scans: dict[Scan, None] = field(default_factory=dict)
    rows: set[tuple[Origin, Transformation]] = field(default_factory=set)
    gaps: dict[PlanGap, None] = field(default_factory=dict)
    """Without duplicates: a definition may be referenced several times, at each level."""

    def absorb(self, other: _Reach) -> None:
        """Add the scans, influences and gaps of another part."""
        self.scans.update(other.scans)
        self.gaps.update(other.gaps)
        self.rows.update(other.rows)


def evaluate(plan: Plan) -> Evaluation:
    """Evaluate a whole plan."""
    result = Evaluation()
    ends = [position for position, node in enumerate(plan.nodes) if isinstance(node, Write)]
    # The writes of a multi-insert are independent plans. A reader puts the root last.
    plans = [Plan(plan.nodes[: end + 1], plan.definitions) for end in reversed(ends)] if ends[1:] else [plan]
    scans: dict[Scan, None] = {}
    for each in plans:
        evaluator = _Evaluator(each, {}, result)
        evaluator.run()
        result.output = list(zip(each.root.output, evaluator.columns(), strict=True))
        scans.update(evaluator.reach.scans)
        result.gaps.extend(evaluator.reach.gaps)
        result.rows |= evaluator.reach.rows
    result.scans = list(scans)
    return result


@dataclass
class _Evaluator:
    """Evaluates one plan, and each CTE definition once."""

    plan: Plan
    outer: Scope
    """The attributes that a correlated subquery can refer to."""

    result: Evaluation = field(default_factory=Evaluation)
    """Receives writes, commands and variables."""

    definitions: dict[int, Plan] = field(default_factory=dict)
    evaluated: dict[int, tuple[_Reach, list[ColumnValue]]] = field(default_factory=dict)
    """Definition -> its reach and the values of its columns."""

    scopes: dict[int, tuple[Scope, Scope]] = field(default_factory=dict)
    """id of a scope -> the scope, stored so that its id is not reused, and what its subqueries refer to."""

    subqueries: dict[tuple[Plan, int], _Evaluator] = field(default_factory=dict)
    """(subquery, id of its scope) -> the result; several expressions may share a subquery."""

    reach: _Reach = field(default_factory=_Reach)
    scope: Scope = field(default_factory=dict)
    """The scope of the root, after `run`."""

    def run(self) -> None:
        """Evaluate the nodes in their order."""
        plan = self.plan
        self.definitions.update(plan.definitions)
        # Each refers to those before it: in this order, a chain of them needs no recursion.
        for definition in plan.definitions:
            self._define(definition, f"CTERelationDef {definition}")
        scopes: dict[int, Scope] = {}
        # How many nodes still read a node's scope; at zero it is freed, which bounds memory for wide plans.
        pending_uses = _uses(plan)
        for position, node in enumerate(plan.nodes):
            if not pending_uses[position]:
                continue
            scopes[position] = self._node(node, [scopes[index] for index in node.inputs])
            for index in node.inputs:
                pending_uses[index] -= 1
                if not pending_uses[index]:
                    del scopes[index]
        self.scope = scopes[len(plan.nodes) - 1]

    def columns(self) -> list[ColumnValue]:
        """Return the values of the root's columns."""
        return self._values(self.plan.root, self.scope)

    def _inside(
        self, plan: Plan, outer: Scope, evaluated: dict[int, tuple[_Reach, list[ColumnValue]]] | None = None
    ) -> _Evaluator:
        """Evaluate a plan that a node or an expression of this plan contains."""
        evaluated = self.evaluated if evaluated is None else evaluated
        inner = _Evaluator(plan, outer, definitions=self.definitions, evaluated=evaluated)
        inner.run()
        return inner

    def _node(self, node: Node, inputs: list[Scope]) -> Scope:
        match node:
            case Scan():
                self.reach.scans[node] = None
                return {
                    column.id: NOTHING if column.id in node.hidden else column_of(node, column.id)
                    for column in node.output
                }
            case Constant():
                return _nothing(node)
            case Opaque():
                return self._opaque(node, inputs)
            case Derive():
                return self._derive(node, inputs)
            case Combine():
                return self._combine(node, inputs)
            case Reference():
                return self._reference(node)
            case Loop():
                return self._loop(node, inputs)
            case Apply():
                return self._apply(node, inputs)
            case Command() | Declare() | Assign() | Write():
                self._effect(node, inputs)
                return {}
        raise TypeError(f"{type(node).__name__} is not a node of the algebra")

    def _effect(self, node: Command | Declare | Assign | Write, inputs: list[Scope]) -> None:
        """Add a node without rows to the result."""
        match node:
            case Command():
                self.result.commands.append(node)
                if node.reason:
                    self._gap(node, node.reason)
            case Declare():
                self.result.declared.append((node, self._expression(node.value, {}, node).whole))
            case Assign():
                for name, value in zip(node.variables, self._inputs(node, inputs)[0], strict=False):
                    self.result.variables[name] = value.whole.union(self.reach.rows)
            case Write():
                self._write(node, inputs)

    def _gap(self, node: Node, reason: Reason, columns: Iterable[Attribute] = ()) -> None:
        self.reach.gaps[PlanGap(node.label, reason, tuple(column.name for column in columns))] = None

    def _values(self, node: Node, scope: Scope) -> list[ColumnValue]:
        """Return the sources of each output column of a node; a column that is not in `scope` is a gap.

        A literal has no sources, but is in the scope like any column.
        """
        unknown = [column for column in node.output if column.id not in scope]
        if unknown:
            self._gap(node, of_plans.NOT_IN_PLAN(), unknown)
        return [scope.get(column.id, NOTHING) for column in node.output]

    def _inputs(self, node: Node, inputs: list[Scope]) -> list[list[ColumnValue]]:
        """Return the sources of the output columns of each input of a node."""
        nodes = (self.plan.nodes[index] for index in node.inputs)
        return [self._values(each, scope) for each, scope in zip(nodes, inputs, strict=True)]

    def _influence(self, node: Opaque | Derive | Apply, scope: Scope) -> None:
        """Add a node's influences on its rows to the influences of the whole plan."""
        for kind, expression in node.influences:
            tested = self._expression(expression, scope, node)
            self.reach.rows.update(apply(Transformation(kind), tested.whole))

    def _write(self, node: Write, inputs: list[Scope]) -> None:
        columns: tuple[tuple[Attribute, ColumnValue], ...] = ()
        if node.inputs:
            source = self.plan.nodes[node.inputs[0]]
            columns = tuple(zip(source.output, self._values(source, inputs[0]), strict=True))
        elif not node.copied:
            self._gap(node, of_plans.NO_QUERY())
        reach = self.reach
        self.result.writes.append(
            Written(node, columns, frozenset(reach.rows), tuple(reach.scans), tuple(reach.gaps))
        )

    def _opaque(self, node: Opaque, inputs: list[Scope]) -> Scope:
        # Only output columns: a scope may also have columns that were projected away.
        everything = union(chain.from_iterable(self._inputs(node, inputs))).whole
        transformed = apply(Transformation(Kind.TRANSFORMATION), everything)
        reason = node.reason or of_plans.EVERY_INPUT()
        if len(transformed) * len(node.output) > MAX_OPAQUE_EDGES:
            self.reach.rows.update(transformed)
            transformed = frozenset()
            reason = reason.reworded(of_plans.TOO_MANY_EDGES.format(reason=reason))
        # The code decides how many rows it returns, too.
        self.reach.rows.update(apply(Transformation(Kind.FILTER), everything))
        self._influence(node, _merged(inputs))
        self._gap(node, reason, node.output)
        return {column.id: ColumnValue(transformed) for column in node.output}

    def _derive(self, node: Derive, inputs: list[Scope]) -> Scope:
        scope = _merged(inputs)
        if self._are_ambiguous(node, inputs):
            self._gap(node, of_plans.SAME_IDS())
        self._influence(node, scope)
        if node.reason:
            self._gap(node, node.reason)
        if not node.columns:
            return scope
        computed = {
            key: union(self._expression(expression, scope, node) for expression in expressions)
            for key, expressions in node.columns.items()
        }
        # If both inputs of a join have a column with the same id, the computed column is used.
        return _scope(node, self._values(node, {**scope, **computed}))

    def _are_ambiguous(self, node: Node, inputs: list[Scope]) -> bool:
        """Return whether two inputs have different columns under one id, which Spark's analyzer excludes."""
        sources_by_id: dict[int, Sources] = {}
        for index, scope in zip(node.inputs, inputs, strict=True) if len(inputs) > 1 else ():
            for column in self.plan.nodes[index].output:
                sources = scope.get(column.id, NOTHING).whole
                if sources_by_id.setdefault(column.id, sources) != sources:
                    return True
        return False

    def _expression(self, expression: Expression, scope: Scope, node: Node) -> ColumnValue:
        def column(attribute: int) -> ColumnValue:
            value = scope.get(attribute, self.outer.get(attribute))
            if value is None:
                self._gap(node, of_plans.NO_SUCH_INPUT())
            return value or NOTHING

        used = [column(attribute).after(step) for attribute, step in expression.uses]
        used.extend(column(key).member(path).after(step) for key, path, step in expression.field_uses)
        for subquery in expression.subqueries:
            # Once for each scope: otherwise each level of nesting doubles the work.
            key = subquery.plan, id(scope)
            if key not in self.subqueries:
                self.subqueries[key] = self._inside(subquery.plan, self._with_outer(scope))
            inner = self.subqueries[key]
            columns = inner.columns() if subquery.valued else ()
            self.reach.scans.update(inner.reach.scans)
            self.reach.gaps.update(inner.reach.gaps)
            result = union(value.member(subquery.path) for value in columns)
            rows = apply(subquery.transformation, frozenset(inner.reach.rows))
            used.append(result.after(subquery.transformation).influenced(rows))
        value = union(used)
        members = tuple(self._expression(member, scope, node) for member in expression.members)
        return ColumnValue(value.whole, members) if members else value

    def _with_outer(self, scope: Scope) -> Scope:
        """Return a scope and the outer one together; one object for all subqueries of a scope."""
        if id(scope) not in self.scopes:
            self.scopes[id(scope)] = scope, {**self.outer, **scope}
        return self.scopes[id(scope)][1]

    def _combine(self, node: Combine, inputs: list[Scope]) -> Scope:
        columns_of = self._inputs(node, inputs)
        if node.compared:
            for value in chain.from_iterable(columns_of):
                self.reach.rows.update(apply(Transformation(Kind.JOIN), value.whole))
        valued = columns_of[:1] if node.compared else columns_of
        return {
            column.id: union(columns[i] for columns in valued if i < len(columns))
            for i, column in enumerate(node.output)
        }

    def _reference(self, node: Reference) -> Scope:
        self._define(node.definition, node.label)
        if node.definition not in self.evaluated:
            self._gap(node, of_plans.NO_DEFINITION(), node.output)
            return _nothing(node)
        reach, values = self.evaluated[node.definition]
        self.reach.absorb(reach)
        return _scope(node, values)

    def _define(self, definition: int, label: str) -> None:
        """Evaluate a definition of this plan or of a plan around it, once."""
        plan = self.definitions.get(definition)
        if plan is None or definition in self.evaluated:
            return
        # Used only if the definition refers to itself: a broken plan, since recursion is a `Loop`.
        gap = PlanGap(label, of_plans.OWN_DEFINITION())
        self.evaluated[definition] = (_Reach(gaps={gap: None}), [])
        inner = self._inside(plan, self.outer)
        self.evaluated[definition] = (inner.reach, inner.columns())

    def _loop(self, node: Loop, inputs: list[Scope]) -> Scope:
        """Repeat until nothing changes; this ends, because there are finitely many edges."""
        values = self._inputs(node, inputs)[0]
        reach = _Reach()
        last: list[ColumnValue] | None = None
        while node.plan is not None and values != last:
            last = values
            # Definitions inside the recursion are evaluated again in each turn.
            turn = self._inside(
                node.plan, self.outer, {**self.evaluated, node.definition: (_Reach(), values)}
            )
            values = [old | new for old, new in zip(values, turn.columns(), strict=False)]
            reach = turn.reach
        self.reach.absorb(reach)
        return _scope(node, values)

    def _apply(self, node: Apply, inputs: list[Scope]) -> Scope:
        scope = dict(inputs[0])
        if node.plan is not None:
            inner = self._inside(node.plan, {**self.outer, **scope})
            self.reach.absorb(inner.reach)
            scope.update(inner.scope)
        self._influence(node, scope)
        return scope


def _scope(node: Node, values: Iterable[ColumnValue]) -> Scope:
    return {column.id: value for column, value in zip(node.output, values, strict=False)}


def _nothing(node: Node) -> Scope:
    return {column.id: NOTHING for column in node.output}


def _merged(scopes: list[Scope]) -> Scope:
    """Return the columns of all inputs; a single scope is returned itself, not copied."""
    return scopes[0] if len(scopes) == 1 else {key: value for scope in scopes for key, value in scope.items()}


def _uses(plan: Plan) -> list[int]:
    """Return how many nodes read each node, counting only those that the root reaches."""
    uses = [0] * len(plan.nodes)
    uses[-1] = 1
    for position in range(len(plan.nodes) - 1, -1, -1):
        if uses[position]:
            for index in plan.nodes[position].inputs:
                uses[index] += 1
    return uses
