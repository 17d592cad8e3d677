"""Figures of the nycflights pipeline with and without capture, alternating in one Spark session.

    python benchmarks/nycflights.py [--rounds 4]

Runs the functions of `dags/nycflights_steps.py` without Airflow, whose own seconds would bury the difference.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent


def pipeline(steps: Any, source: Any, spark: Any) -> None:
    """Run every step once, in an order that its dependencies allow."""
    for table in source.TABLES:
        steps.csv_to_parquet(table, spark)
    for step in (
        steps.silver_weather,
        steps.silver_flights,
        steps.gold_delays_by_carrier,
        steps.gold_worst_routes,
        steps.gold_delays_by_weather,
    ):
        step(spark)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=4)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as home:
        os.environ["NYCFLIGHTS_HOME"] = home
        sys.path.insert(0, str(CHECKOUT / "dags"))
        import nycflights_source
        import nycflights_steps
        from pyspark import SparkConf
        from pyspark.sql import SparkSession

        from airflow_provider_spark_lineage import capture_lineage

        nycflights_source.deliver()
        conf = SparkConf().setAll(nycflights_source.SPARK.items())
        spark = SparkSession.builder.config(conf=conf).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        times: dict[bool, list[float]] = {True: [], False: []}
        # The first two warm Spark up; pairs swap their order, so that neither always comes second.
        for number in range(rounds + 1):
            for captured in (True, False) if number % 2 else (False, True):
                began = perf_counter()
                with capture_lineage(spark) if captured else nullcontext() as capture:
                    pipeline(nycflights_steps, nycflights_source, spark)
                if capture is not None:
                    # Or the figure means nothing.
                    assert len(capture.lineage.outputs) == 10, capture.text()
                if number:
                    times[captured].append(perf_counter() - began)
                spark.sql("DROP TABLE gold.delays_by_weather")
        spark.stop()
    ratios = [with_ / without for with_, without in zip(times[True], times[False], strict=True)]
    print("nycflights pipeline, seconds (capture and lineage included)")
    print(
        f"  without capture  median {median(times[False]):.2f}   {' '.join(f'{t:.2f}' for t in times[False])}"
    )
    print(
        f"  with capture     median {median(times[True]):.2f}   {' '.join(f'{t:.2f}' for t in times[True])}"
    )
    print(f"  ratio            median {median(ratios):.3f}   (aim: under 1.10)")


if __name__ == "__main__":
    main()
