"""Evaluates a plan of the algebra: which fields of which scans each written column depends on, and how.

The cost is linear in nodes and columns: a node shares what passes through it with its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.plan.algebra import (
    IDENTITY,
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
    Member,
    Node,
    Opaque,
    Plan,
    Reference,
    Scan,
    Transformation,
    Write,
    united,
)

Origin = tuple[Scan, str, tuple[str, ...]]
"""A field of one scan, and which part of it where it is a struct: empty for all of it."""

Sources = frozenset[tuple[Origin, Transformation]]
"""Fields of scans, each with how it acts."""


@dataclass(frozen=True)
class Value:
    """What a column depends on, and where it is a struct or an array of structs, each of its fields."""

    whole: Sources = frozenset()
    parts: tuple[Value, ...] = ()
    """Empty where the fields are not known one by one."""

    def __or__(self, other: Value) -> Value:
        """Return what may be either of two values."""
        return _union((self, other))

    def after(self, step: Transformation) -> Value:
        """Return this value after one more step, which makes one thing of a struct."""
        return self if step == IDENTITY else Value(apply(step, self.whole))

    def part(self, path: Sequence[Member]) -> Value:
        """Return a field of a struct: what the whole depends on, where its fields are not known."""
        value = self
        for depth, (position, _) in enumerate(path):
            if position >= len(value.parts):
                names = tuple(name for _, name in path[depth:])
                return Value(frozenset(_inside(source, names) for source in value.whole))
            value = value.parts[position]
        return value


Scope = Mapping[int, Value]
"""Attribute id -> what it depends on, at one place of a plan."""

NOTHING = Value()

MAX_OPAQUE_EDGES = 250_000
"""Code over 5,000 columns that gives 5,000 would have 25 million edges: more than an event can carry."""


@dataclass(frozen=True)
class Hole:
    """A place of the plan that hides where columns come from."""

    label: str
    reason: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """One write with what its columns and its rows depend on."""

    write: Write
    columns: tuple[tuple[Attribute, Value], ...]
    rows: Sources
    scans: tuple[Scan, ...]
    holes: tuple[Hole, ...]


@dataclass
class Evaluation:
    """Everything a plan reads, and every write in it."""

    scans: list[Scan] = field(default_factory=list)
    writes: list[Written] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    output: list[tuple[Attribute, Value]] = field(default_factory=list)
    """The columns of the plan's result."""

    rows: Sources = frozenset()
    """What the rows of the plan's result depend on."""

    commands: list[Command] = field(default_factory=list)
    variables: dict[str, Sources] = field(default_factory=dict)
    """What the variables that the plan sets depend on."""

    declared: list[tuple[Declare, Sources]] = field(default_factory=list)
    """What the variables that the plan makes depend on; facts have their names."""


@dataclass
class _Reach:
    """What one part of a plan met on its way: scans, row influences, holes."""

    scans: dict[Scan, None] = field(default_factory=dict)
    rows: set[tuple[Origin, Transformation]] = field(default_factory=set)
    holes: dict[Hole, None] = field(default_factory=dict)
    """Each once: a plan may refer to a definition twice, and that to another twice, and so on."""

    def absorb(self, other: _Reach) -> None:
        """Take over another part with all that it met."""
        self.scans.update(other.scans)
        self.holes.update(other.holes)
        self.rows.update(other.rows)


def apply(step: Transformation, sources: Sources) -> Sources:
    """Return what sources become after one more step; the same object where that changes nothing."""
    return sources if step == IDENTITY else frozenset((origin, step.after(path)) for origin, path in sources)


def _inside(source: tuple[Origin, Transformation], names: tuple[str, ...]) -> tuple[Origin, Transformation]:
    """Return a part of a field that arrives as it was; of one that does not, the whole field."""
    (scan, field_name, outer), path = source
    if path.kind is Kind.IDENTITY and all(names):
        return (scan, field_name, (*outer, *names)), path
    return (scan, field_name, outer), Transformation(Kind.TRANSFORMATION).after(path)


@dataclass
class _Place:
    """Where in which plan the evaluation stands."""

    plan: Plan
    outer: Scope
    """What a correlated subquery can refer to."""

    reach: _Reach
    result: Evaluation
    inner: dict[tuple[Plan, int], tuple[Scope, _Reach, Scope]] = field(default_factory=dict)
    """Subqueries with the scope that they stand in: several expressions may hold the same one."""


def evaluate(plan: Plan) -> Evaluation:
    """Evaluate a whole plan."""
    result = Evaluation()
    ends = [position for position, node in enumerate(plan.nodes) if isinstance(node, Write)]
    # The writes of a multi-insert have nothing to do with each other. A reader puts the root last.
    plans = [Plan(plan.nodes[: end + 1], plan.definitions) for end in reversed(ends)] if ends[1:] else [plan]
    scans: dict[Scan, None] = {}
    for one in plans:
        reach, scope = _Evaluator().plan(one, {}, result)
        scans.update(reach.scans)
        result.holes.extend(reach.holes)
        result.rows |= frozenset(reach.rows)
        result.output = [(column, scope.get(column.id, NOTHING)) for column in one.root.output]
    result.scans = list(scans)
    return result


class _Evaluator:
    """Holds what is shared over a whole evaluation: CTE definitions, each evaluated once."""

    def __init__(self) -> None:
        self._definitions: dict[int, Plan] = {}
        self._evaluated: dict[int, tuple[_Reach, list[Value]]] = {}

    def plan(self, plan: Plan, outer: Scope, result: Evaluation | None = None) -> tuple[_Reach, Scope]:
        """Evaluate a plan; `outer` is what a correlated subquery can refer to.

        Writes and commands are put into `result`.
        """
        self._definitions.update(plan.definitions)
        place = _Place(plan, outer, _Reach(), result or Evaluation())
        scopes: dict[int, Scope] = {}
        # How often a node's scope is still needed, so that wide plans do not pile up in memory.
        wanted = _uses(plan)
        for position, node in enumerate(plan.nodes):
            if not wanted[position]:
                continue
            inputs = [scopes[index] for index in node.inputs]
            scopes[position] = self._node(node, inputs, place)
            for index in node.inputs:
                wanted[index] -= 1
                if not wanted[index]:
                    del scopes[index]
        return place.reach, scopes[len(plan.nodes) - 1]

    def _node(self, node: Node, inputs: list[Scope], place: _Place) -> Scope:
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

    def _set(self, node: Assign | Declare, inputs: list[Scope], place: _Place) -> Scope:
        if isinstance(node, Declare):
            place.result.declared.append((node, self._expression(node.value, {}, place, node).whole))
            return {}
        columns = place.plan.nodes[node.inputs[0]].output
        for name, column in zip(node.variables, columns, strict=False):
            value = inputs[0].get(column.id, NOTHING)
            place.result.variables[name] = value.whole.union(place.reach.rows)
        return {}

    def _write(self, node: Write, inputs: list[Scope], place: _Place) -> Scope:
        source = place.plan.nodes[node.inputs[0]].output if node.inputs else ()
        reach = place.reach
        if not inputs and not node.copied:
            reach.holes[Hole(node.label, "what it writes is not in the plan")] = None
        columns = tuple((column, inputs[0].get(column.id, NOTHING)) for column in source)
        place.result.writes.append(
            Written(node, columns, frozenset(reach.rows), tuple(reach.scans), tuple(reach.holes))
        )
        return {}

    def _opaque(self, node: Opaque, inputs: list[Scope], place: _Place) -> Scope:
        reach = place.reach
        # A scope may also hold columns that were projected away.
        columns = [
            (scope, column)
            for index, scope in zip(node.inputs, inputs, strict=True)
            for column in place.plan.nodes[index].output
        ]
        everything = _union(scope.get(column.id, NOTHING) for scope, column in columns).whole
        given = apply(Transformation(Kind.TRANSFORMATION), everything)
        reason = node.reason
        if len(given) * len(node.output) > MAX_OPAQUE_EDGES:
            reach.rows.update(given)
            given, reason = frozenset(), f"{reason}; these are too many, so they act on the output as a whole"
        # The code also decides which rows there are.
        reach.rows.update(apply(Transformation(Kind.FILTER), everything))
        self._influence(node, node.influences, _merged(inputs), place)
        reach.holes[Hole(node.label, reason, tuple(column.name for column in node.output))] = None
        return {column.id: Value(given) for column in node.output}

    def _derive(self, node: Derive, inputs: list[Scope], place: _Place) -> Scope:
        scope = _merged(inputs)
        if _are_ambiguous(node, inputs, place):
            reason = "columns of its inputs have the same id: which of them is meant is not known"
            place.reach.holes[Hole(node.label, reason)] = None
        self._influence(node, node.influences, scope, place)
        if node.reason:
            place.reach.holes[Hole(node.label, node.reason)] = None
        if not node.columns:
            return scope
        made = {
            key: _union(self._expression(one, scope, place, node) for one in expressions)
            for key, expressions in node.columns.items()
        }
        return {
            column.id: made[column.id] if column.id in made else scope.get(column.id, NOTHING)
            for column in node.output
        }

    def _influence(
        self, node: Node, influences: Iterable[tuple[Kind, Expression]], scope: Scope, place: _Place
    ) -> None:
        """Add what decides which rows a node gives to the influences of the whole plan."""
        for kind, expression in influences:
            tested = self._expression(expression, scope, place, node)
            place.reach.rows.update(apply(Transformation(kind), tested.whole))

    def _expression(self, expression: Expression, scope: Scope, place: _Place, node: Node) -> Value:
        reach = place.reach

        def column(attribute: int) -> Value:
            value = scope.get(attribute, place.outer.get(attribute))
            if value is None:
                reason = "a column that an expression uses is not among those it can see"
                reach.holes[Hole(node.label, reason)] = None
                return NOTHING
            return value

        found = [column(attribute).after(step) for attribute, step in expression.uses]
        found.extend(column(key).part(path).after(step) for key, path, step in expression.taken)
        for subquery in expression.subqueries:
            inner, values = self._subquery(subquery.plan, scope, place)
            reach.scans.update(inner.scans)
            reach.holes.update(inner.holes)
            if subquery.valued:
                columns = (values.get(column.id, NOTHING) for column in subquery.plan.root.output)
                found.extend(value.after(subquery.transformation) for value in columns)
            found.append(Value(apply(subquery.transformation, frozenset(inner.rows))))
        value = _union(found)
        parts = tuple(self._expression(part, scope, place, node) for part in expression.parts)
        return Value(value.whole, parts) if parts else value

    def _subquery(self, plan: Plan, scope: Scope, place: _Place) -> tuple[_Reach, Scope]:
        """Evaluate a subquery once for all that it stands for: doubled at each level, it would never end."""
        key = plan, id(scope)
        if key not in place.inner:
            # The scope is kept, so that its id stays its own.
            place.inner[key] = (scope, *self.plan(plan, {**place.outer, **scope}))
        _, inner, values = place.inner[key]
        return inner, values

    def _combine(self, node: Combine, inputs: list[Scope], place: _Place) -> Scope:
        columns_of = [
            [scope.get(column.id, NOTHING) for column in place.plan.nodes[index].output]
            for index, scope in zip(node.inputs, inputs, strict=True)
        ]
        if node.compared:
            for value in (value for columns in columns_of for value in columns):
                place.reach.rows.update(apply(Transformation(Kind.JOIN), value.whole))
        valued = columns_of if node.valued < 0 else columns_of[: node.valued]
        return {
            column.id: _union(columns[i] for columns in valued if i < len(columns))
            for i, column in enumerate(node.output)
        }

    def _reference(self, node: Reference, place: _Place) -> Scope:
        if node.definition not in self._evaluated:
            definition = self._definitions.get(node.definition)
            if definition is None:
                reason = "the definition that it refers to is not in the plan"
                names = tuple(column.name for column in node.output)
                place.reach.holes[Hole(node.label, reason, names)] = None
                return {column.id: NOTHING for column in node.output}
            # Until it is known, for a torn plan: only the reader's loops may refer to themselves.
            hole = Hole(node.label, "the definition that it refers to is made of itself")
            self._evaluated[node.definition] = (_Reach(holes={hole: None}), [])
            inner, scope = self.plan(definition, place.outer)
            values = [scope.get(column.id, NOTHING) for column in definition.root.output]
            self._evaluated[node.definition] = (inner, values)
        inner, values = self._evaluated[node.definition]
        place.reach.absorb(inner)
        return {column.id: value for column, value in zip(node.output, values, strict=False)}

    def _loop(self, node: Loop, inputs: list[Scope], place: _Place) -> Scope:
        """Repeat until another turn changes nothing: there are finitely many edges."""
        start = place.plan.nodes[node.inputs[0]].output
        values = [inputs[0].get(column.id, NOTHING) for column in start]
        inner = _Reach()
        before: list[Value] | None = None
        # What a definition inside of the recursion gives changes with each turn.
        evaluated = self._evaluated
        while node.plan is not None and values != before:
            before = values
            self._evaluated = {**evaluated, node.definition: (_Reach(), values)}
            inner, scope = self.plan(node.plan, place.outer)
            made = [scope.get(column.id, NOTHING) for column in node.plan.root.output]
            values = [old | new for old, new in zip(values, made, strict=False)]
        self._evaluated = evaluated
        place.reach.absorb(inner)
        return {column.id: value for column, value in zip(node.output, values, strict=False)}

    def _apply(self, node: Apply, inputs: list[Scope], place: _Place) -> Scope:
        scope = dict(inputs[0])
        if node.plan is not None:
            inner, values = self.plan(node.plan, {**place.outer, **scope})
            place.reach.absorb(inner)
            scope.update(values)
        self._influence(node, node.influences, scope, place)
        return scope


def _scan(node: Scan, place: _Place) -> Scope:
    place.reach.scans[node] = None
    return {
        column.id: NOTHING if column.id in node.hidden else field_of(node, column.name)
        for column in node.output
    }


def _command(node: Command, place: _Place) -> Scope:
    place.result.commands.append(node)
    if node.reason:
        place.reach.holes[Hole(node.label, node.reason)] = None
    return {}


def field_of(scan: Scan, name: str) -> Value:
    """Return a field of a scan as it is."""
    return Value(frozenset({((scan, name, ()), IDENTITY)}))


def _union(values: Iterable[Value]) -> Value:
    """Return what may be any of several values; a single one as it is, since most columns have only one."""
    found = list(values)
    if len(found) == 1:
        return found[0]
    whole = frozenset[tuple[Origin, Transformation]]().union(*(value.whole for value in found))
    # What depends on nothing may be a struct of any width: a null.
    return Value(whole, united((value.parts for value in found if value.whole), _union))


def _merged(scopes: list[Scope]) -> Scope:
    """Return the columns of all inputs; those of a single one without a copy."""
    if len(scopes) == 1:
        return scopes[0]
    return {key: value for scope in scopes for key, value in scope.items()}


def _are_ambiguous(node: Node, inputs: list[Scope], place: _Place) -> bool:
    """Return whether two inputs give different columns under one id: Spark renews the ids of one of them."""
    seen: dict[int, Sources] = {}
    for index, scope in zip(node.inputs, inputs, strict=True) if len(inputs) > 1 else ():
        for column in place.plan.nodes[index].output:
            sources = scope.get(column.id, NOTHING).whole
            if seen.setdefault(column.id, sources) != sources:
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
