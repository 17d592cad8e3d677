"""Higher-order functions: reads their lambdas with each variable replaced by the elements it ranges over.

A lambda is read like any expression, with its variables as attributes; then each variable is replaced by
the argument whose elements it is bound to. Therefore a field that a lambda takes out of an element depends
only on that field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from airflow_provider_spark_lineage.spark.plan.algebra import PRESENCE, Expression, Member, union
from airflow_provider_spark_lineage.spark.plan.spark.tree import children, spans
from airflow_provider_spark_lineage.spark.plan.steps import TESTED, VALUE
from airflow_provider_spark_lineage.spark.records.plan_json import Tree

Read = Callable[[Tree], Expression]
"""Reads an expression with its parts."""

INDEX = -1
"""A variable that is the position of an element: it has no sources."""

KEY = -2
"""A variable that is a key of the arguments, which are maps: their parts describe only the values."""

OWN_KEY = -3
"""A variable that is a key of the argument, for results that use the whole argument anyway."""

ACCUMULATOR = -4
"""A variable that is the accumulated value of an aggregate."""

_MAX_STEPS = 8
"""Maximum iterations until the fields of an accumulator are stable; after that they are merged."""


Expressions = Sequence[Expression]


def _last_result(arguments: Expressions, results: Expressions) -> Expression:
    """Return the result of the last lambda; only an aggregate has two lambdas."""
    return results[-1].after(VALUE)


def _elements(arguments: Expressions, results: Expressions) -> Expression:
    """Return elements of the argument; the lambda decides which elements, or their order."""
    elements = arguments[0].after(VALUE)
    tested = union(results).after(TESTED)
    # The whole value already depends on all fields; each single field also depends on the tested fields.
    return replace(
        elements.influenced(_uses_not_in(elements, tested)),
        members=tuple(member.influenced(tested) for member in elements.members),
    )


def _values(arguments: Expressions, results: Expressions) -> Expression:
    """Return the lambda's values under the keys of the arguments."""
    values = _last_result(arguments, results)
    return replace(values.influenced(union(arguments).after(VALUE)), members=values.members)


def _keys(arguments: Expressions, results: Expressions) -> Expression:
    """Return the argument's values under the lambda's keys."""
    return arguments[0].after(VALUE).influenced(_last_result(arguments, results))


class HigherOrderFunction(NamedTuple):
    """The variables and the result of a function; its children are its arguments, then its lambdas."""

    variables: tuple[tuple[int, ...], ...]
    """For each lambda its variables: the index of an argument (its elements), or a constant above."""

    result: Callable[[Expressions, Expressions], Expression]
    """(arguments, results of the lambdas) -> the function's result."""


FUNCTIONS: dict[str, HigherOrderFunction] = {
    # The second argument is the start value.
    "ArrayAggregate": HigherOrderFunction(((ACCUMULATOR, 0), (ACCUMULATOR,)), _last_result),
    "ArrayExists": HigherOrderFunction(((0,),), _last_result),
    "ArrayFilter": HigherOrderFunction(((0, INDEX),), _elements),
    "ArrayForAll": HigherOrderFunction(((0,),), _last_result),
    "ArraySort": HigherOrderFunction(((0, 0),), _elements),
    "ArrayTransform": HigherOrderFunction(((0, INDEX),), _last_result),
    "MapFilter": HigherOrderFunction(((OWN_KEY, 0),), _elements),
    "MapZipWith": HigherOrderFunction(((KEY, 0, 1),), _values),
    "TransformKeys": HigherOrderFunction(((OWN_KEY, 0),), _keys),
    "TransformValues": HigherOrderFunction(((KEY, 0),), _values),
    "ZipWith": HigherOrderFunction(((0, 1),), _last_result),
}
"""Simple class name -> function. The lambdas of any other class may use all of its arguments."""


def read_function(name: str, tree: Tree, read: Read) -> Expression:
    """Read the higher-order function at the root of a tree."""
    row = FUNCTIONS[name]
    below = children(tree)
    count = len(below) - len(row.variables)
    arguments = [read(argument) for argument in below[:count]]
    results: list[Expression] = []
    accumulated = Expression()
    for function, stand_for in zip(below[count:], row.variables, strict=True):
        body, *variables = children(function)
        ids = [int(variable[0]["exprId"]["id"]) for variable in variables]
        bound = dict(zip(ids, stand_for, strict=False))
        result = read(body)
        if row.result in (_last_result, _values):
            result = _with_number(result, bound)
        sums = [id_ for id_, meaning in bound.items() if meaning == ACCUMULATOR]
        elements = {
            id_: _meaning_of(meaning, arguments) for id_, meaning in bound.items() if meaning != ACCUMULATOR
        }
        result = substituted(result, elements)
        if sums and not results:
            accumulated = _summed(arguments[1], result, sums[0])
        results.append(substituted(result, dict.fromkeys(sums, accumulated)))
    return row.result(arguments, results)


def _with_number(result: Expression, bound: Mapping[int, int]) -> Expression:
    """Add the elements if the lambda does not use them: the result still depends on their number."""
    mentioned = {key for key, _ in result.uses} | {key for key, _, _ in result.field_uses}
    used = {meaning for key, meaning in bound.items() if key in mentioned}
    # A use of a key or of an accumulator already depends on whole arguments.
    aside = {INDEX, KEY, ACCUMULATOR} if 0 in bound.values() else {INDEX, KEY}
    unused = [] if KEY in used else [key for key, meaning in bound.items() if meaning not in used | aside]
    return replace(
        result,
        uses=(*result.uses, *((key, step) for key in unused for step in VALUE)),
        members=tuple(_with_number(member, bound) for member in result.members),
    )


def _summed(start: Expression, step: Expression, variable: int) -> Expression:
    """Return the accumulated value: repeat the step until it is stable, because it may mix the fields."""
    sum_ = _distinct(start.after(VALUE))
    for _ in range(_MAX_STEPS):
        last = sum_
        sum_ = _distinct(union((last, substituted(step, {variable: last}).after(VALUE))))
        if sum_ == last:
            return sum_
    return replace(sum_, members=())


def variables_of(tree: Tree, position: int) -> list[int]:
    """Return the ids of the variables of the lambda at `position`; they are local to it."""
    # They follow the body.
    return [int(tree[start]["exprId"]["id"]) for start, _ in spans(tree, position)[1:]]


def substituted(expression: Expression, meanings: Mapping[int, Expression]) -> Expression:
    """Return an expression with attributes replaced by expressions."""
    if not meanings:
        return expression
    replacements = [
        *(meanings[key].after((step,)) for key, step in expression.uses if key in meanings),
        *(
            _field_at(meanings[key], path).after((step,))
            for key, path, step in expression.field_uses
            if key in meanings
        ),
    ]
    whole = union(replacements)
    return Expression(
        (*(use for use in expression.uses if use[0] not in meanings), *whole.uses),
        (*expression.subqueries, *whole.subqueries),
        (*(use for use in expression.field_uses if use[0] not in meanings), *whole.field_uses),
        tuple(substituted(member, meanings) for member in expression.members),
    )


def _meaning_of(stands_for: int, arguments: Expressions) -> Expression:
    if stands_for in (INDEX, OWN_KEY):
        return Expression()
    if stands_for == KEY:
        return replace(union(arguments), members=())
    return arguments[stands_for]


def _field_at(struct: Expression, path: Sequence[Member]) -> Expression:
    for position, name in path:
        if (position, name) == PRESENCE:
            return struct.presence()
        if position >= len(struct.members):
            return struct
        struct = struct.members[position]
    return struct


def _uses_not_in(expression: Expression, other: Expression) -> Expression:
    """Return `other` without the attributes and fields that `expression` uses."""
    whole = {key for key, _ in expression.uses}
    fields = {(key, path) for key, path, _ in expression.field_uses}
    return replace(
        other,
        uses=tuple(use for use in other.uses if use[0] not in whole),
        field_uses=tuple(use for use in other.field_uses if use[0] not in whole and use[:2] not in fields),
    )


def _distinct(expression: Expression) -> Expression:
    return Expression(
        tuple(dict.fromkeys(expression.uses)),
        tuple(dict.fromkeys(expression.subqueries)),
        tuple(dict.fromkeys(expression.field_uses)),
        tuple(_distinct(member) for member in expression.members),
    )
