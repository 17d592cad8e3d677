"""Print what our modules cost when they are imported: figures, not a test.

    python benchmarks/import_time.py [--rounds 15]

A DAG file pays for our operator what it takes longer than Airflow's own. Every process of Airflow pays for
the plugin, and for the extractor if it is configured.

Each round starts one fresh interpreter per operator, in alternating order, so that a busy moment of the
machine hits both. `airflow.sdk` is imported before the clock starts: every DAG file has it anyway, and its
seconds would bury the milliseconds that are asked for. So is OpenLineage's listener, before the plugin.
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

PLUGIN = "airflow_provider_spark_lineage.plugins.auto_capture"
EXTRACTOR = "airflow_provider_spark_lineage.extractors.spark"
PLUGIN_ALLOWED_MS = 20.0
"""The same for plugin and extractor together, with auto-capture on."""

IMPORT = """
import importlib, sys, time
import airflow.sdk
from airflow.sdk import DAG, task
for name in sys.argv[2:]:
    importlib.import_module(name)
start = time.perf_counter()
importlib.import_module(sys.argv[1])
print("MS", (time.perf_counter() - start) * 1000)
"""


def import_ms(module: str, airflow_home: str, *before: str) -> float:
    """Return the milliseconds that a fresh interpreter spends on importing the module after others."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, module, *before],
        env={**os.environ, "AIRFLOW_HOME": airflow_home, "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True"},
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


def measure_plugin(rounds: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of the plugin and of the extractor, which has the plugin before it."""
    listener = "airflow.providers.openlineage.plugins.listener"
    with tempfile.TemporaryDirectory() as home:
        import_ms(EXTRACTOR, home, listener, PLUGIN)
        plugin = [import_ms(PLUGIN, home, listener) for _ in range(rounds)]
        return plugin, [import_ms(EXTRACTOR, home, listener, PLUGIN) for _ in range(rounds)]


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
    plugin, extractor = measure_plugin(rounds)
    both = statistics.median(plugin) + statistics.median(extractor)
    print("Airflow start, auto-capture on")
    print(f"  plugin                       {statistics.median(plugin):8.1f} ms")
    print(f"  SparkExtractor               {statistics.median(extractor):8.1f} ms")
    print(f"  both                         {both:8.1f} ms, allowed {PLUGIN_ALLOWED_MS:.0f} ms")


if __name__ == "__main__":
    main()
