"""Sentences of gaps about Spark's plans, and about the executions of a task together."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Sentence

# Nodes of a plan.
UNKNOWN_COMMAND = Sentence(GapKind.UNKNOWN_NODE, "{name} is not known: its reads and writes are not recorded")
UNKNOWN_LEAF = Sentence(GapKind.UNKNOWN_NODE, "{name} is not known: the source of its rows is not recorded")
UNKNOWN_NODE = Sentence(
    GapKind.UNKNOWN_NODE, "{name} is not known: the columns of its input are passed through{rest}"
)
UNREAD_COMMAND = Sentence(
    GapKind.MISSING_DETAIL, "{name} could not be read: its reads and writes are not recorded"
)
UNREAD_LEAF = Sentence(
    GapKind.MISSING_DETAIL, "{name} could not be read: the source of its rows is not recorded"
)
UNREAD_NODE = Sentence(
    GapKind.MISSING_DETAIL, "{name} could not be read: the columns of its input are passed through{rest}"
)
UNWRITTEN = Sentence(
    GapKind.CODE_OVER_ROWS, "Spark cannot write {name} as JSON: taken from every input column"
)
EVERY_INPUT = Sentence(GapKind.CODE_OVER_ROWS, "taken from every input column")
FURTHER_COLUMNS = Sentence(GapKind.CODE_OVER_ROWS, "further columns are taken from every input column")
TOO_MANY_EDGES = "{reason}; too many edges for single columns, so all act on the whole output"
"""A further clause for a node that is code over whole rows."""

NO_PROJECTIONS = Sentence(
    GapKind.AMBIGUOUS_COLUMN,
    "its projections are not recorded: new columns are taken from all columns that it drops",
)
TRANSPOSED = Sentence(
    GapKind.UNKNOWN_ROWS, "Spark ran the inner query during analysis, and keeps only its rows"
)
CACHED = Sentence(
    GapKind.UNKNOWN_ROWS, "read from Spark's cache; only the analyzed plan has the cached query"
)
IN_MEMORY = Sentence(GapKind.UNKNOWN_ROWS, "rows that a streaming query wrote to memory")
NOT_IN_PLAN = Sentence(GapKind.BROKEN_PLAN, "the source of the values is not in the plan")
NO_QUERY = Sentence(GapKind.BROKEN_PLAN, "its query is not in the plan")
SAME_IDS = Sentence(
    GapKind.BROKEN_PLAN, "different columns of its inputs have the same id and could not be told apart"
)
NO_SUCH_INPUT = Sentence(GapKind.BROKEN_PLAN, "an expression uses a column that none of its inputs has")
NO_DEFINITION = Sentence(GapKind.BROKEN_PLAN, "its definition is not in the plan")
OWN_DEFINITION = Sentence(GapKind.BROKEN_PLAN, "its definition refers to itself")

OF_COLUMNS = "columns {columns}: {reason}"
OF_ROWS = "which rows there are: {reason}"
"""Words before a gap that is about some columns, or about the choice of rows."""

# Commands.
CHANGED_ROWS = Sentence(
    GapKind.UNRECORDED_COMMAND, "the rows of its table that it changes, and their sources, are not read"
)
EMPTIED_PARTITION = Sentence(
    GapKind.UNRECORDED_COMMAND, "the partition of its table that it empties is not read"
)
PROCEDURE = Sentence(
    GapKind.UNRECORDED_COMMAND, "the reads and writes of a procedure of a catalog are not recorded"
)
OTHER_SYSTEM = Sentence(GapKind.UNRECORDED_COMMAND, "another system runs its text")
CURSOR = Sentence(GapKind.UNRECORDED_COMMAND, "the query of a cursor is recorded only as text")
DROPPED_DATABASE = Sentence(
    GapKind.UNNAMED_DATASET, "a database was dropped with all its tables; their names are not recorded"
)
MORE_DROPPED_TABLES = Sentence(
    GapKind.UNNAMED_DATASET, "{count} more tables of the dropped database are not named"
)
MAY_HAVE_EXISTED = Sentence(GapKind.UNCERTAIN_CHANGE, "the table may have existed already")
DATA_MAY_EXIST = Sentence(GapKind.UNCERTAIN_CHANGE, "the dropped table's data may still exist")
MAY_BE_ABSENT = Sentence(GapKind.UNCERTAIN_CHANGE, "the dropped table may not have existed")

# Writes.
REMOVED_ROWS = Sentence(GapKind.FAILED_WRITE, "the write failed; earlier rows may have been removed")
SOME_ROWS = Sentence(GapKind.FAILED_WRITE, "the write failed; some of its rows may have been written")
REPLACED_BY = Sentence(
    GapKind.UNKNOWN_COLUMNS, "the columns that decide which rows it replaces are not recorded"
)

# Rows without a known origin.
ROWS_OF_PROGRAM = Sentence(
    GapKind.ROWS_FROM_PYTHON, "{rows} came from an RDD or from Python memory; their source is not recorded"
)
ROWS_OF_STATE = Sentence(
    GapKind.UNKNOWN_ROWS,
    "{rows} come from earlier batches of the stream; the inputs of those batches are not recorded",
)
RDD_WITH_COLUMNS = Sentence(
    GapKind.ROWS_FROM_RDD, "{rows} came through an RDD; taken from every column that it read"
)
RDD_WITHOUT_COLUMNS = Sentence(
    GapKind.ROWS_FROM_RDD, "{rows} came through an RDD; the columns that it read are not recorded"
)
SEVERAL_FRAMES = Sentence(
    GapKind.AMBIGUOUS_COLUMN,
    "several kept frames have the same columns; the frame that is read could not be told apart",
)

# Values of session variables.
PARAMETER = Sentence(
    GapKind.VARIABLE_VALUE, "a parameter of EXECUTE IMMEDIATE may be the value of the variable {names}"
)
TEXT_OF_VARIABLES = Sentence(
    GapKind.VARIABLE_VALUE, "its text may have values of the variable {names}, which Spark reads as literals"
)
LISTED_ROWS = Sentence(GapKind.VARIABLE_VALUE, "the listed rows may have values of the variable {names}")

# Executions together.
NO_SUCH_COLUMN = Sentence(
    GapKind.UNKNOWN_COLUMNS, "`{field}` of {dataset} was read back, but the task wrote no such column"
)
COLLECTED = Sentence(
    GapKind.COLLECTED_ROWS,
    "the program collected rows of {dataset}{lines}: literals and functions in its later writes to {outputs} "
    "may hold values of these rows, without an edge",
)

# Plans as a whole.
NOT_READ = Sentence(GapKind.UNREAD_PLAN, "the plan could not be read")
UNREAD_PLAN = Sentence(GapKind.UNREAD_PLAN, "the plan could not be read: {error}: {message}")
UNREAD_TEXT = Sentence(GapKind.UNREAD_PLAN, "the plan's text could not be read: {error}")
