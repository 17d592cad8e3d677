"""Checks what must hold between the tables of a warehouse, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError, extra
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    StoredTables,
    missing_folders,
    read_tables,
)
from airflow_provider_spark_lineage.openlineage.warehouse.storage import (
    Folder,
    dataset_at,
    folder_of,
    whole_files,
)
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES
from airflow_provider_spark_lineage.openlineage.words import counted

with extra("warehouse"):
    import pyarrow as pa

_DATASET, _SCHEMA = ("datasets", "dataset_id"), ("dataset_schemas", "schema_id")
_RUN, _JOB = ("runs", "run_id"), ("jobs", "job_id")

REFERENCES = (
    ("run_inputs", "run_id", *_RUN),
    ("run_outputs", "run_id", *_RUN),
    ("assertions", "run_id", *_RUN),
    ("current_runs", "run_id", *_RUN),
    ("jobs", "last_run_id", *_RUN),
    ("run_outputs", "lineage_id", "lineage_versions", "lineage_id"),
    ("lineage_versions", "job_id", *_JOB),
    ("column_edges", "job_id", *_JOB),
    ("dataset_edges", "job_id", *_JOB),
    ("run_inputs", "dataset_id", *_DATASET),
    ("run_outputs", "dataset_id", *_DATASET),
    ("lineage_versions", "target_id", *_DATASET),
    ("column_edges", "source_id", *_DATASET),
    ("column_edges", "target_id", *_DATASET),
    ("dataset_edges", "source_id", *_DATASET),
    ("dataset_edges", "target_id", *_DATASET),
    ("dataset_names", "dataset_id", *_DATASET),
    ("datasets", "canonical_id", *_DATASET),
    ("run_inputs", "schema_id", *_SCHEMA),
    ("run_outputs", "schema_id", *_SCHEMA),
)
"""Table and column -> table and column where each of its values must be."""


def cure_of(path: Folder | str) -> str:
    """Return the sentence after the findings: how to make the tables again."""
    path = folder_of(path)
    return (
        f"To rebuild the tables, move {path} away and run `spark-lineage warehouse load --events PATH"
        f" --warehouse {path}` with the files of all events, also of those that `retain` has dropped."
    )


def findings_of(path: Folder | str) -> list[str]:
    """Return a sentence for each rule that a warehouse breaks."""
    stored = read_tables(path)
    if not stored.load_id:
        raise BadInputError(f"{stored.path} has no warehouse: `spark-lineage warehouse load` makes one.")
    missing = missing_folders(stored)
    if missing:
        return [f"{folder} is gone, and {stored.path} names it." for folder in missing]
    with whole_files(stored.path):
        return [*_doubled(stored), *_dangling(stored), *_overlapping(stored)]


def _doubled(stored: StoredTables) -> Iterator[str]:
    for name, table in TABLES.items():
        # Two checks of one name at a column, and the edges of two runs side by side, are both right.
        if name not in ("assertions", "current_column_edges"):
            rows = _columns(stored, name, *table.key)
            doubled = rows.num_rows - rows.group_by(list(table.key)).aggregate([]).num_rows
            if doubled:
                yield f"{name}: {counted(doubled, 'row')} with a key that another row has."


def _dangling(stored: StoredTables) -> Iterator[str]:
    for table, column, other, key in REFERENCES:
        known = set(_columns(stored, other, key)[key].to_pylist())
        values = set(_columns(stored, table, column)[column].to_pylist()) - {None}
        lost = values - known
        if lost:
            yield f"{table}.{column}: {counted(len(lost), 'value')} without a row in {other}."


def _overlapping(stored: StoredTables) -> Iterator[str]:
    """Yield the names that mean two datasets at a time, and the datasets that are taken for another one."""
    columns = ("namespace", "name", "dataset_id", "valid_from", "valid_to", "is_followed", "first_said_ns")
    rows = [row for row in _columns(stored, "dataset_names", *columns).to_pylist() if row["is_followed"]]
    ends: dict[tuple[str, str], Any] = {}
    # Two intervals may begin in one microsecond.
    for row in sorted(rows, key=lambda row: row["first_said_ns"]):
        key = row["namespace"], row["name"]
        if key in ends and (ends[key] is None or ends[key] > row["valid_from"]):
            yield f"dataset_names: {key[1]} in {key[0]} means two datasets at a time."
        ends[key] = row["valid_to"]
    datasets = _columns(stored, "datasets", "dataset_id", "namespace", "name", "canonical_id").to_pylist()
    for row in datasets:
        is_name = (row["namespace"], row["name"]) in ends
        if row["canonical_id"] != row["dataset_id"] and not is_name:
            yield (
                f"datasets: {row['name']} in {row['namespace']} is a location, and taken for another dataset"
                f" ({row['canonical_id']})."
            )


def _columns(stored: StoredTables, table: str, *columns: str) -> Any:
    parts = [dataset_at(folder).to_table(columns=list(columns)) for folder in stored.folders(table)]
    return pa.concat_tables(parts) if parts else pa.table({column: [] for column in columns})
