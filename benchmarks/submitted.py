"""Figures of jobs that `spark-submit` runs: the agent in their driver, and reading an event log.

    python benchmarks/submitted.py [--rounds 5]

The job is twenty queries, each written. It runs with and without the agent by turns, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent
AIM_START_MS, AIM_RATIO, AIM_ZIP_KB, AIM_LOG_MB = 150, 1.03, 300, 20
LOG_BYTES = 100_000_000


def job(folder: Path) -> None:
    """Run the job in this driver, and print its seconds."""
    sys.path.insert(0, str(HERE))
    from programs import analytical, sales
    from pyspark.sql import SparkSession

    began = perf_counter()
    spark = SparkSession.builder.getOrCreate()
    started = perf_counter()
    sales(spark, folder)
    analytical(spark, folder)
    worked = perf_counter()
    spark.stop()
    print(json.dumps({"start": started - began, "work": worked - started, "end": perf_counter() - worked}))


def submitted(home: Path, *options: str) -> dict[str, float]:
    """Run the job under `spark-submit`, and return its seconds; `total` is the whole process."""
    import pyspark

    spark_home = Path(pyspark.__file__).parent
    with tempfile.TemporaryDirectory(dir=home) as data:
        command = [str(spark_home / "bin" / "spark-submit"), "--master", "local[2]"]
        command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=4", *options]
        began = perf_counter()
        done = subprocess.run(
            [*command, __file__, "--job", data],
            env={**os.environ, "SPARK_HOME": str(spark_home), "PYSPARK_PYTHON": sys.executable},
            capture_output=True,
            text=True,
            check=True,
        )
        total = perf_counter() - began
    printed = next(line for line in done.stdout.splitlines() if line.startswith('{"start"'))
    return {**json.loads(printed), "total": total}


def agent(home: Path, rounds: int) -> None:
    """Print the cost of the agent for a job."""
    from airflow_provider_spark_lineage.spark.agent.zipped import write_agent
    from airflow_provider_spark_lineage.spark.records.record import SUFFIX

    archive = write_agent(home / "agent.zip")
    print(f"Agent: {archive.stat().st_size / 1000:.0f} kB (aim: under {AIM_ZIP_KB})")
    runs: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for number in range(rounds):
        for has_agent in (True, False) if number % 2 else (False, True):
            records = home / f"records-{number}"
            options = ("--py-files", str(archive), "--conf", f"spark.lineage.records={records}")
            runs[has_agent].append(submitted(home, *(options if has_agent else ())))
            # Or the figure means nothing.
            assert not has_agent or len(list(records.glob("*" + SUFFIX))) > 20
    for part in ("start", "work", "end", "total"):
        with_, without = ([run[part] for run in runs[has_agent]] for has_agent in (True, False))
        added = (median(with_) - median(without)) * 1000
        ratio = median(captured / other for captured, other in zip(with_, without, strict=True))
        aim = {"start": f"   (aim: under {AIM_START_MS} ms)", "total": f"   (aim: under {AIM_RATIO})"}
        print(
            f"  {part:<6} without {median(without):6.2f} s   with {median(with_):6.2f} s"
            f"   added {added:6.0f} ms   ratio {ratio:.3f}{aim.get(part, '')}"
        )


def event_log(home: Path) -> None:
    """Print how fast a long event log is read, and the memory that this takes."""
    logs = home / "logs"
    logs.mkdir()
    conf = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(logs),
        "spark.eventLog.compress": "false",
    }
    conf["spark.sql.ui.explainMode"] = "extended"
    conf["spark.eventLog.rolling.enabled"] = "false"
    submitted(home, *(part for name, value in conf.items() for part in ("--conf", f"{name}={value}")))
    log = _repeated(next(logs.iterdir()), home / "log")
    reading = [sys.executable, __file__, "--read", str(log)]
    done = subprocess.run(reading, check=True, capture_output=True, text=True)
    print(done.stdout, end="")


def _repeated(log: Path, target: Path) -> Path:
    """Write the events of a log again and again, as if of later executions, jobs and stages."""
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    number = 0
    with target.open("w") as out:
        while out.tell() < LOG_BYTES:
            for line in lines:
                is_first = line["Event"].startswith(
                    ("SparkListenerLogStart", "SparkListenerApplicationStart")
                )
                if number == 0 or not (is_first or line["Event"] == "SparkListenerApplicationEnd"):
                    out.write(json.dumps(_later(line, number), separators=(",", ":")) + "\n")
            number += 1
    return target


def _later(event: dict[str, Any], number: int) -> dict[str, Any]:
    event = dict(event)
    if "executionId" in event:
        event["executionId"] += 1000 * number
    properties = event.get("Properties") or {}
    if execution := properties.get("spark.sql.execution.id"):
        later = str(int(execution) + 1000 * number)
        event["Properties"] = {**properties, "spark.sql.execution.id": later}
    return event


def read_log(log: Path) -> None:
    """Read a log in this process, and print how fast that was."""
    import resource

    from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

    problems: list[str] = []
    began = perf_counter()
    count = sum(1 for _ in RecordedFolder(log).records(problems))
    seconds = perf_counter() - began
    size = log.stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"Event log: {size:.0f} MB, {count} executions, {size / seconds:.1f} MB/s (aim: {AIM_LOG_MB}),"
        f" Python's peak {peak:.0f} MB"
    )
    began = perf_counter()
    count = sum(1 for _ in RecordedFolder(log).executions(problems))
    print(f"  with the lineage of each: {(perf_counter() - began) * 1000 / count:.1f} ms an execution")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="What the agent costs a job, and how fast event logs are read."
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--job", type=Path, help="run the job here, on data in a folder")
    parser.add_argument("--read", type=Path, help="read an event log here")
    arguments = parser.parse_args()
    if arguments.job:
        job(arguments.job)
    elif arguments.read:
        read_log(arguments.read)
    else:
        with tempfile.TemporaryDirectory() as home:
            agent(Path(home), arguments.rounds)
            event_log(Path(home))


if __name__ == "__main__":
    main()
