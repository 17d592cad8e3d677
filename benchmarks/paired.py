"""A program with and without capture, side by side: elapsed and processor time, and their ratios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any


def start_spark(folder: Path, master: str) -> Any:
    """Return a Spark session that prints nothing and keeps its warehouse in a folder."""
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def cpu_seconds(spark: Any) -> float:
    """Processor time that Spark's JVM and this process have had, which other programs do not disturb."""
    jvm = spark._jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get().toMillis() / 1000
    return float(jvm) + process_time()


@dataclass(frozen=True)
class Took:
    """Seconds of one run."""

    elapsed: float
    processor: float


class Watch:
    """Measures its block."""

    took: Took

    def __init__(self, spark: Any) -> None:
        self._spark = spark

    def __enter__(self) -> Watch:
        self._began, self._before = perf_counter(), cpu_seconds(self._spark)
        return self

    def __exit__(self, *error: object) -> None:
        self.took = Took(perf_counter() - self._began, cpu_seconds(self._spark) - self._before)


def report(runs: Mapping[bool, Iterable[Took]], aim: float) -> None:
    """Print the runs with and without capture, pair by pair, and the median of their ratios."""
    for what in ("elapsed", "processor"):
        seconds = {captured: [getattr(run, what) for run in runs[captured]] for captured in runs}
        for name, captured in (("without", False), ("with", True)):
            listed = " ".join(f"{figure:.2f}" for figure in seconds[captured])
            print(f"  {what:<9} {name:<7} capture  median {median(seconds[captured]):6.2f}   {listed}")
        ratios = [with_ / without for with_, without in zip(seconds[True], seconds[False], strict=True)]
        print(f"  {what:<9} ratio            median {median(ratios):6.3f}   (aim: under {aim})")
