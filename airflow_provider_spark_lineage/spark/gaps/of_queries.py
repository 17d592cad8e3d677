"""Sentences of gaps about SQL that a database runs."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Sentence

INSIDE = "in its query: {reason}"
"""Words before a gap of the query's own plan."""

NOT_UNDERSTOOD = Sentence(GapKind.UNREAD_TEXT, "{error}")
UNREAD_QUERY = Sentence(
    GapKind.UNREAD_TEXT, "its query could not be read, so only the database is named: {error}"
)
UNREAD_PREDICATES = Sentence(
    GapKind.UNREAD_TEXT, "the predicates that choose its rows could not be read: {error}"
)
COLUMN_OR_ALIAS = Sentence(GapKind.AMBIGUOUS_COLUMN, "`{name}` may be a column or an alias of SELECT")
UNKNOWN_TABLE = Sentence(GapKind.AMBIGUOUS_COLUMN, "the table of the column `{name}` is not known")
SEVERAL_STARS = Sentence(GapKind.AMBIGUOUS_COLUMN, "the table of a column of its * is not known")
UNKNOWN_STAR = Sentence(GapKind.UNKNOWN_COLUMNS, "the columns of a * are not known")
STAR_INSIDE = Sentence(GapKind.UNKNOWN_COLUMNS, "the columns of a * inside an expression are not known")
UNKNOWN_POSITION = Sentence(GapKind.UNKNOWN_COLUMNS, "the column `${name}` is not known")
NATURAL_JOIN = Sentence(GapKind.UNKNOWN_COLUMNS, "the columns that a NATURAL JOIN compares are not known")
UNKNOWN_INPUTS = Sentence(GapKind.UNKNOWN_COLUMNS, "the inputs of {function} are not known")
