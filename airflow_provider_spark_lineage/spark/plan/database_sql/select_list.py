"""The columns of SELECT, and the known columns of a `*`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_queries
from airflow_provider_spark_lineage.spark.plan.algebra import IDENTITY, Attribute, Derive, Expression, same
from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import LABEL, Nodes, QueryRows, SqlError
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import Dialect, QueryScope, Table
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp


@dataclass(frozen=True)
class Changes:
    """EXCEPT, REPLACE and RENAME of a `*`; names are in lower case."""

    left_out: frozenset[str] = frozenset()
    replaced: Mapping[str, Expression] = field(default_factory=dict)
    old_names: Mapping[str, str] = field(default_factory=dict)
    """New name of a renamed column -> its name in the table."""

    @property
    def new_names(self) -> Mapping[str, str]:
        """Return the mapping from old names to new names."""
        return {old.lower(): new for new, old in self.old_names.items()}


@dataclass(frozen=True)
class Star:
    """A `*` over a table with unknown columns."""

    table: Table
    changes: Changes

    def column(self, name: str) -> Expression | None:
        """Return the expression of one of its columns; None if the `*` leaves it out."""
        key, changes = name.lower(), self.changes
        if key in changes.replaced:
            return changes.replaced[key]
        if key not in changes.old_names and key in changes.left_out.union(changes.new_names):
            return None
        column = self.table.column(changes.old_names.get(key, name))
        return same(column) if column else None


Slot = Star | tuple[str, Expression]
"""A `*` over a table with unknown columns, or a column's name with its expression."""


def selected(
    nodes: Nodes, node: int, slots: Sequence[Slot], scope: QueryScope, names: Sequence[str]
) -> QueryRows:
    """Return the result of a SELECT's slots; `names` are its columns if they are known."""
    expressions: dict[int, tuple[Expression, ...]] = {}
    columns: list[Attribute] = []

    def add(name: str, expression: Expression) -> Attribute:
        column = nodes.attribute(name)
        expressions[column.id] = (expression,)
        columns.append(column)
        return column

    opened = [slot for slot in slots if isinstance(slot, Star)]
    width = len(names) - (len(slots) - len(opened))
    for slot in slots:
        if not isinstance(slot, Star):
            add(*slot)
        elif names and slot is opened[0]:
            for name in names[len(columns) : len(columns) + width]:
                source = slot.column(name) if name and len(opened) == 1 else None
                if source is None:
                    scope.note((of_queries.SEVERAL_STARS if opened[1:] else of_queries.UNKNOWN_STAR)())
                add(name, source or Expression())

    def more(name: str) -> Attribute | None:
        if len(opened) > 1:
            scope.note(of_queries.SEVERAL_STARS())
            return None
        source = opened[0].column(name)
        return add(name, source) if source else None

    end = nodes.add(lambda: Derive((node,), tuple(columns), LABEL, expressions, reason=scope.reason))
    return QueryRows(end, columns, more if opened and not names else None)


def slots_of(
    select: Any, scope: QueryScope, dialect: Dialect, read: Callable[[int | None, Any], Expression]
) -> Iterator[Slot]:
    """Yield the slots of SELECT's items; `read` reads an expression, given its position."""
    for position, item in enumerate(select.expressions):
        star = item if isinstance(item, exp.Star) else item.this if item.is_star else None
        if not isinstance(star, exp.Star):
            yield (item.alias or item.output_name or item.name), read(position, item)
            continue
        named = [change for clause in ("replace", "rename") for change in star.args.get(clause) or ()]
        if not all(isinstance(change, exp.Alias) for change in named):
            raise SqlError("a * that changes columns is not known")
        changes = Changes(
            frozenset(
                column.name.lower()
                for clauses in (star.args, select.args)
                for name in ("except_", "except", "exclude")
                for column in clauses.get(name) or ()
            ),
            {item.alias.lower(): read(None, item.this) for item in star.args.get("replace") or ()},
            {item.alias.lower(): dialect.stored(item.this.this) for item in star.args.get("rename") or ()},
        )
        yield from every_column(scope, changes, "" if item is star else item.table)


def every_column(scope: QueryScope, changes: Changes, name: str = "") -> Iterator[Slot]:
    """Yield the slots of a `*`, or of `name.*`."""
    tables = [table for table in scope.tables if not name or table.name == name.lower()]
    if not tables:
        raise SqlError(f"the columns of {name}.* are not known")
    replaced, new_names, left_out = changes.replaced, changes.new_names, changes.left_out
    if not name:
        # A `*` lists columns of USING first, and only once.
        for key, ids in scope.merged.items():
            if key not in left_out:
                yield (
                    key,
                    replaced.get(key) or Expression(tuple((attribute_id, IDENTITY) for attribute_id in ids)),
                )
        left_out = left_out.union(scope.merged)
    for table in tables:
        if table.more is not None:
            yield Star(table, replace(changes, left_out=left_out))
            continue
        for key, column in table.columns.items():
            if key not in left_out:
                yield new_names.get(key, column.name), replaced.get(key) or same(column)
