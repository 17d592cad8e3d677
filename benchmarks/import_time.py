"""Print the import times of our modules: figures, not a test.

    python benchmarks/import_time.py [--rounds 15]

A DAG file pays for our operator the difference to Airflow's own. Every process of Airflow pays for
the plugin, and for the extractors that are configured. A task without Spark pays for being looked at: the
first in its process, because most tasks have a process of their own.

Each round starts one fresh interpreter per operator, in alternating order, so that a busy moment of the
machine hits both. `airflow.sdk` is imported before the clock starts: every DAG file has it anyway, and its
seconds would bury the milliseconds that are asked for. So is OpenLineage's listener, before the plugin. Byte
code is cached, as where packages are installed.
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
"""The promised limit of the time that our operator adds."""

PLUGIN = "airflow_provider_spark_lineage.airflow.plugins.auto_capture"
EXTRACTOR = "airflow_provider_spark_lineage.airflow.extractors.spark"
LAUNCHERS = "airflow_provider_spark_lineage.airflow.extractors.launchers"
PLUGIN_ALLOWED_MS = 20.0
"""The same for plugin and extractors together, with auto-capture on."""

VIEWER = "airflow_provider_spark_lineage.airflow.ui.plugin"
VIEWER_ALLOWED_MS = 5.0
"""The same for the plugin of the viewer, which every process of Airflow imports, too."""

TASK_ALLOWED_MS = 1.0
"""The same for a task without Spark."""

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


TASKS = """
import sys
import time
import airflow.providers.openlineage.plugins.listener
from types import SimpleNamespace
from airflow.providers.standard.decorators.bash import _BashDecoratedOperator
from airflow.providers.standard.hooks.subprocess import SubprocessHook
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow_provider_spark_lineage.airflow.launch.table import launch_of
from airflow_provider_spark_lineage.airflow.plugins.auto_capture import SparkLineagePlugin

COMMAND = "python load.py --day 2026-01-01 | tee log"
SubprocessHook.run_command = lambda self, command, **options: None
task = {
    "PythonOperator": lambda: PythonOperator(task_id="t", python_callable=print),
    "BashOperator": lambda: BashOperator(task_id="t", bash_command=COMMAND),
    "@task.bash": lambda: _BashDecoratedOperator(task_id="t", python_callable=print),
}[sys.argv[1]]()
hook = getattr(task, "subprocess_hook", None)
instance = SimpleNamespace(task=task, dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1)

def tell(name, *arguments):
    for listener in SparkLineagePlugin.listeners:
        getattr(listener, name, lambda *_: None)(*arguments)

start = time.perf_counter()
tell("on_task_instance_running", None, instance)
if hook is not None:
    task.bash_command = COMMAND
    hook.run_command(command=["bash", "-c", COMMAND], env={})
tell("on_task_instance_success", None, instance)
tell("before_stopping", None)
assert launch_of(task) is None
print("MS", (time.perf_counter() - start) * 1000)
"""
"""The operator runs nothing: the time of an empty shell command would bury the measured one."""

OPERATORS = ("PythonOperator", "BashOperator", "@task.bash")


def import_ms(module: str, airflow_home: str, *before: str) -> float:
    """Return the milliseconds that a fresh interpreter spends on importing the module after others."""
    return milliseconds(IMPORT, airflow_home, module, *before)


def milliseconds(program: str, airflow_home: str, *arguments: str) -> float:
    """Return the milliseconds that a program prints at its end, in a fresh interpreter."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={
            **environment,
            "AIRFLOW_HOME": airflow_home,
            # Without a transport there would be no events, and nothing would be computed.
            "AIRFLOW__OPENLINEAGE__TRANSPORT": '{"type": "console"}',
            "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
            "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_COMMANDS": "True",
            "PYTHONPYCACHEPREFIX": os.path.join(airflow_home, "byte_code"),
        },
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


def measure_plugin(rounds: int) -> list[float]:
    """Return the median milliseconds of plugin, extractors and viewer, each after those before it."""
    modules = ("airflow.providers.openlineage.plugins.listener", PLUGIN, EXTRACTOR, LAUNCHERS, VIEWER)
    with tempfile.TemporaryDirectory() as home:
        import_ms(VIEWER, home, *modules)
        return [
            statistics.median(import_ms(modules[n], home, *modules[:n]) for _ in range(rounds))
            for n in range(1, len(modules))
        ]


def measure_tasks(rounds: int) -> dict[str, float]:
    """Return the median milliseconds that a task of each operator pays."""
    with tempfile.TemporaryDirectory() as home:
        for operator in OPERATORS:
            milliseconds(TASKS, home, operator)
        return {
            operator: statistics.median(milliseconds(TASKS, home, operator) for _ in range(rounds))
            for operator in OPERATORS
        }


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
    plugin, extractor, launchers, viewer = measure_plugin(rounds)
    print("Airflow start, auto-capture on")
    print(f"  plugin                       {plugin:8.1f} ms")
    print(f"  SparkExtractor               {extractor:8.1f} ms")
    print(f"  LauncherExtractor            {launchers:8.1f} ms")
    total = plugin + extractor + launchers
    print(f"  together                     {total:8.1f} ms, allowed {PLUGIN_ALLOWED_MS:.0f} ms")
    print(f"  viewer                       {viewer:8.1f} ms, allowed {VIEWER_ALLOWED_MS:.0f} ms")
    print("First task of a process, without Spark, auto_capture_commands on")
    for operator, spent in measure_tasks(rounds).items():
        print(f"  {operator:<28} {spent:8.2f} ms, allowed {TASK_ALLOWED_MS:.0f} ms")


if __name__ == "__main__":
    main()
