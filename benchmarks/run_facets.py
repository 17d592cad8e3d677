"""Figures of run facets: of the methods that the provider calls, and of the listener's end of a task.

    python benchmarks/run_facets.py [--executions 500] [--tasks 200000]

The first part is pure Python: a task with so many executions, each of which reads and writes, and with a
full list of stages, gaps and failures. The second part gives the listener of a real session the end of one
task again and again, as Spark does for a stage of so many tasks. Times are of the CPU.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from time import process_time
from types import SimpleNamespace
from typing import Any

from lineage import record

from airflow_provider_spark_lineage import run_facets
from airflow_provider_spark_lineage.airflow.task.answers import reported
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.usage import StageUsage, Usage
from airflow_provider_spark_lineage.spark.runs.executions import executions
from airflow_provider_spark_lineage.spark.runs.recorded import RunBuilder

RUNS = 11
FACETS_MS = 50
"""Limit that the project aims at for each method and function."""

LISTENER_SECONDS = 0.3
"""The same for the listener, for all tasks."""

REPLAY = """
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerInterface;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

public class Replay extends SparkListener {
    private SparkListenerStageSubmitted submitted;
    private SparkListenerTaskEnd ended;

    public void onStageSubmitted(SparkListenerStageSubmitted event) {
        submitted = event;
    }

    public void onTaskEnd(SparkListenerTaskEnd event) {
        ended = event;
    }

    public void begin(SparkListenerInterface listener) {
        listener.onStageSubmitted(submitted);
    }

    public double seconds(SparkListenerInterface listener, int tasks) {
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        long began = clock.getCurrentThreadCpuTime();
        for (int i = 0; i < tasks; i++) {
            listener.onTaskEnd(ended);
        }
        return (clock.getCurrentThreadCpuTime() - began) / 1e9;
    }

    public long usedBytes() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
"""


def written(number: int) -> Any:
    """A record of a write: every tenth failed, and every twentieth has a plan that cannot be read."""
    began = record(10, 2)
    places = [["file:/in"], f"file:/out/{number % 50}"]
    facts = [
        {**fact, "probed": {**fact["probed"], "paths": place}}
        for fact, place in zip(began.facts, places, strict=True)
    ]
    error = {"class": "org.apache.spark.SparkException", "message": "[NO] no\\n" * 20}
    return replace(
        began,
        number=number,
        facts=facts,
        outcome="failure" if number % 10 == 9 else "success",
        error=error if number % 10 == 9 else None,
        plan=[{"class": "a.Project", "num-children": 9}] if number % 20 == 0 else began.plan,
        joins=[{"node": "CartesianProduct", "execution": number, "rows": 10**9}],
    )


def facets(count: int) -> None:
    """Print the times of the methods and functions that a forked child calls."""
    builder = RunBuilder()
    for execution in executions(map(written, range(count))):
        builder.add(execution)
    stage = StageUsage(1, name="save at /jobs/load.py:12", elapsed_ms=60_000, tasks=9, slowest_ms=50_000)
    stages = tuple(replace(stage, id=number, slowest_ms=50_000 + number) for number in range(50))
    builder.describe([Application("benchmark", "n", "4.1.0", usage=Usage(longest_stages=stages))])
    run = builder.run()
    task = SimpleNamespace(dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1)
    TASK.set_capture(
        task, TaskLineage(SimpleNamespace(run=lambda: run, planned=None, findings=(), stop=lambda: None))
    )  # type: ignore[arg-type]
    assert TASK.capture is not None
    TASK.capture.stop()
    shown = {"operator_lineage": lambda: reported(TASK.report_of(task))}
    for name in run_facets.__all__:
        shown[name] = lambda name=name: getattr(run_facets, name)(task, None)
    print(f"{count} executions, {len(run.lineage.outputs)} outputs")
    for name, function in shown.items():
        milliseconds = timed_ms(function)
        print(f"{name:20} {milliseconds:7.1f} ms{'' if milliseconds < FACETS_MS else '  TOO SLOW'}")


def timed_ms(function: Callable[[], object]) -> float:
    """Median time of a call."""
    times = []
    for _ in range(RUNS):
        began = process_time()
        function()
        times.append((process_time() - began) * 1000)
    return median(times)


def listener(tasks: int) -> None:
    """Print what the end of a task costs the thread of the listener bus, and the memory of a stage."""
    from pyspark.sql import SparkSession

    from airflow_provider_spark_lineage import capture_lineage

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    context: Any = spark.sparkContext
    jvm = context._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(REPLAY)
    replay = compiler.getClassLoader().loadClass("Replay").getConstructors()[0].newInstance(None)
    context._jsc.sc().addSparkListener(replay)
    with capture_lineage(spark) as captured:
        spark.range(10, numPartitions=2).groupBy("id").count().collect()
        context._jsc.sc().listenerBus().waitUntilEmpty(60_000)
        live = captured._capture._application._listener
        replay.begin(live)
        first, before = replay.seconds(live, tasks), replay.usedBytes()
        times = [replay.seconds(live, tasks) for _ in range(5)]
        grown = replay.usedBytes() - before
    spark.stop()
    slow = "" if max(first, *times) < LISTENER_SECONDS else "  TOO SLOW"
    print(f"{tasks:,} ends of tasks: {first:.3f} s at first, then {median(times):.3f} s{slow}")
    print(f"memory: {grown / 1024:+,.0f} KiB after {5 * tasks:,} more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=500)
    parser.add_argument("--tasks", type=int, default=200_000)
    arguments = parser.parse_args()
    facets(arguments.executions)
    listener(arguments.tasks)
    print(f"peak memory of Python: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
