"""What a query can name: its tables, their columns as far as they are known, and what a name stands for.

The columns of a table of the database are those that the query asks for. A name that could be of
several tables stands for none, and the scope says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import IDENTITY, Attribute, Kind, Transformation

_WITH_WHOLE_ROWS = frozenset({"bigquery", "duckdb", "postgres"})
"""Dialects in which the name of a table may stand for its whole row."""

_EVERYWHERE = frozenset({"current_date", "current_time", "current_timestamp", "current_user", "session_user"})
_WORDS: Mapping[str, frozenset[str]] = {
    "": frozenset({"rownum", "sysdate", "systimestamp", "user"}),
    "bigquery": frozenset({"_file_name", "_partitiondate", "_partitiontime", "_table_suffix"}),
    "oracle": frozenset(
        {
            "connect_by_iscycle",
            "connect_by_isleaf",
            "level",
            "ora_rowscn",
            "rowid",
            "rownum",
            "sysdate",
            "systimestamp",
            "uid",
            "user",
        }
    ),
    "postgres": frozenset({"ctid", "tableoid", "user", "xmax", "xmin"}),
    "redshift": frozenset({"sysdate", "user"}),
    "snowflake": frozenset({"sysdate"}),
    "sqlite": frozenset({"_rowid_", "oid", "rowid"}),
    "tsql": frozenset({"user"}),
}
"""What a database writes like a column: a word of its own, or something about a row that no column holds."""


UNITS = frozenset({"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"})
_WITH_UNIT = frozenset({"dateadd", "datediff", "timestampadd", "timestampdiff"})
"""Functions that are told a unit before two values."""


def _first_of_three(function: Any) -> Any:
    """Return what stands where `DATEADD` and its like have a unit."""
    if type(function).__name__ == "Anonymous" and function.name.lower() in _WITH_UNIT:
        return function.expressions[0] if len(function.expressions) == 3 else None
    if type(function).__name__.lower() in _WITH_UNIT and function.args.get("unit") is not None:
        return function.this
    return None


_RECURSES_UNASKED = frozenset({"", "oracle", "snowflake", "sqlite", "tsql"})
"""Dialects in which a definition of WITH sees itself also where nobody wrote RECURSIVE."""


@dataclass(frozen=True)
class Dialect:
    """How a database reads SQL."""

    name: str = ""
    """sqlglot's; empty for the standard's."""

    fold: str = ""
    """What it makes of names without quotes: `lower`, `upper`, or empty."""

    def stored(self, identifier: Any) -> str:
        """Return a name as the database stores it."""
        name = str(identifier.name)
        if identifier.args.get("quoted") or not self.fold:
            return name
        return name.lower() if self.fold == "lower" else name.upper()

    def sees_itself(self, cte: Any) -> bool:
        """Return whether a definition's own name, inside of it, is itself and not a table of the database."""
        return self.name in _RECURSES_UNASKED or bool(cte.parent and cte.parent.args.get("recursive"))

    def is_word(self, column: Any) -> bool:
        """Return whether what looks like a column is a word of the database's own."""
        if column.table or column.this.args.get("quoted"):
            return False
        name = column.name.lower()
        if name in UNITS and column is _first_of_three(column.parent):
            return True
        return name in _EVERYWHERE or name in _WORDS.get(self.name, ())


@dataclass
class Table:
    """Something that a query reads from, by its name in the query."""

    name: str
    columns: dict[str, Attribute]
    """By their names in lower case."""

    more: Callable[[str], Attribute | None] | None = None
    """Gives a column that is not listed; None where all are."""

    made: bool = False
    """A function gives its rows: its name also stands for their only column."""

    def column(self, name: str) -> Attribute | None:
        """Return a column; a table that is open has every one that it is asked for."""
        found = self.columns.get(name.lower())
        if found is None and self.made and len(self.columns) == 1 and name.lower() == self.name:
            return next(iter(self.columns.values()))
        if found is None and self.more is not None:
            found = self.more(name)
            if found is not None:
                self.columns[name.lower()] = found
        return found


@dataclass
class Scope:
    """What the expressions of one SELECT can see."""

    tables: list[Table] = field(default_factory=list)
    merged: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Columns of USING, which stand for those of both sides."""

    reasons: dict[str, None] = field(default_factory=dict)
    """What could not be found out."""

    def unknown(self, reason: str) -> None:
        """Note something that could not be found out."""
        self.reasons[reason] = None

    @property
    def reason(self) -> str:
        """Return everything that could not be found out."""
        return "; ".join(self.reasons)


def attributes_of(
    column: Any, scopes: Sequence[Scope], dialect: Dialect
) -> tuple[tuple[int, Transformation], ...]:
    """Return the attributes that a column stands for, looking outwards from the first scope."""
    name = dialect.stored(column.this)
    if column.table:
        tables = (one for around in scopes for one in around.tables if one.name == column.table.lower())
        table = next(tables, None)
        if table is not None:
            one = table.column(name)
            return ((one.id, IDENTITY),) if one is not None else _missing(column, scopes[0])
        # What is no table is a column with fields in it, perhaps behind its table.
        name = dialect.stored(column.args["table"])
    nested = Transformation(Kind.TRANSFORMATION) if column.table else IDENTITY
    for around in scopes:
        alike = [one for one in around.tables if one.name == (column.db or name).lower()]
        if alike and (column.db or alike[0].made):
            one = alike[0].column(name)
            return ((one.id, nested),) if one is not None else _missing(column, scopes[0])
        ids = around.merged.get(name.lower(), ())
        # A column goes first, where it is known that there is one.
        listed = any(name.lower() in table.columns for table in around.tables if table.more is None)
        if alike and not ids and not listed and dialect.name in _WITH_WHOLE_ROWS:
            break
        found = unqualified(name, around.tables)
        if ids or found is not None:
            return tuple((one, nested) for one in ids or (found.id if found else 0,))
        if sum(table.more is not None for table in around.tables) > 1:
            break
    return _missing(column, scopes[0])


def _missing(column: Any, scope: Scope) -> tuple[()]:
    scope.unknown(f"which table `{column.name}` is of is not known")
    return ()


def unqualified(name: str, tables: Sequence[Table]) -> Attribute | None:
    """Return a column that only one of several tables can have."""
    listed = [table for table in tables if name.lower() in table.columns and table.more is None]
    opened = [table for table in tables if table.more is not None]
    able = listed or opened
    return able[0].column(name) if len(able) == 1 else None
