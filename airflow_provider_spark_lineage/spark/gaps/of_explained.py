"""Sentences of gaps about Spark's texts of plans, and about plans of Spark Connect."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Sentence

# The text as a whole.
CUT_BEFORE_END = Sentence(
    GapKind.UNREAD_TEXT, "Spark's explain text has no plan with columns: it was cut before its end"
)
NOT_EXTENDED = Sentence(
    GapKind.UNREAD_TEXT, "Spark's explain text has no plan with columns: it is not the extended text"
)
UNREAD_ANALYZED = Sentence(GapKind.UNREAD_TEXT, "the analyzed plan could not be read: {error}")
UNREAD_PHYSICAL = Sentence(GapKind.UNREAD_TEXT, "the physical plan could not be read: {error}")

# Details that the text lacks.
NO_DETAILS = Sentence(GapKind.MISSING_DETAIL, "its details are not in the text")
NO_DETAILS_SET_MODE = Sentence(
    GapKind.MISSING_DETAIL, "its details are not in the text: set spark.sql.ui.explainMode to extended"
)
CUT = Sentence(GapKind.MISSING_DETAIL, "its text was cut: set spark.sql.debug.maxToStringFields higher")
CUT_LOCATION = Sentence(
    GapKind.MISSING_DETAIL, "{node}: its location was cut: set spark.sql.maxMetadataStringLength higher"
)
NO_SINK = Sentence(
    GapKind.MISSING_DETAIL,
    "the target of a stream's batch is not in its physical plan: set spark.sql.ui.explainMode to extended",
)
NO_LOCATION = Sentence(GapKind.UNKNOWN_LOCATION, "the location of its table is not in the text")
NO_ASSIGNED_VALUES = Sentence(
    GapKind.MISSING_DETAIL, "the values that its clauses assign are not in the text"
)
NO_REPLACED_ROWS = Sentence(GapKind.MISSING_DETAIL, "the rows that it replaces are not in the text")
NO_SOURCES_OF_VALUE = Sentence(GapKind.MISSING_DETAIL, "the sources of its value are not in the text")
NO_USES_OF_VALUE = Sentence(GapKind.MISSING_DETAIL, "the uses of its value are not in the text")
UNTRACED_COLUMNS = Sentence(
    GapKind.MISSING_DETAIL,
    "the sources of the written columns {columns} are not in the text: set {cure}",
)
NO_BODY = Sentence(
    GapKind.MISSING_DETAIL,
    "the body of the function `{name}` is not in the text: its result is taken from its arguments",
)
SET_MODE = "{reason}: set spark.sql.ui.explainMode to extended"
"""A further clause for what only the extended text has."""

# Parts that were not understood.
UNREAD_NODE = Sentence(GapKind.UNREAD_TEXT, "its text could not be read: {error}")
UNREAD_NAMES = Sentence(GapKind.UNREAD_TEXT, "the names of the view's columns could not be read")
UNREAD_EXPRESSION = Sentence(
    GapKind.UNREAD_TEXT, "{what} could not be read: it is taken from every column that it names"
)
UNREAD_KEYS = Sentence(
    GapKind.UNREAD_TEXT, "its keys could not be read: they are taken from every column that they name"
)

# Parts with several meanings.
AMBIGUOUS_SUBQUERY = Sentence(
    GapKind.AMBIGUOUS_COLUMN,
    "the expression of a subquery could not be told apart: the subquery is left out",
)
AMBIGUOUS_FIELD = Sentence(
    GapKind.AMBIGUOUS_COLUMN,
    "the field `{name}` could not be told apart: it is taken from the whole struct",
)
MAY_BE_SUBQUERY = Sentence(GapKind.AMBIGUOUS_COLUMN, "it may come from a subquery of the query")

# Commands of Spark Connect.
NOT_DESCRIBED = Sentence(GapKind.UNKNOWN_LOCATION, "the catalog did not describe the written table `{table}`")
REPLACED_ROWS = Sentence(
    GapKind.UNRECORDED_COMMAND, "the condition on the rows that were replaced is not recorded"
)
MERGED_COLUMNS = Sentence(GapKind.UNRECORDED_COMMAND, "the sources of each merged column are not recorded")
FUNCTION_FOR_BATCHES = Sentence(
    GapKind.UNRECORDED_COMMAND, "the effect of the function for the batches of a stream is not recorded"
)
