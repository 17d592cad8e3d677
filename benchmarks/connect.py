"""Cost of capture for the actions of a Spark Connect client.

    python benchmarks/connect.py [--actions 200]

Actions with and without capture alternate in blocks, on one server.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from servers.connect import client, connect

from airflow_provider_spark_lineage import capture_lineage

BLOCKS = 10
ADDED_MS = 30
"""Limit that the project aims at for the time that capture adds to the median action."""


def actions(spark: Any, folder: Path) -> dict[str, Callable[[], object]]:
    """Return the measured actions: one that reads, one that writes, a statement."""
    path = str(folder / "orders")
    spark.range(1000).selectExpr("id % 10 AS customer", "id AS amount").write.parquet(path)
    totals = spark.read.parquet(path).groupBy("customer").sum("amount").toDF("customer", "total")
    spark.read.parquet(path).createTempView("orders")
    spark.sql(f"CREATE TABLE totals (customer BIGINT, total BIGINT) USING parquet LOCATION '{folder}/totals'")
    return {
        "collect": lambda: spark.read.parquet(path).groupBy("customer").sum("amount").collect(),
        "write": lambda: totals.write.mode("overwrite").parquet(str(folder / "out")),
        "insert": lambda: spark.sql("INSERT OVERWRITE totals SELECT customer, amount FROM orders"),
    }


def measure(name: str, action: Callable[[], object], count: int) -> None:
    """Print the cost of capture for an action."""
    for _ in range(20):
        action()
    size = max(count // BLOCKS, 1)
    times: dict[bool, list[float]] = {True: [], False: []}
    for block in range(2 * BLOCKS):
        captured = block % 4 in (1, 2)
        with capture_lineage() if captured else nullcontext() as capture:
            for _ in range(size):
                began = perf_counter()
                action()
                times[captured].append((perf_counter() - began) * 1000)
        if capture is not None:
            # Or the figure means nothing.
            assert len(capture.run().executions) >= size
    with_, without = times[True], times[False]
    p95 = [quantiles(values, n=20)[-1] for values in (with_, without)]
    print(
        f"  {name:<8} without {median(without):6.1f} ms   with {median(with_):6.1f} ms"
        f"   added: median {median(with_) - median(without):5.1f}, p95 {p95[0] - p95[1]:5.1f} ms"
        f"   (aim: median < {ADDED_MS})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="What capture adds to actions of Spark Connect.")
    parser.add_argument("--actions", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, connect(Path(home)) as url, client(url) as spark:
        print(f"Actions of a Spark Connect client, {arguments.actions} times each with and without capture")
        for name, action in actions(spark, Path(home)).items():
            measure(name, action, arguments.actions)


if __name__ == "__main__":
    main()
