"""The tables of a warehouse, as rows: each with its key, its columns and how rows of one key are folded.

Everything else is made from these rows: schemas of Spark, folds, the reference in `docs/warehouse.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

FORMAT = 1
"""Version of the tables: a warehouse of another one is not read."""


class Fold(Enum):
    """Rule that makes one row of the rows of a key: all rules commute and may be repeated."""

    KEY = "key"
    FIRST = "least"
    LAST = "greatest"
    LATEST = "of the latest run"
    FIXED = "the same in every row of the key"


@dataclass(frozen=True)
class WarehouseColumn:
    """A column."""

    name: str
    type: str
    """Type of Spark SQL."""
    about: str
    fold: Fold = Fold.FIXED


@dataclass(frozen=True)
class WarehouseTable:
    """A table."""

    name: str
    about: str
    columns: tuple[WarehouseColumn, ...]
    partition: str = ""
    """Column of dates whose rows are written together; empty for a table that each load writes anew."""

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that name a row."""
        return tuple(column.name for column in self.columns if column.fold is Fold.KEY)

    @property
    def ddl(self) -> str:
        """The columns with their types, as Spark's schemas are written."""
        return ", ".join(f"`{column.name}` {column.type}" for column in self.columns)


def _table(
    name: str,
    about: str,
    *columns: tuple[str, str, str] | tuple[str, str, str, Fold],
    tables: dict[str, WarehouseTable] | None = None,
) -> None:
    rows = tuple(WarehouseColumn(*column) for column in columns)
    partition = "event_date" if any(column.name == "event_date" for column in rows) else ""
    (TABLES if tables is None else tables)[name] = WarehouseTable(name, about, rows, partition)


TABLES: dict[str, WarehouseTable] = {}
"""Name -> table."""

IMPACT_TABLES: dict[str, WarehouseTable] = {}
"""The same for tables that `warehouse impact` writes: files of parquet in every format."""

_DATE = ("event_date", "DATE", "Date of `event_time` in UTC; 1970-01-01 if that cannot be read.")
_TIME = ("event_time", "TIMESTAMP", "Time of the run: its end event, or else its last one.")
_RUN = ("run_id", "STRING", "`run.runId` of the events.", Fold.KEY)
_FIRST = ("first_seen", "TIMESTAMP", "Time of the first run that had it.", Fold.FIRST)
_LAST = ("last_seen", "TIMESTAMP", "Time of the last run that had it.", Fold.LAST)
_JOB = ("job_id", "BIGINT", "The job: a row of `jobs`.")
_SCHEMA = ("schema_id", "BIGINT", "Columns as the event has them: a row of `dataset_schemas`.")
_COUNTS = (
    ("row_count", "BIGINT", "Rows, if the event says it."),
    ("bytes", "BIGINT", "Bytes, if the event says it."),
    ("files", "BIGINT", "Files, if the event says it."),
)

_table(
    "events",
    "Every event that was loaded, once.",
    ("event_id", "STRING", "SHA-256 of the event, written as JSON with sorted keys.", Fold.KEY),
    _DATE,
    ("event_time", "TIMESTAMP", "`eventTime`; null if it cannot be read."),
    ("event_type", "STRING", "`eventType` in small letters; `job` or `dataset` for events of no run."),
    ("run_id", "STRING", "`run.runId`; empty for events of no run."),
    ("parent_run_id", "STRING", "Run id in the facet `parent`; empty without one."),
    ("job_namespace", "STRING", "`job.namespace`."),
    ("job_name", "STRING", "`job.name`."),
    ("producer", "STRING", "`producer`."),
    ("raw", "STRING", "The event as JSON, with sorted keys."),
    ("source", "STRING", "File that had it first."),
    ("load_id", "STRING", "Load that had it first: a row of `loads`."),
)
_table(
    "runs",
    "Every run. A run belongs to the date of its end event, or else of its last event.",
    _RUN,
    _DATE,
    _TIME,
    _JOB,
    ("job_namespace", "STRING", "Namespace of the job."),
    ("job_name", "STRING", "Name of the job; `<dag_id>.<task_id>` for a task of Airflow."),
    ("is_counted", "BOOLEAN", "False if a run above repeats its datasets, or if only runs below have some."),
    ("group_id", "STRING", "The run, or for an instance of a mapped task the run of its DAG."),
    ("is_instance", "BOOLEAN", "True for an instance of a mapped task."),
    ("parent_run_id", "STRING", "Run id of the parent; empty without one."),
    ("parents", "ARRAY<STRING>", "Run ids of the parents in all of its events."),
    ("root_run_id", "STRING", "Run id of the root of the parents; empty without one."),
    ("state", "STRING", "Type of the end event, or of the last one, in small letters."),
    ("nominal_start", "TIMESTAMP", "`nominalStartTime` of the facet `nominalTime`."),
    ("started_at", "TIMESTAMP", "Time of the first event."),
    ("ended_at", "TIMESTAMP", "Time of the end event; null if there is none."),
    ("error_class", "STRING", "Class of the first failure."),
    ("error_message", "STRING", "Message of the first failure."),
    ("gaps", "INT", "Number of gaps in its lineage."),
    ("attempt", "INT", "Try of the task, from 1."),
    ("dag_id", "STRING", "DAG of the task; empty if Airflow did not run it."),
    ("task_id", "STRING", "Task, without its DAG."),
    ("airflow_run_id", "STRING", "Airflow's `run_id` of the DAG run."),
    ("map_index", "INT", "Index of the instance of a mapped task."),
    ("logical_date", "STRING", "Logical date of the DAG run."),
    ("owners", "ARRAY<STRING>", "Owners that its events name."),
    ("application_id", "STRING", "First Spark application that its events name."),
    ("event_time_text", "STRING", "`event_time` as the event has it."),
    ("event_dates", "ARRAY<DATE>", "Dates of its events."),
    ("time_ns", "DECIMAL(21,0)", "`event_time` in nanoseconds since 1970; 0 if it cannot be read."),
    ("last_event_id", "STRING", "The event of `event_time`; it decides the order of equal times."),
    ("is_sealed", "BOOLEAN", "True if events of it were dropped: the row stays as it is."),
)
_table(
    "run_inputs",
    "The datasets that a run read; only of runs that count.",
    _RUN,
    ("dataset_id", "BIGINT", "The dataset by its name in the event: a row of `datasets`.", Fold.KEY),
    _DATE,
    _TIME,
    _JOB,
    *_COUNTS,
    _SCHEMA,
)
_table(
    "run_outputs",
    "The datasets that a run wrote, each with the version of its lineage; only of runs that count.",
    _RUN,
    ("dataset_id", "BIGINT", "The dataset by its name in the event: a row of `datasets`.", Fold.KEY),
    _DATE,
    _TIME,
    _JOB,
    ("lineage_id", "BIGINT", "Where the columns came from: a row of `lineage_versions`."),
    ("lifecycle", "STRING", "`lifecycleStateChange` in small letters; empty if the event has none."),
    *_COUNTS,
    _SCHEMA,
)
_table(
    "assertions",
    "Results of checks at datasets; only of runs that count.",
    _RUN,
    ("dataset_id", "BIGINT", "The dataset: a row of `datasets`.", Fold.KEY),
    ("column", "STRING", "The column; empty for the whole dataset.", Fold.KEY),
    ("name", "STRING", "Name of the check.", Fold.KEY),
    _DATE,
    ("status", "STRING", "`passed`, `failed` or `skipped`."),
    ("severity", "STRING", "`error` or `warn`; empty if the event has none."),
    ("expected", "STRING", "The value that was expected."),
    ("actual", "STRING", "The value that was found."),
)
_table(
    "jobs",
    "Every job with a run that counts.",
    ("job_id", "BIGINT", "`xxhash64(namespace, name)`.", Fold.KEY),
    ("namespace", "STRING", "Namespace of the job."),
    ("name", "STRING", "Name of the job."),
    _FIRST,
    _LAST,
    ("last_run_id", "STRING", "Its last run: a row of `runs`.", Fold.LATEST),
    ("last_state", "STRING", "State of that run.", Fold.LATEST),
)
_table(
    "datasets",
    "Every dataset that a run read or wrote, that an edge comes from, or that is the meaning of a name.",
    ("dataset_id", "BIGINT", "`xxhash64(namespace, name)`.", Fold.KEY),
    ("namespace", "STRING", "Namespace of the dataset."),
    ("name", "STRING", "Name of the dataset."),
    ("canonical_id", "BIGINT", "The dataset that this name means now; itself, if it is not a symlink."),
    ("first_seen", "TIMESTAMP", "Time of the first run that read or wrote it.", Fold.FIRST),
    ("last_written_at", "TIMESTAMP", "Time of the last run that wrote it.", Fold.LAST),
    ("last_read_at", "TIMESTAMP", "Time of the last run that read it.", Fold.LAST),
    ("last_writer", "BIGINT", "Job of the last run that wrote it.", Fold.LATEST),
    ("state", "STRING", "`exists`; `dropped` if its last write was a drop; `unknown` if no run wrote it."),
)
_table(
    "dataset_names",
    "Symlinks: names that mean a dataset for a time.",
    ("namespace", "STRING", "Namespace of the name.", Fold.KEY),
    ("name", "STRING", "The name.", Fold.KEY),
    ("dataset_id", "BIGINT", "The dataset that it means: a row of `datasets`.", Fold.KEY),
    ("valid_from", "TIMESTAMP", "When this was first said; before, the first dataset of a name holds."),
    ("valid_to", "TIMESTAMP", "When it was said of another dataset; null if it still holds."),
    ("is_followed", "BOOLEAN", "False if events use the name for several datasets in turn."),
    ("first_said_ns", "DECIMAL(21,0)", "First time that an event said it, in nanoseconds.", Fold.FIRST),
    ("last_said_ns", "DECIMAL(21,0)", "Last time that an event said it, in nanoseconds.", Fold.LAST),
)
_table(
    "dataset_tags",
    "The tags of datasets and columns, as the newest facet `tags` of each dataset has them.",
    ("namespace", "STRING", "Namespace of the dataset.", Fold.KEY),
    ("name", "STRING", "Name of the dataset.", Fold.KEY),
    ("dataset_id", "BIGINT", "`xxhash64(namespace, name)`."),
    (
        "tags",
        "ARRAY<STRUCT<key: STRING, value: STRING, field: STRING>>",
        "Keys and values; `field` is empty for a tag of the dataset.",
    ),
    ("said_ns", "DECIMAL(21,0)", "Time of the event with the facet, in nanoseconds; 0 without a time."),
    ("event_id", "STRING", "That event; of several at one time, the one with the greatest id."),
)
_table(
    "dataset_schemas",
    "The columns that a dataset had.",
    ("dataset_id", "BIGINT", "The dataset: a row of `datasets`.", Fold.KEY),
    ("schema_id", "BIGINT", "Hash of the columns.", Fold.KEY),
    ("columns", "ARRAY<STRUCT<name: STRING, type: STRING>>", "Names and types, in their order."),
    _FIRST,
    _LAST,
)
_table(
    "lineage_versions",
    "What a job said of the lineage of one output. A job that changes nothing has one version for ever.",
    ("lineage_id", "BIGINT", "Hash of the job, the output and its lineage.", Fold.KEY),
    _JOB,
    ("target_id", "BIGINT", "The output: a row of `datasets`."),
    (
        "edges",
        "ARRAY<STRUCT<source_id: BIGINT, source_column: STRING, target_column: STRING, type: STRING,"
        " subtype: STRING, masking: BOOLEAN>>",
        "Edges of columns; `target_column` is null for an edge of all rows.",
    ),
    ("sources", "ARRAY<BIGINT>", "The datasets that fed the output."),
    (
        "gaps",
        "ARRAY<STRUCT<place: STRING, kind: STRING, reason: STRING, column: STRING, of_output: BOOLEAN>>",
        "What is not known of it.",
    ),
    ("is_planned", "BOOLEAN", "True if it was read from a text that has not run."),
    ("n_edges", "INT", "Number of edges."),
    _FIRST,
    _LAST,
)
_table(
    "column_edges",
    "Every edge between columns that a run ever had, with the names of its events.",
    ("edge_id", "BIGINT", "Hash of all columns but the last four.", Fold.KEY),
    ("source_id", "BIGINT", "The source: a row of `datasets`."),
    ("source_column", "STRING", "Column of the source."),
    ("target_id", "BIGINT", "The output: a row of `datasets`."),
    ("target_column", "STRING", "Column of the output; null for all rows of it."),
    ("type", "STRING", "`DIRECT` or `INDIRECT`."),
    ("subtype", "STRING", "`IDENTITY`, `AGGREGATION`, `FILTER` ...; empty if the event has none."),
    ("masking", "BOOLEAN", "True if the value is masked."),
    _JOB,
    _FIRST,
    _LAST,
    ("last_run_id", "STRING", "The last run that had it.", Fold.LATEST),
)
_table(
    "dataset_edges",
    "Every dataset that ever fed an output, with the names of the events.",
    ("edge_id", "BIGINT", "Hash of the next three columns.", Fold.KEY),
    ("source_id", "BIGINT", "The source: a row of `datasets`."),
    ("target_id", "BIGINT", "The output: a row of `datasets`."),
    _JOB,
    _FIRST,
    _LAST,
)
_table(
    "current_column_edges",
    "The edges of the last write of each job and output; a name is the dataset that it meant then.",
    ("job_id", "BIGINT", "The job: a row of `jobs`.", Fold.KEY),
    ("run_id", "STRING", "Run of the write: a row of `runs`."),
    ("source_namespace", "STRING", "Namespace of the source.", Fold.KEY),
    ("source_name", "STRING", "Name of the source.", Fold.KEY),
    ("source_column", "STRING", "Column of the source.", Fold.KEY),
    ("target_namespace", "STRING", "Namespace of the output.", Fold.KEY),
    ("target_name", "STRING", "Name of the output.", Fold.KEY),
    ("target_column", "STRING", "Column of the output; null for all rows of it.", Fold.KEY),
    ("type", "STRING", "`DIRECT` or `INDIRECT`.", Fold.KEY),
    ("subtype", "STRING", "`IDENTITY`, `AGGREGATION`, `FILTER` ...; empty if the event has none.", Fold.KEY),
    ("masking", "BOOLEAN", "True if the value is masked.", Fold.KEY),
)
_table(
    "current_runs",
    "The runs that decide the current lineage.",
    _RUN,
    ("run_date", "DATE", "The date of the run in `runs` and in the other tables with dates."),
)
_table(
    "loads",
    "Every load.",
    ("load_id", "STRING", "Time and a random number.", Fold.KEY),
    ("files", "BIGINT", "Files that it read."),
    ("events", "BIGINT", "Events in these files."),
    ("new_events", "BIGINT", "Events that no earlier load had."),
    ("late_events", "BIGINT", "New events of runs that are sealed: they change no run."),
    ("bad_lines", "BIGINT", "Lines that are not events: see the folder `rejected`."),
    ("dates", "ARRAY<STRING>", "Dates whose rows it wrote."),
    ("started_at", "TIMESTAMP", "Begin of the load."),
    ("ended_at", "TIMESTAMP", "End of the load."),
    ("package_version", "STRING", "Version of this package."),
)

_OF_LOAD = ("load_id", "STRING", "The load whose lineage this is; a later one does not change the row.")

_table(
    "column_impact",
    "What depends on each column, downstream through all jobs. Written by `warehouse impact`.",
    ("source_namespace", "STRING", "Namespace of the source.", Fold.KEY),
    ("source_name", "STRING", "Name of the source.", Fold.KEY),
    ("source_column", "STRING", "Column of the source.", Fold.KEY),
    ("target_namespace", "STRING", "Namespace of what depends on it.", Fold.KEY),
    ("target_name", "STRING", "Name of what depends on it.", Fold.KEY),
    (
        "target_column",
        "STRING",
        "The column; null for all rows: for each column of this dataset that has no row of its own here.",
        Fold.KEY,
    ),
    ("by_value", "BOOLEAN", "True if values of the source get into it."),
    ("by_rows", "BOOLEAN", "True if the source decides which rows there are, or which value is chosen."),
    ("depth", "INT", "Number of jobs between, on the shortest path."),
    _OF_LOAD,
    tables=IMPACT_TABLES,
)
_table(
    "blast_radius",
    "How much depends on each column; 0 where nothing does. Written by `warehouse impact`.",
    ("namespace", "STRING", "Namespace of the dataset.", Fold.KEY),
    ("name", "STRING", "Name of the dataset.", Fold.KEY),
    ("column", "STRING", "The column.", Fold.KEY),
    ("columns", "BIGINT", "Columns that depend on it."),
    ("columns_by_value", "BIGINT", "Those of them that get values of it."),
    ("datasets", "BIGINT", "Other datasets with such a column, or whose rows depend on it."),
    ("jobs", "BIGINT", "Jobs that use it, or what depends on it."),
    _OF_LOAD,
    tables=IMPACT_TABLES,
)

OF_RUNS = ("runs", "run_inputs", "run_outputs", "assertions")
"""Tables whose rows are derived from the events of families."""
