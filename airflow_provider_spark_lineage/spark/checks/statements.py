"""Statements of a table's checks: rules for each row (`amount >= 0`), or about all rows (`count(*) > 5`)."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp, sqlglot
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.sql_literals import without_numbers, without_sql_literals
from airflow_provider_spark_lineage.spark.records.sql_text import FULL, NONE

_DIALECT = "spark"


class StatementKind(Enum):
    """Probable subject of a statement. Spark decides whether it is right."""

    EACH_ROW = "each row"
    ALL_ROWS = "all rows"
    UNKNOWN = "unknown"
    """It has a function that sqlglot does not know, or is not understood."""


def kind_of(statement: str) -> StatementKind:
    """Return the subject of a statement.

    >>> [kind_of(each).value for each in ("a + b < 10", "sum(a) < 10", "my_function(a) < 10")]
    ['each row', 'all rows', 'unknown']
    """
    tree = _parsed(statement)
    if tree is None:
        return StatementKind.UNKNOWN
    if any(not isinstance(node.parent, exp.Window) for node in _outermost(tree, exp.AggFunc)):
        return StatementKind.ALL_ROWS
    return StatementKind.UNKNOWN if tree.find(exp.Anonymous) else StatementKind.EACH_ROW


def filtered(statement: str, clause: str) -> str | None:
    """Return a statement about all rows as one about the rows of a clause; None if that cannot be written.

    >>> filtered("min(a) = 1 AND count(*) > 2", "b > 0 OR c")
    'MIN(a) FILTER(WHERE b > 0 OR c) = 1 AND COUNT(*) FILTER(WHERE b > 0 OR c) > 2'
    """
    tree, condition = _parsed(statement), _parsed(clause)
    if tree is None or condition is None or tree.find(exp.Anonymous, exp.Select, exp.Window, exp.Filter):
        return None
    aggregates = [*_outermost(tree, exp.AggFunc)]
    if not aggregates:
        return None
    for aggregate in aggregates:
        wrapped = exp.Filter(this=aggregate.copy(), expression=exp.Where(this=condition.copy()))
        if aggregate is tree:
            tree = wrapped
        else:
            aggregate.replace(wrapped)
    return str(tree.sql(dialect=_DIALECT))


class Comparison(NamedTuple):
    """A statement that compares an aggregate with a value."""

    aggregate: str
    """SQL of the aggregate."""

    expected: str
    """What it is compared with, in the form of the limits of column checks: `>=1, <3`."""


def comparison_of(statement: str) -> Comparison | None:
    """Return the comparison that a statement is; None if it is another one, or compares two aggregates.

    >>> comparison_of("max(guests) < 3"), comparison_of("count(*) = count(a)")
    (Comparison(aggregate='MAX(guests)', expected='<3'), None)
    """
    tree = _parsed(statement)
    name = type(tree).__name__
    if isinstance(tree, exp.Between):
        aggregate, forms = tree.this, {">=": tree.args["low"], "<=": tree.args["high"]}
    elif isinstance(tree, exp.Binary) and name in _SYMBOLS:
        is_first = bool(_outermost(tree.this, exp.AggFunc))
        aggregate, value = (tree.this, tree.expression) if is_first else (tree.expression, tree.this)
        forms = {_SYMBOLS[name][0 if is_first else 1]: value}
    else:
        return None
    # What Spark alone knows may be an aggregate.
    unknown = (exp.Column, exp.AggFunc, exp.Select, exp.Anonymous)
    if not _outermost(aggregate, exp.AggFunc) or any(value.find(*unknown) for value in forms.values()):
        return None
    limits = (f"{symbol}{value.sql(dialect=_DIALECT)}" for symbol, value in forms.items())
    return Comparison(str(aggregate.sql(dialect=_DIALECT)), ", ".join(limits))


_SYMBOLS = {
    "EQ": ("", ""),
    "NEQ": ("!=", "!="),
    "LT": ("<", ">"),
    "LTE": ("<=", ">="),
    "GT": (">", "<"),
    "GTE": (">=", "<="),
}
"""sqlglot's class of a comparison -> how a limit is written, and how if the sides are exchanged."""


def columns_of(statement: str) -> list[str]:
    """Return the names of a statement's columns in lower case, each once; none if it is not understood."""
    return [*dict.fromkeys(column.name.lower() for column in _columns(statement))]


def roots_of(text: str) -> list[str]:
    """Return the first parts of the names in a text, sorted: the columns, whatever is in them.

    >>> roots_of("lower(address.city) = 'rome' AND b > 0")
    ['address', 'b']
    """
    return sorted({column.parts[0].name for column in _columns(text)})


def shown(sql: str, sql_text: str, dialect: str | None = _DIALECT) -> str:
    """Return a statement as the option `sql_text` allows it to be shown.

    `dialect` is sqlglot's name; None if it is unknown: literals cannot be told apart then.
    """
    if sql_text == NONE or (dialect is None and sql_text != FULL):
        return ""
    return without_secrets(sql if sql_text == FULL else without_numbers(without_sql_literals(sql, dialect)))


def _columns(text: str) -> list[exp.Column]:
    """Return the columns in an expression; none if it is not understood."""
    tree = _parsed(text)
    return [*tree.find_all(exp.Column)] if tree is not None else []


def _parsed(text: str) -> exp.Expression | None:
    """Return the tree of an expression; None if sqlglot does not understand it: Spark still may."""
    try:
        return sqlglot.parse_one(text, dialect=_DIALECT, into=exp.Condition)
    except sqlglot.errors.SqlglotError:
        return None


def _outermost(tree: exp.Expression, kind: type[exp.Expression]) -> list[exp.Expression]:
    """Return the nodes of a kind that are not inside of another one."""
    aggregates: list[exp.Expression] = []
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, kind):
            aggregates.append(node)
        elif not isinstance(node, exp.Select):
            todo.extend(node.iter_expressions())
    return aggregates
