"""The views over the tables of a warehouse, as rows: each is one query, written once for every engine.

The queries are in the SQL of DuckDB; `engines` writes them for Spark and Trino.
"""

from __future__ import annotations

from dataclasses import dataclass

ACCESS = "access"
"""Schema of the views that have Databricks' names: there, it is in the catalog `system`."""


@dataclass(frozen=True)
class WarehouseView:
    """A view."""

    name: str
    about: str
    query: str
    columns: tuple[tuple[str, str], ...]
    """Names, in the order of the query, each with a sentence."""


VIEWS: dict[str, WarehouseView] = {}
"""Name -> view; a view comes after those that it reads."""


def _view(name: str, about: str, query: str, *columns: tuple[str, str]) -> None:
    VIEWS[name] = WarehouseView(name, about, query, columns)


_STORES = (
    *("file", "hdfs", "viewfs", "webhdfs", "dbfs"),
    *("s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "oss", "obs", "cos", "cosn"),
)
"""Schemes of namespaces whose names may be paths; other namespaces have tables."""


def _is_path(dataset: str) -> str:
    """Return a condition on a row with a namespace and a name.

    A table in a catalog of folders has the folder of the catalog as its namespace: `file:/warehouse`, `db.t`.
    """
    namespace, name = f"{dataset}.namespace", f"{dataset}.name"
    schemes = ", ".join(f"'{scheme}'" for scheme in _STORES)
    in_folder = f"REPLACE({namespace}, '://', '') LIKE '%/%' AND {name} NOT LIKE '%/%'"
    return f"(SPLIT_PART({namespace}, ':', 1) IN ({schemes}) AND NOT ({in_folder}))"


def _path(namespace: str, name: str) -> str:
    """Return an expression for the address of a path."""
    return (
        f"CASE WHEN {namespace} = 'file' THEN 'file:' || {name}"
        f" WHEN {name} LIKE '/%' THEN {namespace} || {name} ELSE {namespace} || '/' || {name} END"
    )


_view(
    "run_datasets",
    "Every dataset that a run touched, with the names that were right at the time of the run.",
    f"""
    WITH touched AS (
      SELECT run_id, event_time, dataset_id FROM run_inputs
      UNION SELECT run_id, event_time, dataset_id FROM run_outputs
      UNION SELECT o.run_id, o.event_time, s.source_id
            FROM run_outputs AS o JOIN lineage_sources AS s ON s.lineage_id = o.lineage_id
      UNION SELECT o.run_id, o.event_time, e.source_id
            FROM run_outputs AS o JOIN lineage_edges AS e ON e.lineage_id = o.lineage_id
    ),
    spells AS (
      SELECT a.dataset_id AS alias_id, n.dataset_id, n.namespace, n.name, n.valid_to,
             CASE WHEN n.valid_from > MIN(n.valid_from) OVER (PARTITION BY n.namespace, n.name)
                  THEN n.valid_from END AS valid_from
      FROM dataset_names AS n JOIN datasets AS a ON a.namespace = n.namespace AND a.name = n.name
      WHERE n.is_followed
    ),
    located AS (
      SELECT t.run_id, t.event_time, t.dataset_id, COALESCE(s.dataset_id, t.dataset_id) AS place_id
      FROM touched AS t
      LEFT JOIN spells AS s ON s.alias_id = t.dataset_id
        AND (s.valid_from IS NULL OR s.valid_from <= t.event_time)
        AND (s.valid_to IS NULL OR t.event_time < s.valid_to)
    )
    SELECT l.run_id, l.dataset_id, d.namespace, d.name,
           CASE WHEN {_is_path("d")} THEN MIN(s.name) ELSE d.name END AS table_full_name,
           CASE WHEN {_is_path("d")} THEN {_path("d.namespace", "d.name")} END AS path
    FROM located AS l
    JOIN datasets AS d ON d.dataset_id = l.place_id
    LEFT JOIN spells AS s ON s.dataset_id = l.place_id AND NOT {_is_path("s")}
      AND (s.valid_from IS NULL OR s.valid_from <= l.event_time)
      AND (s.valid_to IS NULL OR l.event_time < s.valid_to)
    GROUP BY l.run_id, l.dataset_id, d.namespace, d.name
    """,  # noqa: S608
    ("run_id", "The run."),
    ("dataset_id", "The dataset by its name in the event."),
    ("namespace", "Namespace of the dataset that this name meant."),
    ("name", "Name of the dataset that this name meant."),
    ("table_full_name", "Name of the table; for a path that of a symlink, and null without one."),
    ("path", "Address of the folder or file; null for a dataset that is not one."),
)


def _part(name: str, number: int) -> str:
    """Return an expression for a part of a name, counted from its end."""
    return f"NULLIF(REVERSE(SPLIT_PART(REVERSE({name}), '.', {number})), '')"


def _side(side: str, alias: str) -> str:
    """Return the columns of a source or target, as Databricks names them."""
    full = f"{alias}.table_full_name"
    return f"""
      {full} AS {side}_table_full_name,
      {_part(full, 3)} AS {side}_table_catalog,
      {_part(full, 2)} AS {side}_table_schema,
      {_part(full, 1)} AS {side}_table_name,
      {alias}.path AS {side}_path,
      CASE WHEN {full} IS NOT NULL THEN 'TABLE'
           WHEN {alias}.path IS NOT NULL THEN 'PATH' END AS {side}_type"""


_ENTITY = """
      CAST(NULL AS VARCHAR) AS account_id,
      CAST(NULL AS VARCHAR) AS metastore_id,
      r.job_namespace AS workspace_id,
      'JOB' AS entity_type,
      r.job_name AS entity_id,
      r.run_id AS entity_run_id"""

_EVENT = """
      NULLIF(ARRAY_TO_STRING(r.owners, ', '), '') AS created_by,
      r.event_time AS event_time,
      r.event_date AS event_date,
      r.run_id || '/' || COALESCE(CAST(p.source_id AS VARCHAR), '') || '/'
        || COALESCE(CAST(p.target_id AS VARCHAR), '') {more} AS record_id,
      r.last_event_id AS event_id,
      CAST(NULL AS VARCHAR) AS statement_id,
      {{'job_info': {{'job_id': CAST(r.job_name AS VARCHAR), 'job_run_id': CAST(r.run_id AS VARCHAR)}}}}
        AS entity_metadata"""

_ENTITY_COLUMNS = (
    ("account_id", "Null."),
    ("metastore_id", "Null."),
    ("workspace_id", "Namespace of the job."),
    ("entity_type", "`JOB`."),
    ("entity_id", "Name of the job."),
    ("entity_run_id", "Run id of the events."),
)


def _side_columns(side: str) -> tuple[tuple[str, str], ...]:
    return (
        (f"{side}_table_full_name", f"Name of the {side}, if it is a table or a symlink names its path."),
        (f"{side}_table_catalog", "Third part of this name from its end."),
        (f"{side}_table_schema", "Second part of this name from its end."),
        (f"{side}_table_name", "Last part of this name."),
        (f"{side}_path", "Address of the folder or file; also if it has a name."),
        (f"{side}_type", "`TABLE` if it has a name, or else `PATH`."),
    )


_EVENT_COLUMNS = (
    ("created_by", "Owners that the events name."),
    ("event_time", "Time of the run."),
    ("event_date", "Its date in UTC."),
    ("record_id", "Name of the row."),
    ("event_id", "The event of `event_time`: a row of `events`."),
    ("statement_id", "Null."),
    ("entity_metadata", "`job_info` with `job_id` and `job_run_id`: name of the job, run id."),
)

_view(
    f"{ACCESS}.table_lineage",
    "One row for each run, source and target, with Databricks' columns. A run that only read has no target.",
    f"""
    WITH pairs AS (
      SELECT o.run_id, s.source_id, o.dataset_id AS target_id
      FROM run_outputs AS o JOIN lineage_sources AS s ON s.lineage_id = o.lineage_id
    ),
    all_pairs AS (
      SELECT run_id, source_id, target_id FROM pairs
      UNION ALL
      SELECT i.run_id, i.dataset_id, CAST(NULL AS BIGINT)
      FROM run_inputs AS i LEFT JOIN pairs AS p ON p.run_id = i.run_id AND p.source_id = i.dataset_id
      WHERE p.run_id IS NULL
      UNION ALL
      SELECT o.run_id, CAST(NULL AS BIGINT), o.dataset_id
      FROM run_outputs AS o LEFT JOIN pairs AS p ON p.run_id = o.run_id AND p.target_id = o.dataset_id
      WHERE p.run_id IS NULL
    )
    SELECT {_ENTITY}, {_side("source", "s")}, {_side("target", "t")}, {_EVENT.format(more="")}
    FROM all_pairs AS p
    JOIN runs AS r ON r.run_id = p.run_id
    LEFT JOIN run_datasets AS s ON s.run_id = p.run_id AND s.dataset_id = p.source_id
    LEFT JOIN run_datasets AS t ON t.run_id = p.run_id AND t.dataset_id = p.target_id
    """,  # noqa: S608
    *_ENTITY_COLUMNS,
    *_side_columns("source"),
    *_side_columns("target"),
    *_EVENT_COLUMNS,
)

_view(
    f"{ACCESS}.column_lineage",
    "One row for each run and edge between columns, with Databricks' columns, and three more.",
    f"""
    WITH p AS (
      SELECT o.run_id, o.dataset_id AS target_id, e.*
      FROM run_outputs AS o JOIN lineage_edges AS e ON e.lineage_id = o.lineage_id
    )
    SELECT {_ENTITY}, {_side("source", "s")}, p.source_column AS source_column_name,
      {_side("target", "t")}, p.target_column AS target_column_name,
      {_EVENT.format(more="|| '/' || CAST(p.edge_number AS VARCHAR)")},
      p.type AS transformation_type, p.subtype AS transformation_subtype, p.masking AS masking
    FROM p
    JOIN runs AS r ON r.run_id = p.run_id
    LEFT JOIN run_datasets AS s ON s.run_id = p.run_id AND s.dataset_id = p.source_id
    LEFT JOIN run_datasets AS t ON t.run_id = p.run_id AND t.dataset_id = p.target_id
    """,  # noqa: S608
    *_ENTITY_COLUMNS,
    *_side_columns("source"),
    ("source_column_name", "Column of the source."),
    *_side_columns("target"),
    ("target_column_name", "Column of the target; null if the edge decides about its rows."),
    *_EVENT_COLUMNS,
    ("transformation_type", "`DIRECT` for a value, `INDIRECT` for a filter, join, group ..."),
    ("transformation_subtype", "`IDENTITY`, `AGGREGATION`, `FILTER` ...; empty if the event has none."),
    ("masking", "True if the value is masked."),
)

_view(
    "freshness",
    "Datasets that runs wrote: how often, when last, and whether the next write is late.",
    """
    WITH written AS (
      SELECT DISTINCT d.canonical_id AS dataset_id, o.event_time
      FROM run_outputs AS o JOIN datasets AS d ON d.dataset_id = o.dataset_id
      WHERE o.lifecycle <> 'drop'
    ),
    gaps AS (
      SELECT dataset_id, event_time,
             DATE_DIFF('second', LAG(event_time) OVER (PARTITION BY dataset_id ORDER BY event_time),
                       event_time) AS seconds
      FROM written
    ),
    ranked AS (
      SELECT dataset_id, seconds, ROW_NUMBER() OVER (PARTITION BY dataset_id ORDER BY seconds) AS place,
             COUNT(*) OVER (PARTITION BY dataset_id) AS gap_count
      FROM gaps WHERE seconds IS NOT NULL
    ),
    medians AS (
      SELECT dataset_id, MIN(seconds) AS seconds FROM ranked WHERE 2 * place >= gap_count GROUP BY dataset_id
    ),
    ages AS (
      SELECT dataset_id, COUNT(*) AS writes, MAX(event_time) AS last_written_at,
             DATE_DIFF('second', MAX(event_time), CURRENT_TIMESTAMP) AS age_seconds
      FROM written GROUP BY dataset_id
    )
    SELECT d.namespace, d.name, a.writes, a.last_written_at, m.seconds AS median_seconds, a.age_seconds,
           a.age_seconds > 3 * m.seconds AS is_late
    FROM ages AS a
    JOIN datasets AS d ON d.dataset_id = a.dataset_id
    LEFT JOIN medians AS m ON m.dataset_id = a.dataset_id
    """,
    ("namespace", "Namespace of the dataset."),
    ("name", "Name of the dataset."),
    ("writes", "Times at which it was written."),
    ("last_written_at", "Time of the last write."),
    ("median_seconds", "Median of the times between two writes; null after a single write."),
    ("age_seconds", "Time since the last write."),
    ("is_late", "True if that is longer than three medians."),
)

_view(
    "job_health",
    "Jobs: their last run, their failures, and how long they take.",
    """
    WITH timed AS (
      SELECT job_id, DATE_DIFF('second', started_at, ended_at) AS seconds
      FROM runs WHERE is_counted AND state = 'complete' AND started_at IS NOT NULL AND ended_at IS NOT NULL
    ),
    ranked AS (
      SELECT job_id, seconds, ROW_NUMBER() OVER (PARTITION BY job_id ORDER BY seconds) AS place,
             COUNT(*) OVER (PARTITION BY job_id) AS run_count
      FROM timed
    ),
    durations AS (
      SELECT job_id, MIN(CASE WHEN 100 * place >= 50 * run_count THEN seconds END) AS p50_seconds,
             MIN(CASE WHEN 100 * place >= 95 * run_count THEN seconds END) AS p95_seconds
      FROM ranked GROUP BY job_id
    ),
    recent AS (
      SELECT job_id, COUNT(*) AS run_count,
             SUM(is_recent) AS runs_30_days,
             SUM(CASE WHEN state IN ('fail', 'abort') THEN is_recent ELSE 0 END) AS failures_30_days
      FROM (
        SELECT job_id, state,
               CASE WHEN event_time >= CURRENT_TIMESTAMP - INTERVAL 30 DAYS THEN 1 ELSE 0 END AS is_recent
        FROM runs WHERE is_counted
      ) AS dated
      GROUP BY job_id
    )
    SELECT j.namespace, j.name, j.last_seen, j.last_state, j.last_run_id, r.run_count AS runs,
           r.runs_30_days, r.failures_30_days, d.p50_seconds, d.p95_seconds
    FROM jobs AS j
    JOIN recent AS r ON r.job_id = j.job_id
    LEFT JOIN durations AS d ON d.job_id = j.job_id
    """,
    ("namespace", "Namespace of the job."),
    ("name", "Name of the job."),
    ("last_seen", "Time of its last run."),
    ("last_state", "State of that run."),
    ("last_run_id", "That run: a row of `runs`."),
    ("runs", "Number of its runs."),
    ("runs_30_days", "Runs of the last 30 days."),
    ("failures_30_days", "Those of them that failed or were aborted."),
    ("p50_seconds", "Median of the time from the first to the end event, of runs that completed."),
    ("p95_seconds", "95th percentile of it."),
)

_view(
    "orphans",
    "Datasets that nobody reads, and datasets that no known run writes.",
    """
    WITH used AS (
      SELECT canonical_id AS dataset_id, MAX(last_written_at) AS last_written_at,
             MAX(last_read_at) AS last_read_at
      FROM datasets GROUP BY canonical_id
    )
    SELECT d.namespace, d.name, CASE WHEN u.last_written_at IS NULL THEN 'external' ELSE 'unread' END AS kind,
           u.last_written_at, u.last_read_at,
           DATE_DIFF('day', COALESCE(u.last_read_at, d.first_seen), CURRENT_TIMESTAMP) AS unread_days
    FROM used AS u JOIN datasets AS d ON d.dataset_id = u.dataset_id
    WHERE d.state <> 'dropped' AND (u.last_written_at IS NOT NULL OR u.last_read_at IS NOT NULL)
      AND (u.last_written_at IS NULL OR u.last_read_at IS NULL OR u.last_read_at < u.last_written_at)
    """,
    ("namespace", "Namespace of the dataset."),
    ("name", "Name of the dataset."),
    ("kind", "`unread` if no run has read it since its last write; `external` if no run wrote it."),
    ("last_written_at", "Time of the last write."),
    ("last_read_at", "Time of the last read."),
    ("unread_days", "Days since it was read, or since it is known if it never was."),
)

_view(
    "check_results",
    "Results of checks, with names.",
    """
    SELECT r.event_time, a.event_date, d.namespace, d.name, NULLIF(a."column", '') AS column_name,
           a.name AS check_name, a.status, NULLIF(a.severity, '') AS severity, a.expected, a.actual,
           r.job_namespace, r.job_name, a.run_id
    FROM assertions AS a
    JOIN datasets AS n ON n.dataset_id = a.dataset_id
    JOIN datasets AS d ON d.dataset_id = n.canonical_id
    JOIN runs AS r ON r.run_id = a.run_id
    """,
    ("event_time", "Time of the run."),
    ("event_date", "Its date in UTC."),
    ("namespace", "Namespace of the dataset."),
    ("name", "Name of the dataset."),
    ("column_name", "The column; null for the whole dataset."),
    ("check_name", "Name of the check."),
    ("status", "`passed`, `failed` or `skipped`."),
    ("severity", "`error` or `warn`; null if the event has none."),
    ("expected", "The value that was expected."),
    ("actual", "The value that was found."),
    ("job_namespace", "Namespace of the job."),
    ("job_name", "Name of the job."),
    ("run_id", "The run: a row of `runs`."),
)
