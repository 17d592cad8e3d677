"""Loads one more day into a warehouse with a week of history, and into one with a year.

    python benchmarks/warehouse_history.py --events 200 --events-of-more 40000

The cost of a load must not grow with its history. Each load is a process of its own, as the command is, and
both warehouses are loaded in turn, so that whatever else the machine does meets both; the ratio of the
medians counts, not the seconds. Events are of real size: some 5 kB, 20 columns and 20 edges in the event that
ends a run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from processes import Watch
from pyspark.sql import SparkSession

from airflow_provider_spark_lineage.openlineage.warehouse.load import load

BEGIN = date(2025, 1, 1)
COLUMNS = [f"column_{number:02}" for number in range(20)]
PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"


def day_of(number: int, events: int) -> Iterator[dict[str, Any]]:
    """Yield the events of a day: START and COMPLETE of runs; a job has the same lineage every day."""
    day = BEGIN + timedelta(days=number)
    for job in range(events // 2):
        hour, minute = job * 23 // max(events // 2, 1), job % 60
        source, target = _dataset(f"raw/{job:05}"), _dataset(f"gold/{job:05}")
        inputs = [
            {"namespace": source["namespace"], "name": source["name"], "field": "", "transformations": [_HOW]}
        ]
        fields = {column: {"inputFields": [{**inputs[0], "field": column}]} for column in COLUMNS}
        written = {**target, "facets": {**target["facets"], "columnLineage": {"fields": fields}}}
        for kind, second, outputs in (("START", 0, []), ("COMPLETE", 30, [written])):
            yield {
                "eventType": kind,
                "eventTime": f"{day}T{hour:02}:{minute:02}:{second:02}Z",
                "producer": PRODUCER,
                "run": {"runId": f"{day}-{job:07}-0000-0000-0000-000000000000", "facets": {}},
                "job": {"namespace": "benchmark", "name": f"etl.job_{job:05}"},
                "inputs": [source],
                "outputs": outputs,
            }


_HOW = {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}


def _dataset(name: str) -> dict[str, Any]:
    fields = [{"name": column, "type": "string"} for column in COLUMNS]
    symlink = {"namespace": "hive://metastore:9083", "name": name.replace("/", "."), "type": "TABLE"}
    return {
        "namespace": "s3://lake",
        "name": name,
        "facets": {"schema": {"fields": fields}, "symlinks": {"identifiers": [symlink]}},
    }


def write(folder: Path, days: range, events: int) -> Path:
    """Write a file of events for some days."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{days.start:04}.jsonl"
    with file.open("w") as target:
        for number in days:
            target.writelines(f"{json.dumps(event)}\n" for event in day_of(number, events))
    return file


class Cost(NamedTuple):
    """Cost of a load, with the start of Spark."""

    seconds: float
    processor_seconds: float
    peak_megabytes: float


def load_here(events: str, warehouse: str) -> Cost:
    """Load in this process."""
    began = time.monotonic()
    with Watch() as watch:
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        spark = builder.config("spark.driver.memory", "2g").getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        load(spark, events, warehouse)
        seconds = time.monotonic() - began
    spark.stop()
    return Cost(seconds, watch.cpu_seconds, watch.peak_bytes >> 20)


def load_once(events: Path, warehouse: Path) -> Cost:
    """Load in a process of its own."""
    command = [sys.executable, __file__, "--load", str(events), str(warehouse)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Cost(*json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    """Print the seconds of one more day after each history, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200, help="events a day")
    parser.add_argument("--days", type=int, nargs=2, default=(7, 365), help="days of the two histories")
    parser.add_argument("--more", type=int, default=3, help="days that are loaded after each history")
    parser.add_argument("--events-of-more", type=int, help="events of each of these days; default: --events")
    parser.add_argument("--limit", type=float, default=1.3, help="greatest ratio")
    parser.add_argument("--load", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        print(json.dumps(load_here(*options.load)))
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for days in options.days:
            events = write(folder / f"events-{days}", range(days), options.events)
            history = load_once(events, folder / f"{days}")
            print(f"{days:4} days of {options.events:,} events: {history}", flush=True)
        costs: dict[int, list[Cost]] = {days: [] for days in options.days}
        events_of_more = options.events_of_more or options.events
        for more in range(options.more):
            for days in options.days:
                events = write(folder / f"events-{days}", range(days + more, days + more + 1), events_of_more)
                costs[days].append(load_once(events, folder / f"{days}"))
                print(f"one more day of {events_of_more:,} after {days} days: {costs[days][-1]}", flush=True)
        short, long = (Cost(*map(statistics.median, zip(*costs[days], strict=True))) for days in options.days)
        ratios = Cost(*(round(after / before, 2) for after, before in zip(long, short, strict=True)))
        print(f"ratios: {ratios}")
    return int(max(ratios.processor_seconds, ratios.peak_megabytes) > options.limit)


if __name__ == "__main__":
    sys.exit(main())
