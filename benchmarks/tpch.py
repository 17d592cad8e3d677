"""Figures of the TPC-H queries: the cost of capture for the suite, and the time of each lineage afterwards.

    python benchmarks/tpch.py [--scale 0.1] [--rounds 5]

The suite runs with and without capture, alternating in one Spark session, every query writing its result.
The lineage is then worked out of the records that were written.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from paired import Took, Watch, report, start_spark

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage

QUERIES = sorted((Path(__file__).resolve().parent.parent / "tests" / "soundness" / "tpch").glob("q*.sql"))
ALLOWED_RATIO = 1.05
ALLOWED_MS = 20
"""Limits that the project aims at: factor on the suite's time with capture, and seconds for one lineage."""

RUNS = 20


@contextmanager
def session(folder: Path, scale: float) -> Iterator[Any]:
    """A Spark session with a view for each table of TPC-H data of its own."""
    generator = Path(sys.executable).with_name("tpchgen-cli")
    data = folder / "data"
    subprocess.run([generator, "parquet", "-s", str(scale), "-o", data, "--quiet"], check=True)
    spark = start_spark(folder, "local[*]")
    for table in data.glob("*.parquet"):
        spark.read.parquet(str(table)).createOrReplaceTempView(table.stem)
    yield spark
    spark.stop()


def suite(spark: Any, folder: Path) -> None:
    """Run every query and write its result."""
    for query in QUERIES:
        spark.sql(query.read_text(encoding="utf-8")).write.mode("overwrite").parquet(str(folder / query.stem))


def suites(spark: Any, folder: Path, rounds: int) -> list[Record]:
    """Print the cost of capture for the suite; return the records of one run of it."""
    runs: dict[bool, list[Took]] = {True: [], False: []}
    records: list[Record] = []
    # The first two warm Spark up; pairs swap their order, so that neither always comes second.
    for number in range(rounds + 1):
        for captured in (True, False) if number % 2 else (False, True):
            with Watch(spark) as watch, capture_lineage(spark) if captured else nullcontext() as capture:
                suite(spark, folder)
            if number:
                runs[captured].append(watch.took)
            if capture is not None:
                records = list(capture.records([]))
                # Or the figure means nothing.
                assert len(records) == len(QUERIES), capture.problems
    print(f"{len(QUERIES)} TPC-H queries, each written to a file, seconds (capture included)")
    report(runs, ALLOWED_RATIO)
    return records


def lineage_ms(record: Record) -> float:
    """Median milliseconds from a record to its lineage."""
    times = []
    for _ in range(RUNS):
        began = perf_counter()
        lineage = execution_lineage(record).lineage
        times.append((perf_counter() - began) * 1000)
    assert lineage.outputs[0].edges, "a lineage without edges is fast and worth nothing"
    return median(times)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, session(Path(home), arguments.scale) as spark:
        records = suites(spark, Path(home), arguments.rounds)
    took = {query.stem: lineage_ms(record) for query, record in zip(QUERIES, records, strict=True)}
    slowest = max(took, key=lambda name: took[name])
    print(f"Lineage of each in Python, after capture, ms (median of {RUNS})")
    print("  " + "  ".join(f"{name} {ms:.1f}" for name, ms in took.items()))
    print(f"  slowest {slowest} {took[slowest]:.1f}   (aim: under {ALLOWED_MS})")


if __name__ == "__main__":
    main()
