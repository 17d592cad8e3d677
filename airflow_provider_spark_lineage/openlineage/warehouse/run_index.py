"""The columns of all runs that decide which of them count at a time, as arrays.

They are read for all dates at once, because a run may belong to a date after the time that is asked for, and
its parent to any date; nothing else of a date is read unless a run of it counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import cached_property
from typing import Any

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.graph.current import UNFINISHED
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables
from airflow_provider_spark_lineage.openlineage.warehouse.storage import dataset_at, dataset_of, files_at

with extra("warehouse"):
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

DAY_US = 86_400_000_000
"""Microseconds of a day; times of tables are microseconds since 1970."""

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class RunIndex:
    """All runs of a warehouse; each has one position in all arrays."""

    run_id: Any
    job: Any
    time: Any
    """Time of the run, in microseconds; 0 if it cannot be read."""
    started: Any
    first_day: Any
    """The first date of its events, in days since 1970."""
    last_day: Any
    is_open: Any
    """True if it may have stopped before it read everything."""
    is_instance: Any
    is_counted: Any
    is_sealed: Any
    parent: Any
    """Run ids of parents; a run may have several."""
    child: Any
    """For each of them the position of the run that names it."""

    @classmethod
    def of(cls, snapshot: StoredTables) -> RunIndex:
        """Return the runs of a warehouse."""
        rows = columns_of_dates(snapshot, "runs", [*_COLUMNS])
        days, counts = rows.column("event_dates"), pc.list_value_length(rows.column("event_dates")).to_numpy()
        ends = np.cumsum(counts)
        flat = pc.list_flatten(days).cast(pa.int32()).to_numpy()
        begins = ends - counts
        parents = rows.column("parents")
        return cls(
            run_id=rows.column("run_id"),
            job=rows.column("job_id").to_numpy(),
            time=micros(rows.column("event_time")),
            started=micros(rows.column("started_at")),
            first_day=np.minimum.reduceat(flat, begins) if len(flat) else flat,
            last_day=np.maximum.reduceat(flat, begins) if len(flat) else flat,
            is_open=_mask(pc.is_in(rows.column("state"), value_set=pa.array(UNFINISHED))),
            is_instance=_mask(rows.column("is_instance")),
            is_counted=_mask(rows.column("is_counted")),
            is_sealed=_mask(rows.column("is_sealed")),
            parent=pc.list_flatten(parents),
            child=np.repeat(np.arange(rows.num_rows), pc.list_value_length(parents).to_numpy()),
        )

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.job)

    @cached_property
    def begin(self) -> int:
        """Time of the first event, in microseconds; 0 if there is none with a time."""
        known = self.started[self.started != 0]
        return int(known.min()) if len(known) else 0

    def ids(self, runs: Any) -> Any:
        """Return the run ids of some runs, given as a mask."""
        return self.run_id.filter(pa.array(runs))

    def dates(self, runs: Any) -> list[str]:
        """Return the dates that the rows of some runs, given as a mask, are in."""
        return sorted(map(day_text, np.unique(self.time[runs] // DAY_US).tolist()))

    def having(self, ids: Any, among: Any) -> Any:
        """Return which of some runs, given as a mask, have one of some ids, as a mask."""
        wanted = _ids(ids)
        return _mask(pc.is_in(self.run_id, value_set=wanted)) & among if len(wanted) else _none(among)

    def children(self, ids: Any, among: Any) -> Any:
        """Return which of some runs, given as a mask, have one of some parents, as a mask."""
        wanted, is_child = _ids(ids), _none(among)
        if len(wanted):
            is_child[self.child[_mask(pc.is_in(self.parent, value_set=wanted))]] = True
        return is_child & among

    def parents(self, of: Any) -> Any:
        """Return the ids of the parents of some positions, given as a mask."""
        return pc.unique(self.parent.filter(pa.array(of[self.child])))


_COLUMNS = (
    "run_id",
    "job_id",
    "event_time",
    "started_at",
    "event_dates",
    "state",
    "is_instance",
    "is_counted",
    "is_sealed",
    "parents",
)


_TYPES = {
    **dict.fromkeys(("job_id", "dataset_id", "target_id"), pa.int64()),
    **dict.fromkeys(("event_time", "started_at", "first_seen"), pa.timestamp("us", "UTC")),
    **dict.fromkeys(("is_instance", "is_counted", "is_sealed"), pa.bool_()),
    **dict.fromkeys(("run_id", "group_id", "state", "event_id", "raw"), pa.string()),
    "event_dates": pa.list_(pa.date32()),
    "parents": pa.list_(pa.string()),
}
"""Types of the columns that are read, for tables without files."""


def micros(times: Any) -> Any:
    """Return a column of times as microseconds; 0 for those that are not known."""
    return pc.fill_null(times.cast(pa.timestamp("us", "UTC")).cast(pa.int64()), 0).to_numpy()


def day_text(number: int) -> str:
    """Return a date from its days since 1970.

    >>> day_text(31)
    '1970-02-01'
    """
    return str(EPOCH.date() + timedelta(days=number))


def micros_of_day(day: str) -> int:
    """Return the begin of a date.

    >>> micros_of_day("1970-01-02")
    86400000000
    """
    return (date.fromisoformat(day) - EPOCH.date()).days * DAY_US


def _mask(column: Any) -> Any:
    return column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()


def _none(mask: Any) -> Any:
    return np.zeros_like(mask)


def _ids(ids: Any) -> Any:
    array = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    return array if isinstance(array, pa.Array) else pa.array([*array], pa.string())


def columns_of_dates(
    snapshot: StoredTables,
    table: str,
    columns: list[str],
    dates: Iterable[str] | None = None,
    *,
    where: Any = None,
) -> Any:
    """Return some columns of a table, of all dates or of some, and of all rows or of some."""
    files = files_at(snapshot.folders(table, dates))
    if not files:
        return pa.schema([(name, _TYPES[name]) for name in columns]).empty_table()
    return dataset_of(files).to_table(columns=columns, filter=where)


def sources_of(snapshot: StoredTables, lineage_ids: Collection[int]) -> dict[int, set[int]]:
    """Return for each of some versions the datasets that it names as sources."""
    by_version: dict[int, set[int]] = {}
    where = ds.field("lineage_id").isin([*lineage_ids])
    for folder in snapshot.folders("lineage_versions"):
        for batch in dataset_at(folder).to_batches(columns=["lineage_id", "sources", "edges"], filter=where):
            ids, sources, edges = (batch.column(name) for name in ("lineage_id", "sources", "edges"))
            of_edges = pc.struct_field(pc.list_flatten(edges), "source_id")
            for owners, values in (
                (pc.list_parent_indices(sources), pc.list_flatten(sources)),
                (pc.list_parent_indices(edges), of_edges),
            ):
                pairs = pa.table({"version": ids.take(owners), "source": values})
                distinct = pairs.group_by(["version", "source"]).aggregate([])
                for version, source in zip(*(each.to_pylist() for each in distinct.columns), strict=True):
                    by_version.setdefault(version, set()).add(source)
            for version in ids.to_pylist():
                by_version.setdefault(version, set())
    return by_version
