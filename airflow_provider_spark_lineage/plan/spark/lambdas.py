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

OWN_KEY = -3
"""A variable that is a key of the argument, whose values are kept: on its keys they depend already."""

SO_FAR = -4
"""A variable that is what an aggregate has made of the elements so far."""

_NOTHING = frozenset({INDEX, OWN_KEY})
_MOST_STEPS = 8
"""How many steps fields of an aggregate may take into one another; beyond, they are not told apart."""

_STEP = Transformation(Kind.TRANSFORMATION)
_VALUE = (_STEP,)
_TESTED = (Transformation(Kind.CONDITIONAL),)

Expressions = Sequence[Expression]


def _made(arguments: Expressions, results: Expressions) -> Expression:
    """What the last lambda gives: the only one, but of an aggregate."""
    return results[-1].after(_VALUE)


def _picked(arguments: Expressions, results: Expressions) -> Expression:
    """Elements of the argument; the lambda decides which, or in what order."""
    kept = arguments[0].after(_VALUE)
    tested = union(results).after(_TESTED)
    # All of the elements is there already, but of a single field of theirs the others decide.
    return replace(
        kept.influenced(_besides(kept, tested)),
        parts=tuple(part.influenced(tested) for part in kept.parts),
    )


def _values(arguments: Expressions, results: Expressions) -> Expression:
    """Values that the lambda gives, under the keys of the arguments."""
    made = _made(arguments, results)
    return replace(made.influenced(union(arguments).after(_VALUE)), parts=made.parts)


def _keys(arguments: Expressions, results: Expressions) -> Expression:
    """The argument's values, under keys that the lambda gives."""
    return arguments[0].after(_VALUE).influenced(_made(arguments, results))


class Row(NamedTuple):
    """How one function works; its children are its arguments, then its lambdas."""

    variables: tuple[tuple[int, ...], ...]
    """For each lambda what its variables are: elements of the argument of that number, or a name above."""

    result: Callable[[Expressions, Expressions], Expression]
    """(arguments, what the lambdas give) -> what the function gives."""


FUNCTIONS: dict[str, Row] = {
    # The second argument is what it begins with.
    "ArrayAggregate": Row(((SO_FAR, 0), (SO_FAR,)), _made),
    "ArrayExists": Row(((0,),), _made),
    "ArrayFilter": Row(((0, INDEX),), _picked),
    "ArrayForAll": Row(((0,),), _made),
    "ArraySort": Row(((0, 0),), _picked),
    "ArrayTransform": Row(((0, INDEX),), _made),
    "MapFilter": Row(((OWN_KEY, 0),), _picked),
    "MapZipWith": Row(((KEY, 0, 1),), _values),
    "TransformKeys": Row(((OWN_KEY, 0),), _keys),
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
    so_far = Expression()
    for function, stand_for in zip(below[count:], row.variables, strict=True):
        body, *variables = children(function)
        ids = [int(one[0]["exprId"]["id"]) for one in variables]
        bound = dict(zip(ids, stand_for, strict=False))
        result = read(body)
        if row.result in (_made, _values):
            result = _counted(result, bound)
        sums = [id_ for id_, one in bound.items() if one == SO_FAR]
        elements = {id_: _of(one, arguments) for id_, one in bound.items() if one != SO_FAR}
        result = substituted(result, elements)
        if sums and not results:
            so_far = _summed(arguments[1], result, sums[0])
        results.append(substituted(result, dict.fromkeys(sums, so_far)))
    return row.result(arguments, results)


def _counted(made: Expression, bound: Mapping[int, int]) -> Expression:
    """Add the elements to what uses none of them: how many there are decides, whatever is made of them."""
    used = {bound[key] for key in _mentioned(made) if key in bound}
    # With all keys all elements are there; a step of an aggregate adds to what there is anyway.
    aside = {INDEX, KEY, SO_FAR} if 0 in bound.values() else {INDEX, KEY}
    unused = [] if KEY in used else [key for key, one in bound.items() if one not in used | aside]
    return replace(
        made,
        uses=(*made.uses, *((key, _STEP) for key in unused)),
        parts=tuple(_counted(part, bound) for part in made.parts),
    )


def _summed(start: Expression, step: Expression, variable: int) -> Expression:
    """Return what an aggregate comes to; a step may put its fields into one another."""
    found = _distinct(start.after(_VALUE))
    for _ in range(_MOST_STEPS):
        before = found
        found = _distinct(union((before, substituted(step, {variable: before}).after(_VALUE))))
        if found == before:
            return found
    return replace(found, parts=())


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
    if stands_for in _NOTHING:
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


def _besides(known: Expression, other: Expression) -> Expression:
    """Return what another expression uses and the one that is known does not."""
    whole = {key for key, _ in known.uses}
    fields = {(key, path) for key, path, _ in known.taken}
    return replace(
        other,
        uses=tuple(use for use in other.uses if use[0] not in whole),
        taken=tuple(one for one in other.taken if one[0] not in whole and one[:2] not in fields),
    )


def _distinct(expression: Expression) -> Expression:
    return Expression(
        tuple(dict.fromkeys(expression.uses)),
        tuple(dict.fromkeys(expression.subqueries)),
        tuple(dict.fromkeys(expression.taken)),
        tuple(_distinct(part) for part in expression.parts),
    )


def _mentioned(expression: Expression) -> set[int]:
    return {key for key, _ in expression.uses} | {key for key, _, _ in expression.taken}
