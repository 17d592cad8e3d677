"""Upkeep of a warehouse without Spark: old dates are dropped, and small files joined.

Each command writes new files and publishes them at once, as a load does. Tables without dates
stay as they are.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError, extra
from airflow_provider_spark_lineage.openlineage.warehouse.asking import rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.early_ends import ended_early
from airflow_provider_spark_lineage.openlineage.warehouse.partials import DROPPED, PARTIALS
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    PARQUET,
    StoredTables,
    loading,
    publish,
    remove_unused,
    whole_tables,
)
from airflow_provider_spark_lineage.openlineage.warehouse.storage import (
    Folder,
    dataset_at,
    folder_of,
    names_in,
    present_of,
    writer_of,
)
from airflow_provider_spark_lineage.openlineage.warehouse.tables import OF_RUNS, TABLES

with extra("warehouse"):
    import pyarrow as pa
    import pyarrow.compute as pc


@dataclass
class RetentionSummary:
    """Summary of `retain`."""

    event_dates: int = 0
    """Dates whose events were dropped."""
    run_dates: int = 0
    """Dates whose rows were dropped from the tables of runs."""
    current_runs: int = 0
    """Runs of these dates that stay, because they decide the current lineage."""
    sealed_runs: int = 0
    """Runs that are not derived anew from now on, because events of them were dropped."""

    def document(self) -> dict[str, int]:
        """Return the summary as a JSON object."""
        return asdict(self)


@dataclass
class CompactionSummary:
    """Summary of `compact`."""

    dates: int = 0
    """Dates of tables whose files were joined."""
    files_before: int = 0
    """Files of these dates before; there is one for each date now."""

    def document(self) -> dict[str, int]:
        """Return the summary as a JSON object."""
        return asdict(self)


def retain(
    path: Path | str, *, events_days: int, runs_days: int, today: date | None = None
) -> RetentionSummary:
    """Drop the events and the rows of runs that are older than some days; 0 keeps not even today's.

    Runs that decide the current lineage stay. Raises BadInputError without a warehouse, and during
    a load.
    """
    if runs_days < events_days:
        raise BadInputError(
            f"Events of {events_days} days would bring back runs that are older than {runs_days} days:"
            " keep runs as long as events, or longer."
        )
    now = today or datetime.now(timezone.utc).date()
    summary = RetentionSummary()
    with _changing(folder_of(path), "retain") as upkeep:
        _drop_events(upkeep, _first_kept(now, events_days), summary)
        _drop_runs(upkeep, _first_kept(now, runs_days), summary)
        sources = upkeep.tables.sources
        # A file that is gone is not read again; there may be one for each event.
        present = present_of(sources)
        upkeep.tables.sources = {file: state for file, state in sources.items() if file in present}
    return summary


def compact(path: Path | str) -> CompactionSummary:
    """Write the rows of each date that has several files into one; the rows stay the same.

    Raises BadInputError without a warehouse, and during a load.
    """
    summary = CompactionSummary()
    with _changing(folder_of(path), "compact") as upkeep:
        for table in TABLES:
            for day, folders in upkeep.tables.tables[table].items():
                files = sum(len(names_in(upkeep.tables.path / each, "*.parquet")) for each in folders)
                if day and files > 1:
                    upkeep.rewrite(table, day, lambda batch: batch)
                    summary.dates += 1
                    summary.files_before += files
    return summary


@dataclass
class _Upkeep:
    """Tables that are changed, and the folder of new files."""

    tables: StoredTables
    folder: str
    writes: int = 0

    def rewrite(self, table: str, day: str, changed: Callable[[Any], Any]) -> None:
        """Write the rows of a date into one file, each batch of them as a function returns it."""
        folders = [self.tables.path / folder for folder in self.tables.tables[table][day]]
        # A date of `runs` may be written twice: its runs are sealed, and then those that are old are dropped.
        self.writes += 1
        target = f"{self.folder}/{table}_{self.writes}/day={day}"
        writer = None
        for folder in folders:
            for batch in dataset_at(folder).to_batches():
                rows = changed(batch)
                if not rows.num_rows:
                    continue
                if writer is None:
                    (self.tables.path / target).mkdir(parents=True)
                    writer = writer_of(self.tables.path / target / "part-0.parquet", rows.schema)
                writer.write_table(pa.Table.from_batches([rows]))
        if writer is None:
            del self.tables.tables[table][day]
        else:
            writer.close()
            self.tables.tables[table][day] = [target]


@contextmanager
def _changing(path: Folder, command: str) -> Iterator[_Upkeep]:
    """Hold a warehouse, and publish the changed tables at the end."""
    if not path.is_dir():
        raise BadInputError(f"{path} has no warehouse: `spark-lineage warehouse load` makes one.")
    with loading(path), ended_early(f"warehouse {command}"):
        before = whole_tables(path)
        if not before.load_id:
            raise BadInputError(f"{path} has no warehouse: `spark-lineage warehouse load` makes one.")
        remove_unused(before)
        if before.stored_as != PARQUET:
            raise BadInputError(
                f"{path} has tables of {before.stored_as}, and `warehouse {command}` is for parquet alone."
            )
        name = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S}-{command}-{secrets.token_hex(4)}"
        after = deepcopy(before)
        yield _Upkeep(after, f"data/{name}")
        publish(after)
        remove_unused(before, after)


def _first_kept(today: date, days: int) -> str:
    try:
        return str(today - timedelta(days=days - 1))
    except OverflowError:
        # More days than there have been.
        return str(date.min)


def _drop_events(upkeep: _Upkeep, first_kept: str, summary: RetentionSummary) -> None:
    """Drop events, and seal the runs that had some of them."""
    tables = upkeep.tables.tables
    dropped = {day for day in tables["events"] if day < first_kept}
    for day in dropped:
        del tables["events"][day]
    summary.event_dates = len(dropped)
    if dropped:
        _keep_from(upkeep, "events", first_kept)
    gone = {date.fromisoformat(day) for day in dropped}

    def sealed(batch: Any) -> Any:
        rows = zip(
            batch.column("event_dates").to_pylist(), batch.column("is_sealed").to_pylist(), strict=True
        )
        values = pa.array([was or not gone.isdisjoint(days) for days, was in rows], pa.bool_())
        return batch.set_column(batch.schema.get_field_index("is_sealed"), "is_sealed", values)

    for day in [*tables["runs"]] if gone else ():
        rows = rows_of(upkeep.tables, "runs", dates=[day])
        count = sum(not row["is_sealed"] and not gone.isdisjoint(row["event_dates"]) for row in rows)
        if count:
            upkeep.rewrite("runs", day, sealed)
            summary.sealed_runs += count


def _drop_runs(upkeep: _Upkeep, first_kept: str, summary: RetentionSummary) -> None:
    """Drop rows of runs that are not current; the partials of their dates stay."""
    tables = upkeep.tables.tables
    current = {row["run_id"]: str(row["run_date"]) for row in rows_of(upkeep.tables, "current_runs")}

    def of_current(batch: Any) -> Any:
        return batch.filter(pc.is_in(batch.column("run_id"), value_set=pa.array(current, pa.string())))

    for day in [each for each in tables["runs"] if each < first_kept]:
        count = sum(date == day for date in current.values())
        if sum(1 for _ in rows_of(upkeep.tables, "runs", dates=[day])) == count:
            continue
        for table in OF_RUNS:
            if day in tables[table]:
                upkeep.rewrite(table, day, of_current)
        partials = tables[PARTIALS]
        tables[PARTIALS] = {
            **{key: folders for key, folders in partials.items() if key not in (day, day[:7])},
            DROPPED: [*partials.get(DROPPED, []), *partials.get(day, [])],
        }
        summary.run_dates += 1
        summary.current_runs += count
        _keep_from(upkeep, "runs", first_kept)


def _keep_from(upkeep: _Upkeep, what: str, first_kept: str) -> None:
    """Note the first date that is whole; of several retentions, the last of these dates."""
    kept = upkeep.tables.kept_from
    kept[what] = max(first_kept, kept.get(what, ""))
