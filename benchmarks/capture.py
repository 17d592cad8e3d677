"""Figures of capture itself, in one Spark session: for a small query, for tiny writes, and for thousands.

    python benchmarks/capture.py [--queries 300] [--writes 2000] [--rounds 6]

Queries with and without capture alternate in blocks, so that a warmer JVM serves both. Capture works beside
the user's code, on threads of its own: a block's time includes the wait for them.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import median, quantiles
from time import clock_gettime, perf_counter, process_time, pthread_getcpuclockid
from typing import Any

from paired import cpu_seconds

BLOCKS = 10
ADDED_MS = 15
"""Limit that the project aims at for the time that capture adds to the median small query."""


def timed_ms(action: Callable[[], object]) -> float:
    """Milliseconds that an action takes the user."""
    began = perf_counter()
    action()
    return (perf_counter() - began) * 1000


def small_queries(spark: Any, folder: Path, count: int) -> None:
    """Print the cost of capture for an aggregation of a small file."""
    from airflow_provider_spark_lineage import capture_lineage

    path = str(folder / "orders")
    spark.range(1000).selectExpr("id % 10 AS customer", "id AS amount").write.parquet(path)

    def query() -> object:
        return spark.read.parquet(path).groupBy("customer").sum("amount").collect()

    for _ in range(30):
        query()
    times: dict[bool, list[float]] = {True: [], False: []}
    whole: dict[bool, float] = {True: 0.0, False: 0.0}
    size = max(count // BLOCKS, 1)
    for block in range(2 * BLOCKS):
        captured = block % 4 in (1, 2)
        began = perf_counter()
        with capture_lineage(spark) if captured else nullcontext() as capture:
            times[captured] += [timed_ms(query) for _ in range(size)]
        whole[captured] += perf_counter() - began
        if capture is not None:
            # Or the figure means nothing.
            assert len(capture.run().executions) == size
    with_, without = times[True], times[False]
    added = median(with_) - median(without)
    p95 = [quantiles(values, n=20)[-1] for values in (with_, without)]
    drained = (whole[True] - whole[False]) * 1000 / len(with_)
    print(f"Small query, {len(with_)} times each, ms")
    print(f"  without capture     median {median(without):6.1f}   p95 {p95[1]:6.1f}")
    print(f"  with capture        median {median(with_):6.1f}   p95 {p95[0]:6.1f}")
    print(
        f"  added               median {added:6.1f}   p95 {p95[0] - p95[1]:6.1f}   (aim: median < {ADDED_MS})"
    )
    print(f"  added, with the wait for the records at the end, per query {drained:6.1f}")


SHARE = 0.04
"""Limit that the project aims at for the processor time of capture, as a part of the application's."""

TINY_WRITES = 150


def jvm_seconds(spark: Any) -> float:
    """Processor time that capture's own thread in the JVM has had."""
    threads = spark._jvm.java.lang.management.ManagementFactory.getThreadMXBean()
    infos = ((number, threads.getThreadInfo(number)) for number in threads.getAllThreadIds())
    ours = (number for number, info in infos if info and info.getThreadName().startswith("spark-lineage"))
    return sum(max(threads.getThreadCpuTime(number), 0) for number in ours) / 1e9


def python_seconds() -> float:
    """Processor time that capture's own threads in this process have had."""
    ours = (each for each in threading.enumerate() if each.name.startswith("spark-lineage"))
    return sum(clock_gettime(pthread_getcpuclockid(each.ident)) for each in ours if each.ident)


def tiny_writes(spark: Any, folder: Path, rounds: int) -> None:
    """Print capture's part of the processor time of tiny writes: other programs do not disturb it."""
    from airflow_provider_spark_lineage import capture_lineage

    rows = spark.range(10).selectExpr("id", "id * 2 x").coalesce(1)

    def write(block: str) -> None:
        for number in range(TINY_WRITES):
            rows.write.parquet(str(folder / "tiny" / block / str(number)))

    shares = []
    print(f"{TINY_WRITES} tiny writes, processor time in ms per write (aim: share under {SHARE:.0%})")
    print(f"{'application':>12} {'JVM thread':>11} {'Python thread':>14} {'in the program':>15} {'share':>7}")
    for number in range(rounds):
        before, own = cpu_seconds(spark), process_time()
        write(f"without-{number}")
        without, own = cpu_seconds(spark) - before, process_time() - own
        with capture_lineage(spark) as captured:
            began = process_time()
            write(f"with-{number}")
            assert not captured.drain(60)
            used = process_time() - began
            beside, in_python = jvm_seconds(spark), python_seconds()
        # What the program's own thread does for capture, for example waits and marks.
        added = used - in_python - own
        shares.append((beside + in_python + added) / without)
        figures = (each * 1000 / TINY_WRITES for each in (without, beside, in_python, added))
        print("{:>12.2f} {:>11.2f} {:>14.2f} {:>15.2f}".format(*figures), f"{shares[-1]:>7.1%}", flush=True)
    print(f"  share, median of the last {len(shares[1:])}: {median(shares[1:]):.1%}")


def memory_mb() -> float:
    """Most memory that this Python process has had; the JVM is another process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def many_writes(spark: Any, folder: Path, count: int) -> None:
    """Print cost per write and Python's memory as one capture grows."""
    from airflow_provider_spark_lineage import capture_lineage

    rows = spark.range(10).coalesce(1)
    print(f"{count} writes in one application, one capture")
    print(f"{'writes':>8} {'ms per write':>13} {'Python peak MB':>15}")
    with capture_lineage(spark) as captured:
        done = 0
        while done < count:
            step = min(max(count // 5, 1), count - done)
            began = perf_counter()
            for number in range(done, done + step):
                rows.write.parquet(str(folder / "many" / str(number)))
            done += step
            print(
                f"{done:>8} {(perf_counter() - began) * 1000 / step:>13.1f} {memory_mb():>15.0f}", flush=True
            )
    began = perf_counter()
    outputs = len(captured.lineage.outputs)
    assert outputs == count, f"{outputs} of {count} writes were captured: {captured.run().problems}"
    took = (perf_counter() - began) * 1000 / count
    print(f"  lineage of them all: {took:.1f} ms per write, Python peak {memory_mb():.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description="What capture costs.")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--writes", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=6)
    arguments = parser.parse_args()
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as home:
        spark = (
            SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.warehouse.dir", f"{home}/warehouse")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        small_queries(spark, Path(home), arguments.queries)
        tiny_writes(spark, Path(home), arguments.rounds)
        many_writes(spark, Path(home), arguments.writes)
        spark.stop()


if __name__ == "__main__":
    main()
