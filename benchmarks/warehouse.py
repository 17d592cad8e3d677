"""Measures the load of generated events into a warehouse: rate, memory, and whether tasks are of even size.

python benchmarks/warehouse.py 40000

An event has about 5 kB: two inputs, and an output with 20 columns and 20 edges. Half of
the events are START. A run of Spark in this process, on two cores; its event log has the tasks' metrics.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from processes import Watch

from airflow_provider_spark_lineage.warehouse import LoadSummary, load

COLUMNS = 20
RUNS_OF_A_JOB = 5
"""Runs of each job: all say the same, so that they have one version."""

FILES = 16
FEWEST_TASKS = 4
"""Stages with fewer tasks say nothing about their sizes."""


def events_of(number: int) -> Iterator[dict[str, Any]]:
    """Yield START and COMPLETE of runs, in the order of their times."""
    jobs = max(1, number // 2 // RUNS_OF_A_JOB)
    for run in range(number // 2):
        yield from _run(run % jobs, run)


def _run(job: int, run: int) -> Iterator[dict[str, Any]]:
    names = [f"column_{column}" for column in range(COLUMNS)]
    sources = [f"layer{job % 12}/table{job}", f"layer{job % 12}/table{job * 7 % 1000}"]
    minute = run % 1440
    common: dict[str, Any] = {
        "producer": "https://example.com/generated",
        "job": {"namespace": "generated", "name": f"dag{job // 20}.task{job}"},
        "run": {"runId": f"0198c000-0000-7000-8000-{run:012}", "facets": {}},
        "inputs": [_dataset(name, names) for name in dict.fromkeys(sources)],
    }
    time_of = f"2026-01-{1 + run * 20 // 1_000_000 % 28:02}T{minute // 60:02}:{minute % 60:02}"
    yield {**common, "eventType": "START", "eventTime": f"{time_of}:00Z", "outputs": []}
    fields = {
        name: {
            "inputFields": [
                {
                    "namespace": "s3://lake",
                    "name": sources[number % 2],
                    "field": name,
                    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}],
                }
            ]
        }
        for number, name in enumerate(names)
    }
    output = _dataset(f"layer{job % 12 + 1}/table{job}", names)
    output["facets"]["columnLineage"] = {"fields": fields}
    yield {**common, "eventType": "COMPLETE", "eventTime": f"{time_of}:30Z", "outputs": [output]}


def _dataset(name: str, columns: list[str]) -> dict[str, Any]:
    schema = {"fields": [{"name": column, "type": "string"} for column in columns]}
    symlink = {"namespace": "hive", "name": name.replace("/", "."), "type": "TABLE"}
    facets = {"schema": schema, "symlinks": {"identifiers": [symlink]}}
    return {"namespace": "s3://lake", "name": name, "facets": facets}


def write_events(folder: Path, number: int) -> int:
    """Write events into a folder; return their bytes."""
    folder.mkdir(parents=True)
    files = [(folder / f"{each}.jsonl").open("w", encoding="utf-8") for each in range(FILES)]
    for place, event in enumerate(events_of(number)):
        files[place // 2 % FILES].write(f"{json.dumps(event)}\n")
    for file in files:
        file.close()
    return sum(file.stat().st_size for file in folder.iterdir())


def of_tasks(log: Path) -> tuple[float, float, float]:
    """Return how much larger than the mean the largest task was, at worst; its share; and seconds of the JVM.

    The seconds are the processor time of tasks, without their workers of Python.
    """
    rows: dict[tuple[int, int], list[int]] = defaultdict(list)
    nanoseconds = 0
    for file in log.rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            for line in file.read_text(encoding="utf-8").splitlines():
                event = json.loads(line)
                if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                    metrics = event["Task Metrics"]
                    nanoseconds += metrics["Executor CPU Time"]
                    count = metrics["Shuffle Read Metrics"]["Total Records Read"]
                    count += metrics["Input Metrics"]["Records Read"]
                    rows[event["Stage ID"], event["Stage Attempt ID"]].append(count)
    stages = [each for each in rows.values() if len(each) >= FEWEST_TASKS and sum(each) >= 1000]
    return (
        max((max(each) * len(each) / sum(each) for each in stages), default=0.0),
        max((max(each) / sum(each) for each in stages), default=0.0),
        nanoseconds / 1e9,
    )


def measured(number: int, place: Path) -> dict[str, Any]:
    """Load generated events; return the figures."""
    from pyspark.sql import SparkSession

    size = write_events(place / "events", number)
    (place / "log").mkdir()
    conf = {
        "spark.driver.memory": "3g",
        "spark.eventLog.dir": str(place / "log"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("benchmark")
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    begin = time.monotonic()
    with Watch() as watch:
        summary: LoadSummary = load(spark, place / "events", place / "lineage", tell=print)
    seconds = time.monotonic() - begin
    spark.stop()
    largest, share, of_jvm = of_tasks(place / "log")
    return {
        "events": number,
        "bytes_of_an_event": size // number,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(watch.cpu_seconds, 1),
        "cpu_seconds_of_tasks_in_the_jvm": round(of_jvm, 1),
        "events_a_second": round(number / seconds),
        "peak_megabytes": watch.peak_bytes >> 20,
        "new_versions": summary.new_versions,
        "bad_lines": summary.bad_lines,
        "largest_task_to_mean": round(largest, 2),
        "largest_share_of_a_task": round(share, 2),
    }


def main(arguments: list[str]) -> None:
    """Print the figures as JSON."""
    number = int(arguments[0]) if arguments else 40_000
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        print(json.dumps(measured(number, Path(folder)), indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
