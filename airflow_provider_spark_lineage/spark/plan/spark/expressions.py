"""Spark's expressions: the table of how each uses its children, and the function that reads with it.

An expression without a row is a TRANSFORMATION of its children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_provider_spark_lineage.spark.plan.algebra import (
    IMMEDIATE,
    PARAMETER,
    VARIABLE,
    Attribute,
    Expression,
    Plan,
    Scan,
    Subquery,
    Transformation,
    union,
)
from airflow_provider_spark_lineage.spark.plan.spark.lambdas import (
    FUNCTIONS,
    read_function,
    substituted,
    variables_of,
)
from airflow_provider_spark_lineage.spark.plan.spark.struct_updates import read_update
from airflow_provider_spark_lineage.spark.plan.spark.structs import (
    FIELD_ACCESS,
    UPDATE,
    is_computed,
    member_of,
    members_of,
    presence_of,
)
from airflow_provider_spark_lineage.spark.plan.spark.tree import end_of
from airflow_provider_spark_lineage.spark.plan.steps import (
    AGGREGATED,
    COUNTED,
    FILTER,
    MASKED,
    NOTHING,
    SAME,
    SORT,
    TESTED,
    TESTED_AND_CHOSEN,
    VALUE,
    WINDOW,
    Steps,
    composed,
    ordered,
)
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, is_plan, simple_name

Rule = Callable[[Tree, int], list[Steps]]
"""(pre-order node list, position of the expression) -> the steps of each of its children."""


def _count(tree: Tree, position: int) -> int:
    return int(tree[position]["num-children"])


def _name(steps: Steps) -> str:
    """Return the names of steps as the golden texts print them."""
    ordered = sorted(steps, key=lambda step: step.kind.order)
    named = (step.kind.subtype.lower() + (" masking" if step.masking else "") for step in ordered)
    return " and ".join(named) or "nothing"


def _all(steps: Steps) -> Rule:
    def rule(tree: Tree, position: int) -> list[Steps]:
        return [steps] * _count(tree, position)

    rule.__doc__ = f"every child: {_name(steps)}"
    return rule


def _first_then(first: Steps, others: Steps, number: int = 1) -> Rule:
    """Return a rule for expressions whose first `number` children act differently from the others."""

    def rule(tree: Tree, position: int) -> list[Steps]:
        count = _count(tree, position)
        return [*[first] * number, *[others] * count][:count]

    which = "the first child" if number == 1 else f"the first {number} children"
    rule.__doc__ = f"{which}: {_name(first)}; the others: {_name(others)}"
    return rule


def _all_but_last(steps: Steps, last: Steps) -> Rule:
    def rule(tree: Tree, position: int) -> list[Steps]:
        return [*[steps] * (_count(tree, position) - 1), last]

    rule.__doc__ = f"the last child: {_name(last)}; the others: {_name(steps)}"
    return rule


def _cast(tree: Tree, position: int) -> list[Steps]:
    """the child: identity if the cast is to its own type, as in each view, else transformation"""
    child = tree[position + 1]
    unchanged = "dataType" in child and child["dataType"] == tree[position].get("dataType")
    return [SAME if unchanged else VALUE]


def _if(tree: Tree, position: int) -> list[Steps]:
    """the first child: conditional; the others: transformation. If both are the same column: only identity"""
    chosen = end_of(tree, position + 1)
    alternative = end_of(tree, chosen)
    branch = tree[chosen:alternative]
    # Records of other expressions are not complete: the literals 1 and 2 look the same.
    is_column = all(simple_name(node["class"]) in _WRITTEN_IN_FULL for node in branch)
    # Nodes count their children, so the end of the last child, which may be long, need not be searched.
    is_same = is_column and branch == tree[alternative : alternative + len(branch)]
    return [NOTHING, SAME, SAME] if is_same else [TESTED, VALUE, VALUE]


_WRITTEN_IN_FULL = frozenset({"AttributeReference", "GetStructField"})
"""Expressions that are equal if their records are equal."""


def _case_when(tree: Tree, position: int) -> list[Steps]:
    """each WHEN: conditional; each THEN and the ELSE: transformation"""
    count = _count(tree, position)
    return [TESTED if index % 2 == 0 and index + 1 < count else VALUE for index in range(count)]


EXPRESSIONS: dict[str, Rule] = {
    # The value, unchanged. SQLScalarFunction is the body of an SQL function, which contains its arguments;
    # TranspiledPythonUDF is a Python function that Spark can write as expressions: the function, and these.
    **dict.fromkeys(
        """
        Alias SortOrder KnownNullable KnownNotNull NormalizeNaNAndZero KnownNotContainsNull
        KnownFloatingPointNormalized AssertNotNull CheckOverflowInTableInsert UpCast TryEval
        NamedArgumentExpression PipeExpression Measure With CommonExpressionDef SQLScalarFunction
        TranspiledPythonUDF
        """.split(),
        _all(SAME),
    ),
    "Collate": _first_then(SAME, NOTHING),
    # When Spark runs, it replaces these by other expressions, which are their only child.
    **dict.fromkeys(
        """
        AssertTrue Between DatetimeSub Decode EqualNull Extract NullIf NullIfZero Nvl Nvl2 StringTrimBoth
        TryAdd TryAesDecrypt TryDivide TryElementAt TryMakeInterval TryMakeTimestamp
        TryMakeTimestampFromDateTime TryMod TryMultiply TryParseUrl TryReflect TrySubtract TryToBinary
        TryUrlDecode ZeroIfNull
        """.split(),
        _all(SAME),
    ),
    # The type of a column, independent of its values.
    **dict.fromkeys(("TypeOf", "Collation"), _all(NOTHING)),
    "Cast": _cast,
    # Tests, and the values that they choose from.
    "If": _if,
    "NullIfResult": _first_then(TESTED, VALUE),
    "TypedNullLiteral": _all(NOTHING),
    "CaseWhen": _case_when,
    "Coalesce": _all_but_last(TESTED_AND_CHOSEN, VALUE),
    "NaNvl": _first_then(TESTED_AND_CHOSEN, VALUE),
    # Aggregates; FILTER (WHERE ...) is the second child.
    "AggregateExpression": _first_then(AGGREGATED, FILTER),
    **dict.fromkeys(("Count", "CountIf", "HyperLogLogPlusPlus", "RegrCount"), _all(COUNTED)),
    # Sketches store hashes; a tuple sketch also stores sums of its second argument.
    **dict.fromkeys(("CountMinSketchAgg", "HllSketchAgg", "ThetaSketchAgg"), _all(COUNTED)),
    **dict.fromkeys(("TupleSketchAggDouble", "TupleSketchAggInteger"), _first_then(COUNTED, AGGREGATED)),
    # The text and its delimiter; WITHIN GROUP (ORDER BY ...) follows.
    "ListAgg": _first_then(VALUE, SORT, number=2),
    **dict.fromkeys(("MaxBy", "MinBy", "MaxMinByK"), _first_then(VALUE, TESTED)),
    "PivotFirst": _first_then(TESTED, VALUE),
    # Windows: the function's argument is the value; the specification decides which rows it covers.
    "WindowExpression": _first_then(SAME, WINDOW),
    **dict.fromkeys(("WindowSpecDefinition", "Rank", "DenseRank", "PercentRank"), _all(WINDOW)),
    # The value cannot be read back from the result.
    **dict.fromkeys(
        """
        Md5 Sha1 Sha2 Crc32 Murmur3Hash CollationAwareMurmur3Hash XxHash64 CollationAwareXxHash64 HiveHash
        Hmac Mask
        """.split(),
        _all(MASKED),
    ),
    # The children of a subquery are its outer references, which are read inside its plan.
    **dict.fromkeys(
        "ScalarSubquery Exists ListQuery LateralSubquery FunctionTableSubqueryArgumentExpression".split(),
        _all(NOTHING),
    ),
}
"""Simple class name -> rule. All other expressions, also Python UDFs, transform their children."""


def _default(tree: Tree, position: int) -> list[Steps]:
    """Return the steps of a class without a row: identity if Spark replaces it by its child (NVL)."""
    replaced = isinstance(tree[position].get("replacement"), int)
    return [SAME if replaced else VALUE] * _count(tree, position)


@dataclass
class _Shared:
    """A `With` that is being read: its expression refers to definitions, which follow as further children.

    Spark's JSON has no ids of references, so each definition gets the steps of all references together.
    """

    definitions: int
    steps: set[Transformation] = field(default_factory=set)


_SHARING = frozenset({"With", "CommonExpressionRef", "CommonExpressionDef"})


def _share(shared: list[_Shared], node: dict[str, Any], steps: Steps) -> Steps:
    """Update the steps that `With` shares among its references; return the steps of the node itself."""
    name = simple_name(node["class"])
    if name == "With":
        shared.append(_Shared(definitions=node["num-children"] - 1))
    elif name == "CommonExpressionRef":
        for shared_expression in shared:
            shared_expression.steps |= steps
    elif shared:
        steps = frozenset(shared[-1].steps)
        shared[-1].definitions -= 1
        if not shared[-1].definitions:
            shared.pop()
    return steps


def variable_name(node: dict[str, Any]) -> str:
    """Return the name of a variable of a session or a script, in lower case and without its schema."""
    return str((node.get("originalNameParts") or [""])[-1]).lower()


def _variable(node: dict[str, Any]) -> Plan:
    """Return a plan of one row: the value of a variable, which an earlier execution may have set."""
    column = Attribute(VARIABLE, variable_name(node))
    return Plan((Scan((), (column,), "VariableReference", relation="VariableReference"),))


def _immediate(name: str) -> Plan:
    return Plan((Scan((), (Attribute(VARIABLE, name),), IMMEDIATE, relation=IMMEDIATE),))


_IMMEDIATE = {name: _immediate(name) for name in (PARAMETER, "text")}
"""Mark of a value in the text of EXECUTE IMMEDIATE -> a plan of one row: the value."""


def immediate(node: dict[str, Any], steps: Steps = SAME) -> tuple[Subquery, ...]:
    """Return the value of a node in the text of EXECUTE IMMEDIATE, once for each step; else nothing."""
    plan = _IMMEDIATE.get(str(node.get("immediate")))
    return tuple(Subquery(plan, step) for step in steps) if plan is not None else ()


_MAX_NESTING = 8
"""Maximum nesting of structs and lambdas; each level reads the tree below it again."""


def read_expression(tree: Tree, read_plan: Callable[[list[Any]], Plan], nesting: int = 0) -> Expression:
    """Read an expression's tree: the attributes that it uses, and how they act.

    The walk from the root down carries the steps of the path so far, so the cost is linear in the size of the
    tree, independent of its depth. `read_plan` reads the plans of subqueries.
    """

    def read(inner: Tree) -> Expression:
        return read_expression(inner, read_plan, nesting + 1)

    root = _read_whole(tree, read) if nesting < _MAX_NESTING else None
    if root is not None:
        return root
    uses: dict[tuple[int, Transformation], None] = {}
    unbound: dict[int, Expression] = {}
    subqueries: dict[Subquery, None] = {}
    separate: list[Expression] = []
    # The trees of outer references are read in place, so contexts wait beside their nodes.
    stack: list[tuple[Tree, int, Steps]] = [(tree, 0, SAME)]
    while stack:
        nodes, start, context = stack.pop()
        contexts = [context]
        shared: list[_Shared] = []
        for position in range(start, len(nodes)):
            if not contexts:
                break
            node, steps_here = nodes[position], contexts.pop()
            name = simple_name(node["class"])
            if name in ("AttributeReference", "NamedLambdaVariable"):
                expr_id = int(node["exprId"]["id"])
                uses.update(((expr_id, step), None) for step in steps_here)
            elif name in _READ_APART and steps_here and nesting < _MAX_NESTING:
                apart = _read_apart(nodes, position, read)
                if apart is not None:
                    separate.append(apart.after(steps_here))
                    contexts.extend(NOTHING for _ in range(_count(nodes, position)))
                    continue
            elif name == "LambdaFunction":
                unbound.update((variable, Expression()) for variable in variables_of(nodes, position))
            elif name in _SHARING:
                steps_here = _share(shared, node, steps_here)
            elif name == "OuterReference":
                stack.append((node["e"], 0, steps_here))
            else:
                subqueries.update(dict.fromkeys(_subqueries(node, steps_here, read_plan)))
            contexts.extend(composed(steps_here, step) for step in reversed(_rule(nodes, position)))
    whole = union((Expression(ordered(uses), tuple(subqueries)), *separate))
    members = members_of(tree, _rule, read) if nesting < _MAX_NESTING else ()
    # `unbound` are variables of lambdas whose function has no row in `FUNCTIONS`.
    return substituted(replace(whole, members=members), unbound)


_NULL_TESTS = frozenset({"IsNotNull", "IsNull"})

_READ_APART = FIELD_ACCESS | FUNCTIONS.keys() | _NULL_TESTS | {UPDATE}
"""Classes whose result is not the union of their children's uses; each has its own reader."""


def _read_whole(tree: Tree, read: Callable[[Tree], Expression]) -> Expression | None:
    """Read a class whose reader finds the parts and the whole together; None for any other class."""
    name = simple_name(tree[0]["class"])
    if name == UPDATE:
        return read_update(tree, read)
    if name in FIELD_ACCESS:
        # The type of a column tells its fields; only the value tells those of a computed struct.
        return member_of(tree, 0, read) if is_computed(tree) else None
    return read_function(name, tree, read) if name in FUNCTIONS else None


def _read_apart(tree: Tree, position: int, read: Callable[[Tree], Expression]) -> Expression | None:
    """Read a class of `_READ_APART`; None if only the general rule applies to it."""
    name = simple_name(tree[position]["class"])
    if name in FIELD_ACCESS:
        return member_of(tree, position, read)
    below = tree[position : end_of(tree, position)]
    if name in _NULL_TESTS:
        presence = presence_of(below[1:], read)
        return presence.after(VALUE) if presence is not None else None
    return _read_whole(below, read)


def _subqueries(
    node: dict[str, Any], outer: Steps, read_plan: Callable[[list[Any]], Plan]
) -> Iterator[Subquery]:
    name = simple_name(node["class"])
    if name == "VariableReference":
        yield from (Subquery(_variable(node), step) for step in outer)
    yield from immediate(node, outer)
    for value in node.values():
        if is_plan(value):
            plan = read_plan(value)
            steps = composed(outer, SAME if name == "ScalarSubquery" else VALUE)
            yield from (Subquery(plan, step, name != "Exists") for step in steps)


def _rule(tree: Tree, position: int) -> list[Steps]:
    """Return the steps of each child of an expression."""
    return EXPRESSIONS.get(simple_name(tree[position]["class"]), _default)(tree, position)
