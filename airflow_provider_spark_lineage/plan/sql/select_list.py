"""The columns that SELECT gives, those of a `*` as far as they can be told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import (
    IDENTITY,
    Attribute,
    Derive,
    Expression,
)
from airflow_provider_spark_lineage.plan.sql.nodes import LABEL, Nodes, Result, SqlError, same
from airflow_provider_spark_lineage.plan.sql.scope import Dialect, Scope, Table

_OF_WHICH = "which table a column of its * is of is not known"


@dataclass(frozen=True)
class Changes:
    """What a `*` does with some of the columns that it stands for; names are in lower case."""

    left_out: frozenset[str] = frozenset()
    replaced: Mapping[str, Expression] = field(default_factory=dict)
    old_names: Mapping[str, str] = field(default_factory=dict)
    """What a renamed column is called now -> what its table calls it."""

    @property
    def new_names(self) -> Mapping[str, str]:
        """Return the other direction."""
        return {old.lower(): new for new, old in self.old_names.items()}


@dataclass(frozen=True)
class Star:
    """A `*` over a table whose columns are not known."""

    table: Table
    changes: Changes

    def column(self, name: str) -> Expression | None:
        """Return what one of its columns comes from."""
        key, changes = name.lower(), self.changes
        if key in changes.replaced:
            return changes.replaced[key]
        if key not in changes.old_names and key in changes.left_out.union(changes.new_names):
            return None
        found = self.table.column(changes.old_names.get(key, name))
        return same(found) if found else None


Slot = Star | tuple[str, Expression]
"""A `*` that is open, or a column with what it comes from."""


def selected(nodes: Nodes, node: int, slots: Sequence[Slot], scope: Scope, names: Sequence[str]) -> Result:
    """Return the result that slots give; `names` are its columns where they are known."""
    made: dict[int, tuple[Expression, ...]] = {}
    columns: list[Attribute] = []

    def add(name: str, expression: Expression) -> Attribute:
        column = nodes.attribute(name)
        made[column.id] = (expression,)
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
                    scope.unknown(_OF_WHICH if opened[1:] else "what a * stands for is not known")
                add(name, source or Expression())

    def more(name: str) -> Attribute | None:
        if len(opened) > 1:
            scope.unknown(_OF_WHICH)
            return None
        source = opened[0].column(name)
        return add(name, source) if source else None

    end = nodes.add(lambda: Derive((node,), tuple(columns), LABEL, made, reason=scope.reason))
    return Result(end, columns, more if opened and not names else None)


def slots_of(
    select: Any, scope: Scope, dialect: Dialect, read: Callable[[int | None, Any], Expression]
) -> Iterator[Slot]:
    """Yield what the items of SELECT give; `read` is told their positions, and reads them."""
    from sqlglot import exp

    for position, item in enumerate(select.expressions):
        star = item if isinstance(item, exp.Star) else item.this if item.is_star else None
        if not isinstance(star, exp.Star):
            yield (item.alias or item.output_name or item.name), read(position, item)
            continue
        named = [one for clause in ("replace", "rename") for one in star.args.get(clause) or ()]
        if not all(isinstance(one, exp.Alias) for one in named):
            raise SqlError("a * that changes columns is not known")
        changes = Changes(
            frozenset(
                one.name.lower()
                for clauses in (star.args, select.args)
                for name in ("except_", "except", "exclude")
                for one in clauses.get(name) or ()
            ),
            {one.alias.lower(): read(None, one.this) for one in star.args.get("replace") or ()},
            {one.alias.lower(): dialect.stored(one.this.this) for one in star.args.get("rename") or ()},
        )
        yield from every_column(scope, changes, "" if item is star else item.table)


def every_column(scope: Scope, changes: Changes, name: str = "") -> Iterator[Slot]:
    """Yield what a `*` stands for, one of a single table where it has a name."""
    tables = [one for one in scope.tables if not name or one.name == name.lower()]
    if not tables:
        raise SqlError(f"what {name}.* stands for is not known")
    replaced, new_names, left_out = changes.replaced, changes.new_names, changes.left_out
    if not name:
        # Columns of USING come first, and once.
        for key, ids in scope.merged.items():
            if key not in left_out:
                yield key, replaced.get(key) or Expression(tuple((one, IDENTITY) for one in ids))
        left_out = left_out.union(scope.merged)
    for table in tables:
        if table.more is not None:
            yield Star(table, replace(changes, left_out=left_out))
            continue
        for key, column in table.columns.items():
            if key not in left_out:
                yield new_names.get(key, column.name), replaced.get(key) or same(column)
