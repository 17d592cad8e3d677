"""Queries that fold rows of dates into the tables without dates: nothing in them depends on an order.

They read all rows of all dates, so that a run whose end arrives late takes back what its start said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES, Fold, WarehouseColumn

_RULES = {
    Fold.FIRST: "min(`{0}`)",
    Fold.LAST: "max(`{0}`)",
    Fold.LATEST: "max_by(`{0}`, place)",
    Fold.FIXED: "max_by(`{0}`, place)",
}


def folded(table: str, rows: str) -> str:
    """Return a query for the rows of a table: those of another query, one for each key.

    The other query has the columns of the table, and `place` for the order of runs.
    """
    columns = TABLES[table].columns
    keys = [f"`{name}`" for name in TABLES[table].key]
    chosen = [
        f"`{column.name}`" if column.fold is Fold.KEY else f"{_rule(column)} AS `{column.name}`"
        for column in columns
    ]
    return f"SELECT {', '.join(chosen)} FROM ({rows}) GROUP BY {', '.join(keys)}"  # noqa: S608


def _rule(column: WarehouseColumn) -> str:
    return _RULES[column.fold].format(column.name)


def read_as_json(columns: Iterable[WarehouseColumn], kind: str) -> str:
    """Return a query for the rows of a kind among those that `workers` wrote as JSON."""
    columns = tuple(columns)
    raw = ", ".join(f"`{column.name}` {_stored(column.type)}" for column in columns)
    read = ", ".join(
        f"{_converted(f'r.`{column.name}`', column.type)} AS `{column.name}`" for column in columns
    )
    rows = f"SELECT from_json(payload, '{raw}') AS r FROM {{derived}} WHERE kind = '{kind}'"  # noqa: S608
    return f"SELECT {read} FROM ({rows})"  # noqa: S608


_CONVERSIONS = {
    "DATE": ("INT", "date_from_unix_date({0})"),
    "TIMESTAMP": ("BIGINT", "timestamp_micros({0})"),
    "ARRAY<DATE>": ("ARRAY<INT>", "transform({0}, day -> date_from_unix_date(day))"),
}
"""Type -> its type in JSON, and how it is read from that."""


def _stored(kind: str) -> str:
    return _CONVERSIONS[kind][0] if kind in _CONVERSIONS else kind


def _converted(value: str, kind: str) -> str:
    return _CONVERSIONS[kind][1].format(value) if kind in _CONVERSIONS else value


def columns_of(table: str, *names: str) -> list[WarehouseColumn]:
    """Return some columns of a table; all without names."""
    columns = {column.name: column for column in TABLES[table].columns}
    return [columns[name] for name in names or columns]


QUERIES: Mapping[str, str] = {
    "dataset_schemas": folded(
        "dataset_schemas",
        """
        SELECT dataset_id, schema_id, columns, event_time AS first_seen, event_time AS last_seen,
               event_time AS place
        FROM (SELECT dataset_id, schema_id, event_time FROM {run_inputs}
              UNION ALL SELECT dataset_id, schema_id, event_time FROM {run_outputs})
        JOIN {schemas} USING (schema_id)
        """,
    ),
    "lineage_versions": """
        SELECT lineage_id, job_id, target_id, edges, sources, gaps, is_planned, n_edges, first_seen, last_seen
        FROM {versions} JOIN (
          SELECT lineage_id, min(event_time) AS first_seen, max(event_time) AS last_seen
          FROM {run_outputs} GROUP BY lineage_id
        ) USING (lineage_id)
        """,
    "column_edges": folded(
        "column_edges",
        """
        SELECT xxhash64(e.source_id, e.source_column, target_id, e.target_column, e.type, e.subtype,
                        e.masking, job_id) AS edge_id,
               e.source_id, e.source_column, target_id, e.target_column, e.type, e.subtype, e.masking, job_id,
               first_seen, last_seen, place.run_id AS last_run_id, place
        FROM (SELECT lineage_id, job_id, target_id, first_seen, last_seen, explode(edges) AS e
              FROM {lineage_versions})
        JOIN (SELECT lineage_id, max(struct(event_time, run_id)) AS place
              FROM {run_outputs} GROUP BY lineage_id)
        USING (lineage_id)
        """,
    ),
    "dataset_edges": folded(
        "dataset_edges",
        """
        SELECT xxhash64(source_id, target_id, job_id) AS edge_id, source_id, target_id, job_id, first_seen,
               last_seen, last_seen AS place
        FROM (SELECT job_id, target_id, first_seen, last_seen, explode(sources) AS source_id
              FROM {lineage_versions})
        """,
    ),
    "jobs": folded(
        "jobs",
        """
        SELECT job_id, job_namespace AS namespace, job_name AS name, event_time AS first_seen,
               event_time AS last_seen, run_id AS last_run_id, state AS last_state,
               struct(time_ns, last_event_id) AS place
        FROM {runs} WHERE is_counted
        """,
    ),
    "datasets": """
        SELECT dataset_id, namespace, name, coalesce(m.canonical_id, dataset_id) AS canonical_id,
               first_seen, last_written_at, last_read_at, last_writer,
               CASE WHEN last_change = 'drop' THEN 'dropped' WHEN last_written_at IS NULL THEN 'unknown'
                    ELSE 'exists' END AS state
        FROM {names}
        LEFT SEMI JOIN (
          SELECT dataset_id FROM {run_inputs} UNION SELECT dataset_id FROM {run_outputs}
          UNION SELECT source_id FROM {column_edges} UNION SELECT source_id FROM {dataset_edges}
          UNION SELECT dataset_id FROM {dataset_names}
          UNION SELECT xxhash64(namespace, name) FROM {dataset_names}
        ) USING (dataset_id)
        LEFT JOIN {meanings} m USING (dataset_id)
        LEFT JOIN (
          SELECT dataset_id, min(event_time) AS first_seen, max(written) AS last_written_at,
                 max(read) AS last_read_at, max_by(job_id, place) AS last_writer,
                 max_by(lifecycle, place) AS last_change
          FROM (SELECT dataset_id, event_time, event_time AS written, CAST(NULL AS TIMESTAMP) AS read, job_id,
                       lifecycle, struct(event_time, run_id) AS place FROM {run_outputs}
                UNION ALL
                SELECT dataset_id, event_time, NULL, event_time, NULL, NULL, NULL FROM {run_inputs})
          GROUP BY dataset_id
        ) USING (dataset_id)
        """,
    "current_runs": """
        WITH counted AS (
          SELECT run_id, job_id, group_id, is_instance, state IN ('start', 'fail', 'abort') AS is_unfinished,
                 struct(time_ns, last_event_id) AS place
          FROM {runs} WHERE is_counted
        ),
        written AS (SELECT c.*, dataset_id FROM counted c JOIN {run_outputs} USING (run_id)),
        active AS (
          SELECT * FROM counted LEFT SEMI JOIN
          (SELECT run_id FROM {run_inputs} UNION SELECT run_id FROM {run_outputs}) USING (run_id)
        ),
        finished AS (
          SELECT job_id, max(CASE WHEN NOT is_unfinished THEN place END) AS place FROM active GROUP BY job_id
        ),
        newest AS (
          SELECT job_id, max_by(group_id, place) AS group_id FROM written GROUP BY job_id, dataset_id
          UNION SELECT job_id, group_id FROM written LEFT SEMI JOIN {moving} USING (dataset_id)
          UNION SELECT a.job_id, a.group_id FROM active a JOIN finished USING (job_id)
                WHERE finished.place IS NULL OR a.place >= finished.place
          UNION SELECT job_id, group_id FROM active
                WHERE job_id IN (SELECT job_id FROM active WHERE is_instance AND is_unfinished)
          UNION SELECT job_id, max_by(group_id, place) FROM counted GROUP BY job_id
        )
        SELECT run_id FROM counted LEFT SEMI JOIN newest USING (job_id, group_id)
        """,
}
"""Table without dates -> its query; a table comes after all that it reads.

A run that did not finish keeps the reads of the runs before it, back to the last that finished: they are in
`current_runs`, too. Besides tables the queries read `schemas`, `versions` and `names` (contents behind ids),
`meanings` (the dataset that a symlink means now) and `moving` (names that meant several datasets: their
writes are current for each).
"""
