"""Families that were under way at a time: they had events before it and after it.

Their rows have what was known later. What was known then is derived anew, from the events up to that time.
Rows of all other runs are what they were then.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.events.model import Event
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.warehouse.asking import Row, rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.derive import derived
from airflow_provider_spark_lineage.openlineage.warehouse.families import ConnectedIds
from airflow_provider_spark_lineage.openlineage.warehouse.run_index import (
    DAY_US,
    RunIndex,
    columns_of_dates,
    day_text,
    micros,
)
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables

with extra("warehouse"):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds


@dataclass
class UnderWay:
    """The runs of families that were under way at a time."""

    known: Any
    """For each run of the index, whether its row is what it was then."""
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    """Table -> rows as they were then; also `versions`, `schemas` and `names`."""
    unknown: dict[int, JobName] = field(default_factory=dict)
    """Jobs of runs whose events were dropped, so that their rows of then are not known."""


def under_way(snapshot: StoredTables, index: RunIndex, time_ns: int) -> UnderWay:
    """Return what differs at a time from the rows of runs."""
    begun, goes_on = _sides(snapshot, index, time_ns)
    members = _members(index, begun, goes_on)
    found = UnderWay(begun & ~goes_on)
    if not members.any():
        return found
    found.known &= ~members
    ids = set(index.ids(members).to_pylist())
    runs = [*rows_of(snapshot, "runs", ids, dates=index.dates(members))]
    whole = [row for row in runs if not _is_cut(snapshot, row, time_ns)]
    cut = _connected_with_cut(runs, {row["run_id"] for row in whole})
    _derive(snapshot, [row for row in runs if row["run_id"] not in cut], time_ns, found)
    if cut:
        lasting = set(index.ids(members & goes_on).to_pylist())
        above = pa.array({each for row in runs for each in row["parents"]}, pa.string())
        later = set(index.ids(index.having(above, ~begun)).to_pylist())
        kept = _with_known_rows([row for row in runs if row["run_id"] in cut], lasting, later)
        found.unknown = {
            row["job_id"]: JobName(row["job_namespace"], row["job_name"])
            for row in runs
            if row["run_id"] in cut - kept
        }
        found.known |= index.having(pa.array(kept, pa.string()), members)
    return found


def _sides(snapshot: StoredTables, index: RunIndex, time_ns: int) -> tuple[Any, Any]:
    """Return for each run whether it has events up to a time, and whether it may have events after it."""
    time_us = time_ns // 1000
    day = time_us // DAY_US
    begun, goes_on = index.first_day < day, index.last_day > day
    touching = (index.first_day <= day) & (index.last_day >= day)
    if not touching.any():
        return begun, goes_on
    events = columns_of_dates(snapshot, "events", ["run_id", "event_time"], [day_text(day)])
    times = micros(events.column("event_time"))
    near = touching & ~index.is_sealed
    # The tables have microseconds: an event of the same one may be later.
    begun |= index.having(pc.unique(events.column("run_id").filter(pa.array(times <= time_us))), near)
    goes_on |= index.having(pc.unique(events.column("run_id").filter(pa.array(times >= time_us))), near)
    sealed = touching & index.is_sealed
    begun[sealed & (index.started <= time_us)] = True
    goes_on[sealed & (index.last_day == day)] = True
    return begun, goes_on


def _members(index: RunIndex, begun: Any, goes_on: Any) -> Any:
    """Return the runs that had begun, and whose families had events on both sides, as a mask."""
    members = begun & goes_on
    if not begun.all():
        # A parent that began later did not exist yet, so its child was not a part of it.
        members |= index.children(index.ids(index.having(index.parents(begun), ~begun)), begun)
        members |= index.having(index.parents(~begun), begun)
    frontier = members
    while frontier.any():
        above = index.having(index.parents(frontier), begun)
        frontier = (above | index.children(index.ids(frontier), begun)) & ~members
        members = members | frontier
    return members


def _is_cut(snapshot: StoredTables, row: Row, time_ns: int) -> bool:
    """Return whether events of a run up to a time were dropped."""
    stored, last = snapshot.tables["events"], day_text(time_ns // 1000 // DAY_US)
    return row["is_sealed"] or any(str(day) <= last and str(day) not in stored for day in row["event_dates"])


def _connected_with_cut(runs: Iterable[Row], whole: set[str]) -> set[str]:
    """Return the runs of families of which a run has lost events."""
    union = ConnectedIds[str]()
    rows = [*runs]
    for row in rows:
        for above in row["parents"]:
            union.join(row["run_id"], above)
    tops = {union.top(row["run_id"]) for row in rows if row["run_id"] not in whole}
    return {row["run_id"] for row in rows if union.top(row["run_id"]) in tops}


def _with_known_rows(runs: list[Row], lasting: set[str], later: set[str]) -> set[str]:
    """Return those of some runs, whose events were dropped, whose rows are what they were before the rest.

    A run that had ended reads and writes what it did then. Whether it counts depends on those above: a run
    of a DAG, which has no datasets, changes nothing.
    """
    rows = {row["run_id"]: row for row in runs}
    kept = set()
    for run_id, row in rows.items():
        above = set(_above(row, rows))
        datasets = {each for each in above & lasting if not _is_dag_run(rows[each])}
        if run_id not in lasting and not datasets and (row["is_counted"] or not above & later):
            kept.add(run_id)
    # It counts neither before nor after.
    return kept | {run_id for run_id, row in rows.items() if _is_dag_run(row)}


def _above(row: Row, rows: dict[str, Row]) -> Iterator[str]:
    visited: set[str] = set()
    frontier = [*row["parents"]]
    while frontier:
        run_id = frontier.pop()
        if run_id not in visited:
            visited.add(run_id)
            yield run_id
            frontier += rows[run_id]["parents"] if run_id in rows else ()


def _is_dag_run(row: Row) -> bool:
    return bool(row["airflow_run_id"]) and not row["task_id"] and not row["is_counted"] and not row["parents"]


def _derive(snapshot: StoredTables, runs: list[Row], time_ns: int, found: UnderWay) -> None:
    """Add the rows of some runs as they follow from their events up to a time."""
    last = day_text(time_ns // 1000 // DAY_US)
    dates = {str(day) for row in runs for day in row["event_dates"]}
    wanted = ds.field("run_id").isin([row["run_id"] for row in runs])
    texts = columns_of_dates(
        snapshot, "events", ["raw"], sorted(day for day in dates if day <= last), where=wanted
    )
    before = [
        raw for raw in texts.column("raw").to_pylist() if (Event(json.loads(raw)).time_ns or 0) <= time_ns
    ]
    for table, row in derived(before):
        if table != "runs" or row["is_counted"]:
            found.rows[table].append(row)
