"""Queries that fold partials into the tables without dates: nothing in them depends on an order.

They read the partials of all dates: the end of a run may arrive late, and then counts in place of its start.
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
    parsed = f"from_json(payload, '{raw}', map('maxStringLen', '{_LONGEST}'))"
    rows = f"SELECT {parsed} AS r FROM {{derived}} WHERE kind = '{kind}'"  # noqa: S608
    return f"SELECT {read} FROM ({rows})"  # noqa: S608


_LONGEST = 2**31 - 1
"""Limit of the characters of a text; beyond Spark's own, 20 million, all columns of the row would be null."""

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
    "dataset_schemas": """
        SELECT dataset_id, schema_id, columns, first_seen, last_seen
        FROM {seen_schemas} JOIN {schemas} USING (schema_id)
        """,
    "lineage_versions": """
        SELECT lineage_id, job_id, target_id, edges, sources, gaps, is_planned, n_edges, first_seen, last_seen
        FROM {versions} JOIN {seen_versions} USING (lineage_id)
        """,
    "column_edges": folded(
        "column_edges",
        """
        SELECT xxhash64(e.source_id, e.source_column, target_id, e.target_column, e.type, e.subtype,
                        e.masking, job_id) AS edge_id,
               e.source_id, e.source_column, target_id, e.target_column, e.type, e.subtype, e.masking, job_id,
               first_seen, last_seen, place.run_id AS last_run_id, place
        FROM (SELECT lineage_id, job_id, target_id, explode(edges) AS e FROM {lineage_versions})
        JOIN {seen_versions} USING (lineage_id)
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
    "jobs": """
        SELECT job_id, job_namespace AS namespace, job_name AS name, first_seen, last_seen,
               run_id AS last_run_id, state AS last_state
        FROM {seen_jobs}
        """,
    "datasets": """
        SELECT dataset_id, namespace, name, coalesce(m.canonical_id, dataset_id) AS canonical_id,
               first_seen, last_written_at, last_read_at, last_writer,
               CASE WHEN last_change = 'drop' THEN 'dropped' WHEN last_written_at IS NULL THEN 'unknown'
                    ELSE 'exists' END AS state
        FROM {names}
        LEFT SEMI JOIN (
          SELECT dataset_id FROM {seen_datasets}
          UNION SELECT source_id FROM {column_edges} UNION SELECT source_id FROM {dataset_edges}
          UNION SELECT dataset_id FROM {dataset_names}
          UNION SELECT xxhash64(namespace, name) FROM {dataset_names}
        ) USING (dataset_id)
        LEFT JOIN {meanings} m USING (dataset_id)
        LEFT JOIN {seen_datasets} USING (dataset_id)
        """,
}
"""Table without dates -> its query; a table comes after all that it reads.

Besides tables the queries read `schemas`, `versions` and `names` (contents behind ids), `meanings` (the
dataset that a symlink means now), and the folds of all partials of a kind: `seen_schemas` and so on.
"""
