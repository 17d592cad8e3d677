"""The files of partials: written for the dates of a load, and read to fold the tables without dates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.warehouse.asking import rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.partials import (
    COLUMNS,
    CURRENT_GROUPS,
    DROPPED,
    KINDS,
    MOVED,
    PARTIALS,
    months_over,
    of_all,
    of_partials,
    of_rows,
    to_fold,
)
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables, as_read
from airflow_provider_spark_lineage.openlineage.warehouse.spreading import DAY, SLICE, spread
from airflow_provider_spark_lineage.openlineage.warehouse.storage import dataset_at, names_in
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES

with extra("warehouse"):
    import pyarrow as pa

Frame = Any
"""A DataFrame of pyspark."""

_MONTH_OF_FILE = "regexp_extract(_metadata.file_path, '/day=([0-9]{4}-[0-9]{2})[^/]*/[^/]*$', 1) AS day"

_OF_ROWS = ("runs", "run_inputs", "run_outputs")


def frame_of(spark: Any, snapshot: StoredTables, table: str, dates: Iterable[str] | None = None) -> Frame:
    """Return a table of a snapshot as a DataFrame, of all dates or of some."""
    folders = snapshot.folders(table, dates)
    columns = COLUMNS if table == PARTIALS else {each.name: each.type for each in TABLES[table].columns}
    if not folders:
        return empty_frame(spark, columns)
    ddl = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    return spark.read.schema(ddl).parquet(*map(as_read, folders))


def empty_frame(spark: Any, columns: Mapping[str, str]) -> Frame:
    """Return no rows, with some columns and their types: Spark leaves it out of queries, with its joins."""
    nulls = ", ".join(f"CAST(NULL AS {kind}) AS `{name}`" for name, kind in columns.items())
    return spark.sql(f"SELECT {nulls} WHERE false")


def frame_with(spark: Any, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> Frame:
    """Return rows with some columns, given with their types."""
    ddl = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    return spark.createDataFrame(rows, ddl) if rows else empty_frame(spark, columns)


def rows_by_date(snapshot: StoredTables, table: str, dates: Iterable[str]) -> dict[str, int]:
    """Return how many rows some dates of a table have, from the ends of its files."""
    return {
        date: sum(dataset_at(folder).count_rows() for folder in snapshot.folders(table, [date]))
        for date in dates
        if date in snapshot.tables[table]
    }


@dataclass
class PartialFiles:
    """The partials of the tables that a load writes."""

    spark: Any
    after: StoredTables
    """Tables that the load will publish; their partials are brought up to date here."""
    folder: str
    """Folder of the load, relative to the warehouse."""

    def write(self, dates: Iterable[str]) -> None:
        """Write the partials of dates whose rows were written, and of those that have none."""
        stored = self.after.tables[PARTIALS]
        present = self.after.tables["runs"].keys()
        dates = {*dates, *(present - stored.keys())}
        for key in {*dates, *(date[:7] for date in dates)} & stored.keys():
            del stored[key]
        frames = {table: frame_of(self.spark, self.after, table, sorted(dates)) for table in _OF_ROWS}
        sizes = rows_by_date(self.after, "runs", dates)
        stored |= {key: [folder] for key, folder in self._written("days", of_rows, frames, sizes).items()}
        self._merge_months()
        self._merge_dropped()

    def _merge_months(self) -> None:
        """Fold the dates of each month that is over into one."""
        stored = self.after.tables[PARTIALS]
        missing = months_over(stored) - stored.keys()
        dates = [key for key in stored if key[:7] in missing and len(key) > len("2026-01") and key != DROPPED]
        if dates:
            partials = frame_of(self.spark, self.after, PARTIALS, dates).selectExpr("*", _MONTH_OF_FILE)
            sizes: dict[str, int] = defaultdict(int)
            for date, rows in rows_by_date(self.after, PARTIALS, dates).items():
                sizes[date[:7]] += rows
            written = self._written("months", of_partials, {"partials": partials}, sizes)
            stored |= {key: [folder] for key, folder in written.items()}

    def _merge_dropped(self) -> None:
        """Fold the partials that retention has left into one."""
        stored = self.after.tables[PARTIALS]
        if len(stored.get(DROPPED, [])) > 1:
            partials = frame_of(self.spark, self.after, PARTIALS, [DROPPED])
            dropped = partials.selectExpr("*", f"'{DROPPED}' AS day")
            sizes = rows_by_date(self.after, PARTIALS, [DROPPED])
            stored[DROPPED] = [*self._written("dropped", of_partials, {"partials": dropped}, sizes).values()]

    def _written(
        self, name: str, query: Any, frames: Mapping[str, Frame], sizes: Mapping[str, int]
    ) -> dict[str, str]:
        """Write the rows of all kinds into a folder for each `day`, and return the folders."""
        folder = f"{self.folder}/{PARTIALS}_{name}"
        statement = " UNION ALL ".join(f"({query(kind)})" for kind in KINDS)
        used = {key: frame for key, frame in frames.items() if f"{{{key}}}" in statement}
        rows = self.spark.sql(statement, **used)
        rows = spread(rows, sizes, KINDS, day=DAY).drop(SLICE)
        rows.write.partitionBy(DAY).parquet(str(self.after.path / folder))
        return {
            name.removeprefix("day="): f"{folder}/{name}"
            for name in names_in(self.after.path / folder, "day=*")
        }

    def seen(self) -> dict[str, Frame]:
        """Return the folds of all partials: `seen_` and the kind -> one row for each key."""
        partials = frame_of(self.spark, self.after, PARTIALS, to_fold(self.after.tables[PARTIALS]))
        return {f"seen_{kind}": self.spark.sql(of_all(kind), partials=partials) for kind in KINDS}

    def current_runs(self, moving: Collection[int]) -> Any:
        """Return the runs that decide the current lineage, as a table of pyarrow.

        `moving` has the names that meant several datasets. Rows that were dropped decide nothing.
        """
        keys = [key for key in to_fold(self.after.tables[PARTIALS]) if key != DROPPED]
        partials = frame_of(self.spark, self.after, PARTIALS, keys)
        frames = {
            kind: self.spark.sql(of_all(kind), partials=partials) for kind in ("groups", "writes", "jobs")
        }
        dates: list[str] | None = None if moving else []
        rows = {table: frame_of(self.spark, self.after, table, dates) for table in ("runs", "run_outputs")}
        names = frame_with(self.spark, {"dataset_id": "BIGINT"}, [(each,) for each in moving])
        moved = self.spark.sql(MOVED, moving=names, **rows)
        groups = self.spark.sql(CURRENT_GROUPS, **frames, moved=moved).collect()
        runs = {row["group_id"]: row["run_date"] for row in groups if not row["is_instance"]}
        instances: dict[str, set[tuple[int, str]]] = defaultdict(set)
        for row in groups:
            if row["is_instance"]:
                instances[str(row["run_date"])].add((row["job_id"], row["group_id"]))
        for date, wanted in instances.items():
            names = {group for _, group in wanted}
            for run in rows_of(self.after, "runs", names, column="group_id", dates=[date]):
                if run["is_counted"] and run["is_instance"] and (run["job_id"], run["group_id"]) in wanted:
                    runs[run["run_id"]] = run["event_date"]
        schema = pa.schema({"run_id": pa.string(), "run_date": pa.date32()})
        return pa.Table.from_pylist(
            [{"run_id": run_id, "run_date": day} for run_id, day in sorted(runs.items())], schema
        )
