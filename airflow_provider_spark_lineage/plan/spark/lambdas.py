"""Higher-order functions: what lambdas make of the elements that their variables stand for.

A lambda is read like any expression, with its variables as attributes; then each variable is replaced by
what it stands for. So what a lambda takes out of an element depends on that field alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.plan.algebra import Expression, Kind, Member, Transformation, union
from airflow_provider_spark_lineage.plan.spark.tree import children

Tree = list[dict[str, Any]]

Read = Callable[[Tree], Expression]
"""Reads an expression with its parts."""

INDEX = -1
"""A variable that is the position of an element: it depends on nothing."""

KEY = -2
"""A variable that is a key of the arguments, which are maps: only their values are known by themselves."""

_VALUE = (Transformation(Kind.TRANSFORMATION),)
_TESTED = (Transformation(Kind.CONDITIONAL),)

Expressions = Sequence[Expression]


def _made(arguments: Expressions, results: Expressions) -> Expression:
    """What the lambdas give."""
    return union(results).after(_VALUE)


def _picked(arguments: Expressions, results: Expressions) -> Expression:
    """Elements of the argument; the lambda decides which, or in what order."""
    kept = arguments[0].after(_VALUE)
    tested = union(results).after(_TESTED)
    # All of the elements is there already, but of a single field of theirs the others decide.
    return replace(
        kept.influenced(_without(tested, _mentioned(kept))),
        parts=tuple(part.influenced(tested) for part in kept.parts),
    )


def _values(arguments: Expressions, results: Expressions) -> Expression:
    """Values that the lambda gives, under the keys of the arguments."""
    made = _made(arguments, results)
    return replace(made.influenced(union(arguments).after(_VALUE)), parts=made.parts)


def _keys(arguments: Expressions, results: Expressions) -> Expression:
    """The argument's values, under keys that the lambda gives."""
    kept = arguments[0].after(_VALUE)
    return replace(kept.influenced(_made(arguments, results)), parts=kept.parts)


class Row(NamedTuple):
    """How one function works; its children are its arguments, then its lambdas."""

    variables: tuple[tuple[int, ...], ...]
    """For each lambda what its variables are: elements of the argument of that number, `INDEX` or `KEY`."""

    result: Callable[[Expressions, Expressions], Expression]
    """(arguments, what the lambdas give) -> what the function gives."""


FUNCTIONS: dict[str, Row] = {
    # The second argument is what the sum begins with, and its variable the sum so far.
    "ArrayAggregate": Row(((1, 0), (1,)), _made),
    "ArrayExists": Row(((0,),), _made),
    "ArrayFilter": Row(((0, INDEX),), _picked),
    "ArrayForAll": Row(((0,),), _made),
    "ArraySort": Row(((0, 0),), _picked),
    "ArrayTransform": Row(((0, INDEX),), _made),
    "MapFilter": Row(((KEY, 0),), _picked),
    "MapZipWith": Row(((KEY, 0, 1),), _values),
    "TransformKeys": Row(((KEY, 0),), _keys),
    "TransformValues": Row(((KEY, 0),), _values),
    "ZipWith": Row(((0, 1),), _made),
}
"""Simple class name -> how it works. The lambdas of any other class may use all that the class is given."""


def read_function(name: str, tree: Tree, read: Read) -> Expression:
    """Read the higher-order function at the root of a tree."""
    row = FUNCTIONS[name]
    below = children(tree)
    count = len(below) - len(row.variables)
    arguments = [read(one) for one in below[:count]]
    results: list[Expression] = []
    used: set[int] = set()
    for function, stand_for in zip(below[count:], row.variables, strict=True):
        body, *variables = children(function)
        ids = [int(one[0]["exprId"]["id"]) for one in variables]
        result = read(body)
        mentioned = _mentioned(result)
        bound = dict(zip(ids, stand_for, strict=False))
        used.update(argument for id_, argument in bound.items() if id_ in mentioned)
        results.append(substituted(result, {id_: _of(one, arguments) for id_, one in bound.items()}))
    # How many elements an argument has decides, whatever is made of them.
    unused = [one for index, one in enumerate(arguments) if index not in used]
    given = row.result(arguments, results)
    return given.influenced(union(unused).after(_VALUE)) if unused else given


def variables_of(tree: Tree, position: int) -> list[int]:
    """Return the ids of the variables of the lambda there, which have no meaning outside of it."""
    count = int(tree[position]["num-children"]) - 1
    # They are leaves, and stand behind the body.
    return [int(one[0]["exprId"]["id"]) for one in children(tree[position:])[-count:]] if count else []


def substituted(expression: Expression, meanings: Mapping[int, Expression]) -> Expression:
    """Return an expression with attributes replaced by what they stand for."""
    if not meanings:
        return expression
    found = [
        *(meanings[key].after((step,)) for key, step in expression.uses if key in meanings),
        *(
            _taken(meanings[key], path).after((step,))
            for key, path, step in expression.taken
            if key in meanings
        ),
    ]
    whole = union(found)
    return Expression(
        (*(use for use in expression.uses if use[0] not in meanings), *whole.uses),
        (*expression.subqueries, *whole.subqueries),
        (*(one for one in expression.taken if one[0] not in meanings), *whole.taken),
        tuple(substituted(part, meanings) for part in expression.parts),
    )


def _of(stands_for: int, arguments: Expressions) -> Expression:
    if stands_for == INDEX:
        return Expression()
    if stands_for == KEY:
        return replace(union(arguments), parts=())
    return arguments[stands_for]


def _taken(struct: Expression, path: Sequence[Member]) -> Expression:
    for position, _ in path:
        if position >= len(struct.parts):
            return struct
        struct = struct.parts[position]
    return struct


def _without(expression: Expression, attributes: set[int]) -> Expression:
    return replace(
        expression,
        uses=tuple(use for use in expression.uses if use[0] not in attributes),
        taken=tuple(one for one in expression.taken if one[0] not in attributes),
    )


def _mentioned(expression: Expression) -> set[int]:
    return {key for key, _ in expression.uses} | {key for key, _, _ in expression.taken}
