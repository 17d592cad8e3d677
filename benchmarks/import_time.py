"""Print what a DAG file pays for importing our operator instead of Airflow's: figures, not a test.

    python benchmarks/import_time.py [--rounds 15]

Each round starts one fresh interpreter per operator, in alternating order, so that a busy moment of the
machine hits both. `airflow.sdk` is imported before the clock starts: every DAG file has it anyway, and its
seconds would bury the milliseconds that are asked for.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

AIRFLOW = "airflow.providers.apache.spark.operators.spark_pyspark"
OURS = "airflow_provider_spark_lineage.operators.pyspark"
ALLOWED_MS = 30.0
"""What the project promises as the most that our operator may add."""

IMPORT = """
import importlib, sys, time
import airflow.sdk
from airflow.sdk import DAG, task
start = time.perf_counter()
importlib.import_module(sys.argv[1])
print("MS", (time.perf_counter() - start) * 1000)
"""


def import_ms(module: str, airflow_home: str) -> float:
    """Return the milliseconds that a fresh interpreter spends on importing the module."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, module],
        env={**os.environ, "AIRFLOW_HOME": airflow_home},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.rpartition("MS")[2])


def measure(rounds: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of Airflow's operator and of ours, a pair per round."""
    theirs: list[float] = []
    ours: list[float] = []
    with tempfile.TemporaryDirectory() as home:
        # Not counted: the first run of each fills the byte code caches.
        import_ms(AIRFLOW, home)
        import_ms(OURS, home)
        for number in range(rounds):
            pair = [(AIRFLOW, theirs), (OURS, ours)]
            for module, times in pair if number % 2 == 0 else reversed(pair):
                times.append(import_ms(module, home))
    return theirs, ours


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="DAG parse: our operator beside Airflow's.")
    parser.add_argument("--rounds", type=int, default=15, help="fresh interpreters per operator")
    rounds = parser.parse_args().rounds
    theirs, ours = measure(rounds)
    difference = statistics.median(b - a for a, b in zip(theirs, ours, strict=True))
    print(f"DAG parse, median of {rounds} fresh interpreters each")
    print(f"  Airflow's PySparkOperator    {statistics.median(theirs):8.1f} ms")
    print(f"  PySparkLineageOperator       {statistics.median(ours):8.1f} ms")
    print(f"  ratio                        {statistics.median(ours) / statistics.median(theirs):8.2f}")
    print(f"  difference (median of pairs) {difference:8.1f} ms, allowed {ALLOWED_MS:.0f} ms")


if __name__ == "__main__":
    main()
