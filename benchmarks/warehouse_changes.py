"""Measures `spark-lineage changes` over a day, a month and eleven months of a warehouse, without Spark.

    python benchmarks/warehouse_changes.py --jobs 2000

The tables of each day are those of one day, with other times and run ids; one job in a hundred has another
lineage from each month on. One family a day is under way at midnight. The ratio counts, not the seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns
from airflow_provider_spark_lineage.openlineage.warehouse.changes_between import changes_between
from airflow_provider_spark_lineage.openlineage.warehouse.derive import derived, event_rows, raw_of
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import STORED, StoredTables, publish

BEGIN = date(2025, 1, 1)
DAYS = 366
COLUMNS = [f"column_{number:02}" for number in range(20)]
EPOCH = date(1970, 1, 1)
CHANGING = 100
"""One of so many jobs changes, each month."""


def events_of(day: date, jobs: int) -> Iterator[dict[str, Any]]:
    """Yield START and COMPLETE of each job; the last one runs over midnight."""
    for job in range(jobs):
        version = day.month if job % CHANGING == 0 else 0
        begin = datetime(day.year, day.month, day.day, 1, tzinfo=timezone.utc) + timedelta(seconds=30 * job)
        if job == jobs - 1:
            begin = begin.replace(hour=23, minute=55)
        source, target = (f"layer{layer}/{job % 1000:05}" for layer in (job // 1000, job // 1000 + 1))
        fields = {
            column: {
                "inputFields": [
                    {
                        "namespace": "s3://lake",
                        "name": source,
                        "field": COLUMNS[(number + version) % len(COLUMNS)],
                        "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}],
                    }
                ]
            }
            for number, column in enumerate(COLUMNS)
        }
        for kind, at, outputs in (
            ("START", begin, []),
            ("COMPLETE", begin + timedelta(minutes=10), [_dataset(target, columnLineage={"fields": fields})]),
        ):
            yield {
                "eventType": kind,
                "eventTime": f"{at:%Y-%m-%dT%H:%M:%SZ}",
                "producer": "https://example.com/generated",
                "run": {"runId": f"{day}-{job:07}-0000-0000-0000-000000000000", "facets": _parent(day, job)},
                "job": {"namespace": "generated", "name": f"etl.job_{job:05}"},
                "inputs": [_dataset(source)],
                "outputs": outputs,
            }


def _parent(day: date, job: int) -> dict[str, Any]:
    run = {"runId": f"{day}-{job // 20:07}-dag0-0000-0000-000000000000"}
    return {"parent": {"run": run, "job": {"namespace": "generated", "name": f"dag_{job // 20:05}"}}}


def _dataset(name: str, **facets: Any) -> dict[str, Any]:
    schema = {"fields": [{"name": column, "type": "string"} for column in COLUMNS]}
    return {"namespace": "s3://lake", "name": name, "facets": {"schema": schema, **facets}}


class Writer:
    """Writes the tables that `changes` reads, a file for each date."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.tables: dict[str, dict[str, list[str]]] = {name: {} for name in STORED}

    def write(self, table: str, rows: pa.Table, day: str = "") -> None:
        """Write rows of a table, of one date or of none."""
        folder = f"data/20250101T000000-x/{table}/{day or 'all'}"
        (self._path / folder).mkdir(parents=True, exist_ok=True)
        number = len([*(self._path / folder).iterdir()])
        pq.write_table(rows, self._path / folder / f"part-{number}.parquet")
        self.tables[table][day] = [folder]


def _typed(rows: list[dict[str, Any]]) -> pa.Table:
    """Return derived rows with the types of a warehouse; rows of runs have a column of dates."""
    table = pa.Table.from_pylist(rows)
    for name in table.column_names:
        kind = {
            "event_date": pa.date32(),
            "event_dates": pa.list_(pa.date32()),
            "parents": pa.list_(pa.string()),
            **dict.fromkeys(
                ("event_time", "started_at", "ended_at", "first_seen"), pa.timestamp("us", "UTC")
            ),
            **dict.fromkeys(("time_ns", "first_said_ns", "last_said_ns"), pa.decimal128(21, 0)),
        }.get(name)
        if kind is None:
            continue
        column = table.column(name)
        if name == "event_dates":
            column = column.cast(pa.list_(pa.int32()))
        elif kind == pa.date32():
            column = column.cast(pa.int32())
        table = table.set_column(table.column_names.index(name), name, column.cast(kind))
    return table


def generate(path: Path, jobs: int) -> None:
    """Write a warehouse of a year."""
    writer = Writer(path)
    whole: dict[str, dict[Any, dict[str, Any]]] = defaultdict(dict)
    template: tuple[int, dict[str, list[dict[str, Any]]]] = (0, {})
    for number in range(DAYS):
        day = BEGIN + timedelta(days=number)
        if template[0] != day.month:
            template = day.month, _template(day, jobs, whole)
        shift = (day - day.replace(day=1)).days
        for table, rows in template[1].items():
            writer.write(table, _typed([*_shifted(rows, shift, day)]), str(day))
    for table, by_id in whole.items():
        writer.write(table, _typed([*by_id.values()]))
    publish(StoredTables(path, "generated", writer.tables))


def _template(day: date, jobs: int, whole: Any) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a day; add to the tables without dates."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    raws = [raw_of(event) for event in events_of(day, jobs)]
    time_us = (day - EPOCH).days * 86_400_000_000
    for table, row in derived(raws):
        if table == "versions":
            whole["lineage_versions"].setdefault(row["lineage_id"], {**row, "first_seen": time_us})
        elif table == "schemas":
            whole["dataset_schemas"][row["schema_id"]] = row
        elif table == "names":
            whole["datasets"][row["dataset_id"]] = row
        elif table != "assertions":
            rows[table].append(row)
            if table == "runs":
                name = {"namespace": row["job_namespace"], "name": row["job_name"]}
                whole["jobs"].setdefault(
                    row["job_id"], {"job_id": row["job_id"], **name, "first_seen": time_us}
                )
    last = f"{jobs - 1:07}-0000"
    for raw in raws:
        [row] = event_rows(raw.encode(), "events.jsonl", 1)
        # Only the events of what is under way at midnight are read.
        rows["events"].append({**row, "raw": raw if last in raw else ""})
    return rows


def _shifted(rows: list[dict[str, Any]], days: int, day: date) -> Iterator[dict[str, Any]]:
    first = str(day.replace(day=1))
    for row in rows:
        changed = {**row, "run_id": row["run_id"].replace(first, str(day))}
        for key, unit in (("event_date", 1), ("event_time", 86_400_000_000), ("started_at", 86_400_000_000)):
            if key in row:
                changed[key] = row[key] + days * unit
        if "time_ns" in row:
            changed["time_ns"] = row["time_ns"] + days * 86_400_000_000_000
            changed["event_dates"] = [each + days for each in row["event_dates"]]
            changed["ended_at"] = row["ended_at"] + days * 86_400_000_000
        if row.get("raw"):
            event = json.loads(row["raw"].replace(first, str(day)))
            at = datetime.fromtimestamp(changed["event_time"] / 1e6, timezone.utc)
            changed["raw"] = raw_of({**event, "eventTime": f"{at:%Y-%m-%dT%H:%M:%SZ}"})
        yield changed


def measured(path: Path, days: int) -> tuple[float, float, int]:
    """Return the seconds and processor seconds of the changes of the last days, and their number."""
    # The last of these days is the first of a month, on which jobs change.
    end = date(2025, 12, 2)
    begin = end - timedelta(days=days)
    clock, processor = time.monotonic(), time.process_time()
    found = changes_between(path, *(instant_ns(f"{each}T00:00:00Z") for each in (begin, end)))
    return time.monotonic() - clock, time.process_time() - processor, len(found.changes)


def main() -> int:
    """Print the cost of each length, and the ratio of a year to a day."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=500, help="jobs, each with a run a day")
    parser.add_argument("--warehouse", type=Path, help="folder that is kept, or used again")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--limit", type=float, default=1.5, help="greatest ratio")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = options.warehouse or Path(name) / "w"
        if not (path / "current.json").exists():
            generate(path, options.jobs)
        costs: dict[int, list[tuple[float, float, int]]] = defaultdict(list)
        for _ in range(options.times):
            for days in (1, 31, 334):
                costs[days].append(measured(path, days))
        best = {days: min(some, key=lambda each: each[1]) for days, some in costs.items()}
        for days, (seconds, processor, count) in best.items():
            print(f"{days:3} days: {seconds:.2f} s, {processor:.2f} s of processor, {count:,} changes")
        ratio = best[334][1] / best[1][1]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"ratio {ratio:.2f}, peak memory {peak:,.0f} MB")
    return int(ratio > options.limit)


if __name__ == "__main__":
    sys.exit(main())
