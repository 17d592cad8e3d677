"""Evaluation of a plan of the algebra: finds the fields of scans that each written column depends on.

The cost is linear in nodes and columns: a node shares unchanged columns with its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from airflow_provider_spark_lineage.lineage.values import (
    NOTHING,
    Origin,
    Sources,
    Value,
    apply,
    column_of,
    union,
)
from airflow_provider_spark_lineage.plan.algebra import (
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

Scope = Mapping[int, Value]
"""Attribute id -> its sources, for the output of one node."""

MAX_OPAQUE_EDGES = 250_000
"""Limit: code over 5,000 columns that returns 5,000 would have 25 million edges."""


@dataclass(frozen=True)
class PlanGap:
    """A node of the plan at which the origin of columns is unknown."""

    label: str
    reason: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """One write with the sources of its columns and of its rows."""

    write: Write
    columns: tuple[tuple[Attribute, Value], ...]
    rows: Sources
    scans: tuple[Scan, ...]
    gaps: tuple[PlanGap, ...]


@dataclass
class Evaluation:
    """Everything a plan reads, and every write in it."""

    scans: list[Scan] = field(default_factory=list)
    writes: list[Written] = field(default_factory=list)
    gaps: list[PlanGap] = field(default_factory=list)
    output: list[tuple[Attribute, Value]] = field(default_factory=list)
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


@dataclass
class _PlanContext:
    """State of the evaluation of one plan."""

    plan: Plan
    outer: Scope
    """The attributes that a correlated subquery can refer to."""

    reach: _Reach
    result: Evaluation
    inner: dict[tuple[Plan, int], tuple[Scope, _Reach, Scope]] = field(default_factory=dict)
    """(subquery, id of its scope) -> the scope and the result; several expressions may share a subquery."""


def evaluate(plan: Plan) -> Evaluation:
    """Evaluate a whole plan."""
    result = Evaluation()
    ends = [position for position, node in enumerate(plan.nodes) if isinstance(node, Write)]
    # The writes of a multi-insert are independent plans. A reader puts the root last.
    plans = [Plan(plan.nodes[: end + 1], plan.definitions) for end in reversed(ends)] if ends[1:] else [plan]
    scans: dict[Scan, None] = {}
    for part in plans:
        reach, scope = _Evaluator().plan(part, {}, result)
        scans.update(reach.scans)
        result.gaps.extend(reach.gaps)
        result.rows |= frozenset(reach.rows)
        outside = _PlanContext(part, {}, _Reach(), result)
        result.output = list(zip(part.root.output, _values(part.root, scope, outside), strict=True))
        result.gaps.extend(outside.reach.gaps)
    result.scans = list(scans)
    return result


class _Evaluator:
    """Evaluates plans, and each CTE definition once."""

    def __init__(self) -> None:
        self._definitions: dict[int, Plan] = {}
        self._evaluated: dict[int, tuple[_Reach, list[Value]]] = {}

    def plan(self, plan: Plan, outer: Scope, result: Evaluation | None = None) -> tuple[_Reach, Scope]:
        """Evaluate a plan; `outer` has the attributes that a correlated subquery can refer to.

        Writes and commands are put into `result`.
        """
        self._definitions.update(plan.definitions)
        place = _PlanContext(plan, outer, _Reach(), result or Evaluation())
        scopes: dict[int, Scope] = {}
        # How many nodes still read a node's scope; at zero it is freed, which bounds memory for wide plans.
        pending_uses = _uses(plan)
        for position, node in enumerate(plan.nodes):
            if not pending_uses[position]:
                continue
            inputs = [scopes[index] for index in node.inputs]
            scopes[position] = self._node(node, inputs, place)
            for index in node.inputs:
                pending_uses[index] -= 1
                if not pending_uses[index]:
                    del scopes[index]
        return place.reach, scopes[len(plan.nodes) - 1]

    def _node(self, node: Node, inputs: list[Scope], place: _PlanContext) -> Scope:
        match node:
            case Scan():
                return _scan(node, place)
            case Constant():
                return {column.id: NOTHING for column in node.output}
            case Opaque():
                return self._opaque(node, inputs, place)
            case Derive():
                return self._derive(node, inputs, place)
            case Combine():
                return self._combine(node, inputs, place)
            case Reference():
                return self._reference(node, place)
            case Loop():
                return self._loop(node, inputs, place)
            case Apply():
                return self._apply(node, inputs, place)
            case Command():
                return _command(node, place)
            case Assign() | Declare():
                return self._set(node, inputs, place)
            case Write():
                return self._write(node, inputs, place)
        raise TypeError(f"{type(node).__name__} is not a node of the algebra")

    def _set(self, node: Assign | Declare, inputs: list[Scope], place: _PlanContext) -> Scope:
        if isinstance(node, Declare):
            place.result.declared.append((node, self._expression(node.value, {}, place, node).whole))
            return {}
        values = _values(place.plan.nodes[node.inputs[0]], inputs[0], place)
        for name, value in zip(node.variables, values, strict=False):
            place.result.variables[name] = value.whole.union(place.reach.rows)
        return {}

    def _write(self, node: Write, inputs: list[Scope], place: _PlanContext) -> Scope:
        reach = place.reach
        columns: tuple[tuple[Attribute, Value], ...] = ()
        if node.inputs:
            source = place.plan.nodes[node.inputs[0]]
            columns = tuple(zip(source.output, _values(source, inputs[0], place), strict=True))
        elif not node.copied:
            reach.gaps[PlanGap(node.label, "its query is not in the plan")] = None
        place.result.writes.append(
            Written(node, columns, frozenset(reach.rows), tuple(reach.scans), tuple(reach.gaps))
        )
        return {}

    def _opaque(self, node: Opaque, inputs: list[Scope], place: _PlanContext) -> Scope:
        reach = place.reach
        # Only output columns: a scope may also have columns that were projected away.
        columns = (
            value
            for index, scope in zip(node.inputs, inputs, strict=True)
            for value in _values(place.plan.nodes[index], scope, place)
        )
        everything = union(columns).whole
        transformed = apply(Transformation(Kind.TRANSFORMATION), everything)
        reason = node.reason
        if len(transformed) * len(node.output) > MAX_OPAQUE_EDGES:
            reach.rows.update(transformed)
            transformed, reason = (
                frozenset(),
                f"{reason}; too many edges for single columns, so all act on the whole output",
            )
        # The code decides how many rows it returns, too.
        reach.rows.update(apply(Transformation(Kind.FILTER), everything))
        self._influence(node, node.influences, _merged(inputs), place)
        reach.gaps[PlanGap(node.label, reason, tuple(column.name for column in node.output))] = None
        return {column.id: Value(transformed) for column in node.output}

    def _derive(self, node: Derive, inputs: list[Scope], place: _PlanContext) -> Scope:
        scope = _merged(inputs)
        if _are_ambiguous(node, inputs, place):
            reason = "different columns of its inputs have the same id and could not be told apart"
            place.reach.gaps[PlanGap(node.label, reason)] = None
        self._influence(node, node.influences, scope, place)
        if node.reason:
            place.reach.gaps[PlanGap(node.label, node.reason)] = None
        if not node.columns:
            return scope
        computed = {
            key: union(self._expression(expression, scope, place, node) for expression in expressions)
            for key, expressions in node.columns.items()
        }
        # If both inputs of a join have a column with the same id, the computed column is used.
        return dict(
            zip(
                (column.id for column in node.output),
                _values(node, {**scope, **computed}, place),
                strict=True,
            )
        )

    def _influence(
        self, node: Node, influences: Iterable[tuple[Kind, Expression]], scope: Scope, place: _PlanContext
    ) -> None:
        """Add a node's influences on its rows to the influences of the whole plan."""
        for kind, expression in influences:
            tested = self._expression(expression, scope, place, node)
            place.reach.rows.update(apply(Transformation(kind), tested.whole))

    def _expression(self, expression: Expression, scope: Scope, place: _PlanContext, node: Node) -> Value:
        reach = place.reach

        def column(attribute: int) -> Value:
            value = scope.get(attribute, place.outer.get(attribute))
            if value is None:
                reason = "an expression uses a column that none of its inputs has"
                reach.gaps[PlanGap(node.label, reason)] = None
                return NOTHING
            return value

        used = [column(attribute).after(step) for attribute, step in expression.uses]
        used.extend(column(key).part(path).after(step) for key, path, step in expression.field_uses)
        for subquery in expression.subqueries:
            inner, values = self._subquery(subquery.plan, scope, place)
            reach.scans.update(inner.scans)
            reach.gaps.update(inner.gaps)
            columns = _values(subquery.plan.root, values, place) if subquery.valued else ()
            result = union(value.part(subquery.path) for value in columns)
            rows = apply(subquery.transformation, frozenset(inner.rows))
            used.append(result.after(subquery.transformation).influenced(rows))
        value = union(used)
        parts = tuple(self._expression(part, scope, place, node) for part in expression.parts)
        return Value(value.whole, parts) if parts else value

    def _subquery(self, plan: Plan, scope: Scope, place: _PlanContext) -> tuple[_Reach, Scope]:
        """Evaluate a subquery once for each scope; otherwise each level of nesting doubles the work."""
        key = plan, id(scope)
        if key not in place.inner:
            # The scope is stored so that its id is not reused.
            place.inner[key] = (scope, *self.plan(plan, {**place.outer, **scope}))
        _, inner, values = place.inner[key]
        return inner, values

    def _combine(self, node: Combine, inputs: list[Scope], place: _PlanContext) -> Scope:
        columns_of = [
            _values(place.plan.nodes[index], scope, place)
            for index, scope in zip(node.inputs, inputs, strict=True)
        ]
        if node.compared:
            for value in (value for columns in columns_of for value in columns):
                place.reach.rows.update(apply(Transformation(Kind.JOIN), value.whole))
        valued = columns_of[:1] if node.compared else columns_of
        return {
            column.id: union(columns[i] for columns in valued if i < len(columns))
            for i, column in enumerate(node.output)
        }

    def _reference(self, node: Reference, place: _PlanContext) -> Scope:
        if node.definition not in self._evaluated:
            definition = self._definitions.get(node.definition)
            if definition is None:
                reason = "its definition is not in the plan"
                names = tuple(column.name for column in node.output)
                place.reach.gaps[PlanGap(node.label, reason, names)] = None
                return {column.id: NOTHING for column in node.output}
            # Used only if the definition refers to itself: a broken plan, since recursion is a `Loop`.
            gap = PlanGap(node.label, "its definition refers to itself")
            self._evaluated[node.definition] = (_Reach(gaps={gap: None}), [])
            inner, scope = self.plan(definition, place.outer)
            values = _values(definition.root, scope, replace(place, reach=inner))
            self._evaluated[node.definition] = (inner, values)
        inner, values = self._evaluated[node.definition]
        place.reach.absorb(inner)
        return {column.id: value for column, value in zip(node.output, values, strict=False)}

    def _loop(self, node: Loop, inputs: list[Scope], place: _PlanContext) -> Scope:
        """Repeat until nothing changes; this ends, because there are finitely many edges."""
        values = _values(place.plan.nodes[node.inputs[0]], inputs[0], place)
        inner = _Reach()
        last: list[Value] | None = None
        # Definitions inside the recursion are evaluated again in each turn.
        evaluated = self._evaluated
        while node.plan is not None and values != last:
            last = values
            self._evaluated = {**evaluated, node.definition: (_Reach(), values)}
            inner, scope = self.plan(node.plan, place.outer)
            results = _values(node.plan.root, scope, replace(place, reach=inner))
            values = [old | new for old, new in zip(values, results, strict=False)]
        self._evaluated = evaluated
        place.reach.absorb(inner)
        return {column.id: value for column, value in zip(node.output, values, strict=False)}

    def _apply(self, node: Apply, inputs: list[Scope], place: _PlanContext) -> Scope:
        scope = dict(inputs[0])
        if node.plan is not None:
            inner, values = self.plan(node.plan, {**place.outer, **scope})
            place.reach.absorb(inner)
            scope.update(values)
        self._influence(node, node.influences, scope, place)
        return scope


def _values(node: Node, scope: Scope, place: _PlanContext) -> list[Value]:
    """Return the sources of each output column of a node; a column that is not in `scope` is a gap.

    A literal has no sources, but is in the scope like any column.
    """
    unknown = tuple(column.name for column in node.output if column.id not in scope)
    if unknown:
        place.reach.gaps[PlanGap(node.label, "the source of the values is not in the plan", unknown)] = None
    return [scope.get(column.id, NOTHING) for column in node.output]


def _scan(node: Scan, place: _PlanContext) -> Scope:
    place.reach.scans[node] = None
    return {
        column.id: NOTHING if column.id in node.hidden else column_of(node, column.id)
        for column in node.output
    }


def _command(node: Command, place: _PlanContext) -> Scope:
    place.result.commands.append(node)
    if node.reason:
        place.reach.gaps[PlanGap(node.label, node.reason)] = None
    return {}


def _merged(scopes: list[Scope]) -> Scope:
    """Return the columns of all inputs; a single scope is returned itself, not copied."""
    if len(scopes) == 1:
        return scopes[0]
    return {key: value for scope in scopes for key, value in scope.items()}


def _are_ambiguous(node: Node, inputs: list[Scope], place: _PlanContext) -> bool:
    """Return whether two inputs have different columns under one id, which Spark's analyzer excludes."""
    sources_by_id: dict[int, Sources] = {}
    for index, scope in zip(node.inputs, inputs, strict=True) if len(inputs) > 1 else ():
        for column in place.plan.nodes[index].output:
            sources = scope.get(column.id, NOTHING).whole
            if sources_by_id.setdefault(column.id, sources) != sources:
                return True
    return False


def _uses(plan: Plan) -> list[int]:
    """Return how many nodes read each node, counting only those that the root reaches."""
    uses = [0] * len(plan.nodes)
    uses[-1] = 1
    for position in range(len(plan.nodes) - 1, -1, -1):
        if uses[position]:
            for index in plan.nodes[position].inputs:
                uses[index] += 1
    return uses
