"""Sentences of gaps about texts of programs, which are read before anything runs."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Sentence

PLANNED = Sentence(GapKind.PLANNED, "read from the text of the program; not what ran")()
"""The gap that every planned lineage has."""

NO_FILE_SYSTEM = Sentence(
    GapKind.NO_FILE_SYSTEM, "no default file system is given: paths without one are taken as local files"
)()
"""The gap of a planned lineage whose paths may be on another file system."""

# Names of datasets.
UNKNOWN_CATALOG = Sentence(
    GapKind.UNKNOWN_LOCATION, "the catalog of `{name}` is not known, only its name in the session"
)
UNKNOWN_LOCATION = Sentence(
    GapKind.UNKNOWN_LOCATION, "the location of `{name}` is not known, only its name in the catalog"
)
NOT_LOCATED = Sentence(
    GapKind.UNKNOWN_LOCATION, "the location of `{name}` is not known, only its name on the server"
)
UNKNOWN_OPTIONS = Sentence(GapKind.NOT_CONSTANT, "its options are not constant, so the dataset has no name")
UNKNOWN_OPTION = Sentence(
    GapKind.NOT_CONSTANT, "its option `{name}` is not constant, so the dataset has no name"
)
NO_SERVERS = Sentence(
    GapKind.UNNAMED_DATASET, "its servers are not given (`{name}`), so the dataset has no name"
)
UNKNOWN_SERVER = Sentence(GapKind.UNNAMED_DATASET, "the server of `{path}` is not known")
RELATIVE = Sentence(GapKind.UNNAMED_DATASET, "`{path}` is relative to a folder that is not known")
UNMATCHED = Sentence(GapKind.UNNAMED_DATASET, "the files that `{path}` matches are not known")
OR_UNNAMED_VIEW = Sentence(
    GapKind.UNCERTAIN_CHANGE, "`{name}` is a table, or a temporary view whose name is not a constant"
)
OR_UNCERTAIN_VIEW = Sentence(
    GapKind.UNCERTAIN_CHANGE, "`{name}` is a table, or a temporary view that a condition may register"
)
UNCERTAIN_USE = Sentence(
    GapKind.UNNAMED_DATASET,
    "the {what} of `{name}` is not known: a USE before it may not run, or is not constant",
)

# SQL.
TOO_MANY_STATEMENTS = Sentence(GapKind.LIMIT_REACHED, "only the first {count} statements are read")
TOO_MANY_TEXTS = Sentence(GapKind.LIMIT_REACHED, "only the first {count} texts of SQL are read")
NO_VARIABLE = Sentence(GapKind.NOT_CONSTANT, "the variable `{name}` is not given")
PART_OF_SQL = Sentence(GapKind.NOT_CONSTANT, "a part of the SQL is not a constant: it may read or write more")
SQL = Sentence(GapKind.NOT_CONSTANT, "the SQL {why}")
PARTS_IN_BRACES = Sentence(GapKind.UNFOLLOWED_CODE, "the parts of the SQL in braces are not followed")
DEEP_STATEMENT = Sentence(GapKind.LIMIT_REACHED, "the statement is nested too deeply")
STATEMENT = Sentence(GapKind.UNREAD_TEXT, "the statement `{words} ...` is not understood")
ANY_STATEMENT = Sentence(GapKind.UNREAD_TEXT, "the statement is not understood")
TEMPLATE = ": its template (`{{ }}`, `{% %}`) has not been rendered"
"""A further clause for a statement that is not understood."""

CREATE = Sentence(GapKind.UNREAD_TEXT, "the inputs and outputs of CREATE {kind} are not known")
SOURCE_OF_VIEW = Sentence(GapKind.UNNAMED_DATASET, "the source of a temporary view is not known")
DATASET_OF_VIEW = Sentence(
    GapKind.UNNAMED_DATASET, "the dataset behind the temporary view `{name}` is not known"
)
DROPPED_TABLES = Sentence(GapKind.UNNAMED_DATASET, "the tables of the dropped database are not known")
DIRECTORY = Sentence(GapKind.UNREAD_TEXT, "the query of INSERT OVERWRITE DIRECTORY is not understood")
NAME_OF_TABLE = Sentence(GapKind.UNREAD_TEXT, "the name of a table is not understood")
ANALYZED_TABLES = Sentence(GapKind.UNNAMED_DATASET, "the tables that ANALYZE TABLES reads are not known")
ANALYZED_TABLE = Sentence(GapKind.UNREAD_TEXT, "the table of ANALYZE is not understood")
FUNCTION = Sentence(GapKind.UNNAMED_DATASET, "the inputs of the function `{name}` are not known")
TABLE_IN_SQL = Sentence(GapKind.NOT_CONSTANT, "the name of a table is not a constant")
OPTION_IN_SQL = Sentence(GapKind.NOT_CONSTANT, "an option is not a constant")
PATH_IN_SQL = Sentence(GapKind.NOT_CONSTANT, "a path is not a constant")

# Python.
NOT_PYTHON = Sentence(GapKind.UNREAD_PROGRAM, "the script is not Python: {error}")
PATH = Sentence(GapKind.NOT_CONSTANT, "the path of {call} {why}")
TABLE = Sentence(GapKind.NOT_CONSTANT, "the table of {call} {why}")
MODE = Sentence(GapKind.NOT_CONSTANT, "the mode is not a constant: it is shown as append")
FORMAT = Sentence(GapKind.NOT_CONSTANT, "the format is not a constant")
NOT_CALLED = Sentence(GapKind.UNCERTAIN_CHANGE, "the script does not call `{name}`: it may or may not run")
UNKNOWN_CALLS = Sentence(
    GapKind.UNCERTAIN_CHANGE,
    "some calls of the methods of `{name}` are not known: they may or may not run",
)
CALLED_ELSEWHERE = Sentence(
    GapKind.UNFOLLOWED_CODE, "`{name}` is called elsewhere: its reads and writes are not followed"
)
NOT_FOLLOWED = Sentence(GapKind.UNFOLLOWED_CODE, "the reads and writes of `{name}` are not followed")
MODULE = Sentence(GapKind.UNFOLLOWED_CODE, "the module `{name}` is not followed: {error}")
OF_ANOTHER_LIBRARY = Sentence(GapKind.UNCERTAIN_CHANGE, "`{name}` may be Spark's or another library's")
TOO_MANY_STEPS = Sentence(GapKind.LIMIT_REACHED, "the script has too many steps to be followed further")
DEEP_SCRIPT = Sentence(GapKind.LIMIT_REACHED, "the script is nested too deeply to be followed here")
