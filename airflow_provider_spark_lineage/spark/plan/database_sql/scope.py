"""Name resolution: the tables of a query, their known columns, and the column behind each name.

A table of the database has the columns that the query names. A name that could be a column of several
tables is not resolved, and the scope notes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_queries
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason, joined
from airflow_provider_spark_lineage.spark.plan.algebra import IDENTITY, Attribute, Kind, Transformation

_WITH_WHOLE_ROWS = frozenset({"bigquery", "duckdb", "postgres"})
"""Dialects where the name of a table may be used as its whole row."""

_COMMON_WORDS = frozenset(
    {"current_date", "current_time", "current_timestamp", "current_user", "session_user"}
)
_WORDS: Mapping[str, frozenset[str]] = {
    "": frozenset({"rownum", "sysdate", "systimestamp", "user"}),
    "bigquery": frozenset({"_file_name", "_partitiondate", "_partitiontime", "_table_suffix"}),
    "oracle": frozenset(
        """
        connect_by_iscycle connect_by_isleaf level ora_rowscn rowid rownum sysdate systimestamp uid user
        """.split()
    ),
    "postgres": frozenset({"ctid", "tableoid", "user", "xmax", "xmin"}),
    "redshift": frozenset({"sysdate", "user"}),
    "snowflake": frozenset({"sysdate"}),
    "sqlite": frozenset({"_rowid_", "oid", "rowid"}),
    "tsql": frozenset({"user"}),
}
"""Dialect -> keywords and pseudo-columns that look like columns."""


UNITS = frozenset({"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"})
_WITH_UNIT = frozenset({"dateadd", "datediff", "timestampadd", "timestampdiff"})
"""Functions whose arguments are a unit and two values."""


def _unit_argument(function: Any) -> Any:
    """Return the unit argument of DATEADD and similar functions."""
    if type(function).__name__ == "Anonymous" and function.name.lower() in _WITH_UNIT:
        return function.expressions[0] if len(function.expressions) == 3 else None
    if type(function).__name__.lower() in _WITH_UNIT and function.args.get("unit") is not None:
        return function.this
    return None


_IMPLICITLY_RECURSIVE = frozenset({"", "oracle", "snowflake", "sqlite", "tsql"})
"""Dialects where a CTE may refer to itself without RECURSIVE."""


@dataclass(frozen=True)
class Dialect:
    """The rules of a database for reading SQL."""

    name: str = ""
    """sqlglot's name of the dialect; empty for standard SQL."""

    fold: str = ""
    """Case of stored names without quotes: `lower`, `upper`, or empty: as written."""

    def stored(self, identifier: Any) -> str:
        """Return a name as the database stores it."""
        name = str(identifier.name)
        if identifier.args.get("quoted") or not self.fold:
            return name
        return name.lower() if self.fold == "lower" else name.upper()

    def may_recurse(self, cte: Any) -> bool:
        """Return whether a CTE's name inside its own query refers to the CTE, not to a table."""
        return self.name in _IMPLICITLY_RECURSIVE or bool(cte.parent and cte.parent.args.get("recursive"))

    def is_word(self, column: Any) -> bool:
        """Return whether an apparent column is a keyword or pseudo-column of the database."""
        if column.table or column.this.args.get("quoted"):
            return False
        name = column.name.lower()
        if name in UNITS and column is _unit_argument(column.parent):
            return True
        return name in _COMMON_WORDS or name in _WORDS.get(self.name, ())


@dataclass
class Table:
    """An item of FROM, under its name in the query."""

    name: str
    columns: dict[str, Attribute]
    """Columns by their names in lower case."""

    more: Callable[[str], Attribute | None] | None = None
    """Returns a column that is not listed yet; None if the list is complete."""

    is_function: bool = False
    """Its rows come from a function, whose name also refers to its only column."""

    def column(self, name: str) -> Attribute | None:
        """Return a column; if the list is not complete, any name becomes a column."""
        column = self.columns.get(name.lower())
        if column is None and self.is_function and len(self.columns) == 1 and name.lower() == self.name:
            return next(iter(self.columns.values()))
        if column is None and self.more is not None:
            column = self.more(name)
            if column is not None:
                self.columns[name.lower()] = column
        return column


@dataclass
class QueryScope:
    """The tables and columns that the expressions of one SELECT can refer to."""

    tables: list[Table] = field(default_factory=list)
    merged: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Name of a column of USING -> ids of the columns of both sides."""

    reasons: dict[Reason, None] = field(default_factory=dict)
    """Sentences about names that could not be resolved, in order."""

    def note(self, reason: Reason) -> None:
        """Note a name that could not be resolved."""
        self.reasons[reason] = None

    @property
    def reason(self) -> Reason | None:
        """Return all notes as one sentence; None without notes."""
        return joined(self.reasons)


def attributes_of(
    column: Any, scopes: Sequence[QueryScope], dialect: Dialect
) -> tuple[tuple[int, Transformation], ...]:
    """Return the attributes that a column refers to, from the innermost scope outwards."""
    name = dialect.stored(column.this)
    if column.table:
        tables = (
            candidate
            for around in scopes
            for candidate in around.tables
            if candidate.name == column.table.lower()
        )
        table = next(tables, None)
        if table is not None:
            attribute = table.column(name)
            return ((attribute.id, IDENTITY),) if attribute is not None else _missing(column, scopes[0])
        # The qualifier is not a table: it is a struct column, perhaps qualified by its table.
        name = dialect.stored(column.args["table"])
    nested = Transformation(Kind.TRANSFORMATION) if column.table else IDENTITY
    for around in scopes:
        alike = [candidate for candidate in around.tables if candidate.name == (column.db or name).lower()]
        if alike and (column.db or alike[0].is_function):
            attribute = alike[0].column(name)
            return ((attribute.id, nested),) if attribute is not None else _missing(column, scopes[0])
        ids = around.merged.get(name.lower(), ())
        # A known column takes precedence over a table of the same name.
        listed = any(name.lower() in table.columns for table in around.tables if table.more is None)
        if alike and not ids and not listed and dialect.name in _WITH_WHOLE_ROWS:
            break
        match = unqualified(name, around.tables)
        if ids or match is not None:
            return tuple((attribute_id, nested) for attribute_id in ids or (match.id if match else 0,))
        if sum(table.more is not None for table in around.tables) > 1:
            break
    return _missing(column, scopes[0])


def _missing(column: Any, scope: QueryScope) -> tuple[()]:
    scope.note(of_queries.UNKNOWN_TABLE(name=column.name))
    return ()


def unqualified(name: str, tables: Sequence[Table]) -> Attribute | None:
    """Return the column of a name if exactly one of the tables can have it."""
    listed = [table for table in tables if name.lower() in table.columns and table.more is None]
    opened = [table for table in tables if table.more is not None]
    able = listed or opened
    return able[0].column(name) if len(able) == 1 else None
