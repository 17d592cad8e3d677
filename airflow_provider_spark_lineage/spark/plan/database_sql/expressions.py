"""SQL expressions: the table of how each uses its parts, and the class that reads expressions with it.

The rules are the same as for Spark's expressions. An expression without a row is a TRANSFORMATION of its
parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_queries
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.algebra import Expression, Plan, Subquery, Transformation
from airflow_provider_spark_lineage.spark.plan.database_sql.aliases import Meaning, column
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import UNITS
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp
from airflow_provider_spark_lineage.spark.plan.steps import (
    AGGREGATED,
    COUNTED,
    FILTER,
    MASKED,
    NOTHING,
    SAME,
    SORT,
    TESTED,
    VALUE,
    WINDOW,
    Steps,
    composed,
    ordered,
)

Parts = Iterator[tuple[Any, Steps]]
"""The parts of an expression, each with how it acts."""


def _all(steps: Steps, **exceptions: Steps) -> Callable[[Any], Parts]:
    """Return a rule for all parts, except those of the named arguments."""

    def parts(node: Any) -> Parts:
        for name, value in node.args.items():
            for part in value if isinstance(value, list) else [value]:
                if hasattr(part, "args"):
                    yield part, exceptions.get(name, steps)

    return parts


def _coalesce(node: Any) -> Parts:
    """Yield the arguments of COALESCE: each may be the value; all except the last are tested for null."""
    values = [node.this, *node.expressions]
    for value in values[:-1]:
        yield value, VALUE | TESTED
    yield values[-1], VALUE


def _order(node: Any) -> Parts:
    """Yield the parts of ORDER BY in an aggregate; in WITHIN GROUP the key is the value."""
    if node.this is not None:
        yield node.this, SAME
    for part in node.expressions:
        yield part, VALUE if node.this is None else SORT


def _window(node: Any) -> Parts:
    """Yield the function, which is the value, and the (named) window, which decides the covered rows."""
    yield from _all(WINDOW, this=SAME)(node)
    select = node.find_ancestor(exp.Select)
    name = node.args.get("alias")
    for named in select.args.get("windows") or () if select is not None and name is not None else ():
        if named.name.lower() == name.name.lower():
            yield from _all(WINDOW)(named)


def _decode(node: Any) -> Parts:
    """Yield the parts of DECODE: the tested value, pairs of search value and result, the default."""
    tested, *branches = node.expressions
    yield tested, TESTED
    for position, value in enumerate(branches):
        yield value, TESTED if position % 2 == 0 and position + 1 < len(branches) else VALUE


def _difference(node: Any) -> Parts:
    """Yield the two values; without a known dialect sqlglot may parse the second as the unit."""
    yield from _all(VALUE)(node)
    unit = node.args.get("unit")
    if isinstance(unit, exp.Var) and unit.name.lower() not in UNITS:
        yield exp.column(unit.name), VALUE


def _filtered(node: Any) -> Parts:
    """Yield the elements, then the lambda that filters them."""
    elements, *tests = node.expressions
    yield elements, VALUE
    for test in tests:
        yield test, TESTED


EXPRESSIONS: dict[str, Callable[[Any], Parts]] = {
    # The value, unchanged.
    "Alias": _all(SAME),
    "Paren": _all(SAME),
    "Ordered": _all(SAME),
    "Subquery": _all(SAME),
    "Collate": _all(SAME),
    # The same column of another row of a hierarchy.
    **dict.fromkeys(("ConnectByRoot", "Prior"), _all(SAME)),
    # The type of a column, independent of its values.
    **dict.fromkeys(("Collation", "Typeof"), _all(NOTHING)),
    # Tests, and the values that they choose from.
    "Case": _all(VALUE, this=TESTED),
    "If": _all(VALUE, this=TESTED),
    "Nvl2": _all(VALUE, this=TESTED),
    "Coalesce": _coalesce,
    "Nullif": _all(TESTED, this=VALUE | TESTED),
    "DecodeCase": _decode,
    "Nanvl": _all(VALUE, this=VALUE | TESTED),
    "ArrayFilter": _all(TESTED, this=VALUE),
    "map_filter": _filtered,
    **dict.fromkeys(("nullifzero", "zeroifnull"), _all(VALUE | TESTED)),
    # Aggregates.
    "Filter": _all(FILTER, this=SAME),
    "WithinGroup": _all(AGGREGATED, this=SAME),
    "Order": _order,
    **dict.fromkeys(("Count", "CountIf", "ApproxDistinct", "Hll"), _all(COUNTED)),
    **dict.fromkeys(("count_min_sketch", "hll_sketch_agg", "theta_sketch_agg"), _all(COUNTED)),
    **dict.fromkeys(("ArgMax", "ArgMin"), _all(TESTED, this=AGGREGATED)),
    # The value in the row where the other is the greatest.
    "HavingMax": _all(TESTED, this=SAME),
    # Windows: the function's argument is the value; the specification decides which rows it covers.
    "Window": _window,
    **dict.fromkeys(("Lag", "Lead", "NthValue"), _all(VALUE)),
    **dict.fromkeys(("IgnoreNulls", "RespectNulls"), _all(SAME)),
    "DateDiff": _difference,
    # The value cannot be read back from the result.
    **dict.fromkeys(("MD5", "MD5Digest", "SHA", "SHA1Digest", "SHA2", "FarmFingerprint"), _all(MASKED)),
    **dict.fromkeys(("crc32", "hash", "mask", "standard_hash", "xxhash64"), _all(MASKED)),
}
"""sqlglot's class, or the name of a function without a class -> its parts and how they act.

An aggregate function without a row aggregates its parts.
"""

_VALUE_OF_SUBQUERY = frozenset({"Select", "Union", "Intersect", "Except", "SetOperation"})


@dataclass
class SqlExpressionReader:
    """Reads the expressions of one query."""

    attributes: Callable[[Any], tuple[tuple[int, Transformation], ...]]
    """Returns the attributes that a column in the text refers to; empty if it cannot be resolved."""

    plan: Callable[[Any], Plan]
    """Returns the plan of a query inside an expression."""

    note: Callable[[Reason], None]
    """Receives a sentence for each name that cannot be resolved."""

    is_word: Callable[[Any], bool] = lambda _: False
    """Returns whether an apparent column is a keyword or pseudo-column of the database."""

    meaning: Meaning = column

    def read(self, *nodes: Any) -> Expression:
        """Read expressions as one: the attributes that they use, and how these act."""
        uses: dict[tuple[int, Transformation], None] = {}
        subqueries: list[Subquery] = []
        stack: list[tuple[Any, Steps]] = [(node, SAME) for node in reversed(nodes) if node is not None]
        while stack:
            node, outer = stack.pop()
            name = type(node).__name__
            if name in ("Columns", "Star") or (name == "Column" and node.is_star):
                if type(node.parent).__name__ != "Count":
                    self.note(of_queries.STAR_INSIDE())
            elif name == "Parameter" and type(node.this).__name__ == "Literal":
                self.note(of_queries.UNKNOWN_POSITION(name=node.name))
            elif name == "Column":
                aliased = self.meaning(node)
                if aliased is not None:
                    uses.update((use, None) for use in aliased.after(outer).uses)
                    subqueries.extend(aliased.after(outer).subqueries)
                elif not self.is_word(node):
                    uses.update(
                        ((i, o.after(step)), None) for i, step in self.attributes(node) for o in outer
                    )
            elif name in _VALUE_OF_SUBQUERY:
                plan = self.plan(node)
                valued = type(node.parent).__name__ != "Exists"
                subqueries.extend(Subquery(plan, step, valued) for step in outer)
            else:
                stack.extend((part, composed(outer, steps)) for part, steps in _parts(node))
        return Expression(ordered(uses), tuple(subqueries))


def _parts(node: Any) -> Parts:
    name = node.name.lower() if isinstance(node, exp.Anonymous) else type(node).__name__
    row = EXPRESSIONS.get(name)
    if row is None:
        row = _all(AGGREGATED if isinstance(node, exp.AggFunc) else VALUE)
    return row(node)
