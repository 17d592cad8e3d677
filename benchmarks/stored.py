"""Print how long the end of a task waits until its lineage is stored for the viewer, and how much is stored.

    python benchmarks/stored.py [--rounds 5]

Each figure is of the first call in a fresh interpreter, as most tasks have one. The store is a folder: an
XCom has the request to Airflow's API server in place of the file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from types import SimpleNamespace
from typing import Any

SIZES = {"usual": (3, 10, 1), "wide": (10, 100, 1), "large": (30, 200, 3)}
"""Name -> numbers of inputs, of columns of each dataset, and of outputs; each column comes from three."""

ALLOWED_MS = {"usual": 100}
"""The promised limit; a task of any size goes on after a second, stored or not."""


def run_of(inputs: int, columns: int, outputs: int) -> Any:
    """Return a run of a task as capture makes it."""
    from airflow_provider_spark_lineage.spark.lineage.model import (
        Dataset,
        Edge,
        Field,
        Input,
        Lineage,
        Mode,
        Output,
    )
    from airflow_provider_spark_lineage.spark.plan.algebra import Kind
    from airflow_provider_spark_lineage.spark.runs.run import Run
    from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

    fields = tuple(Field(f"column_{number}", "string") for number in range(columns))
    reads = [Dataset(Identity(DatasetId("file", f"/in/{number}")), fields) for number in range(inputs)]
    kinds = (Kind.IDENTITY, Kind.CONDITIONAL, Kind.TRANSFORMATION)
    edges = [
        Edge(
            reads[(place + step) % inputs].id, fields[(place + step) % columns].name, kind, column=field.name
        )
        for place, field in enumerate(fields)
        for step, kind in enumerate(kinds)
    ]
    edges.sort(key=lambda edge: edge.order)
    sources = tuple(read.id for read in reads)
    writes = [
        Output(
            Dataset(Identity(DatasetId("file", f"/out/{number}")), fields),
            Mode.OVERWRITE,
            edges=tuple(edges),
            inputs=sources,
        )
        for number in range(outputs)
    ]
    return Run(Lineage(tuple(map(Input, reads)), tuple(writes)))


def end_task(size: tuple[int, int, int]) -> float:
    """Return the milliseconds that the end of a task takes in this process."""
    import airflow.providers.openlineage.plugins.listener  # noqa: F401  every task has it
    import pendulum
    from airflow.sdk import DAG

    from airflow_provider_spark_lineage.airflow.plugins.task_ends import StoredLineage
    from airflow_provider_spark_lineage.airflow.task import store
    from airflow_provider_spark_lineage.airflow.task.process import TASK
    from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage
    from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator

    dag = DAG("d", schedule=None)
    task = PySparkLineageOperator(task_id="t", python_callable=lambda spark: None, dag=dag)
    dag_run = SimpleNamespace(logical_date=pendulum.datetime(2026, 1, 1), clear_number=0, conf={})
    context = {"dag_run": dag_run, "dag": dag, "task": task}
    ids = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    instance = SimpleNamespace(**ids, task=task, get_template_context=lambda: context)
    run = run_of(*size)
    collector: Any = SimpleNamespace(run=lambda: run, planned=None, findings=(), stop=lambda: None)
    lineage = TaskLineage(collector)
    store.MAX_SECONDS = 60
    store.prepare()
    TASK.set_capture(instance, lineage)
    lineage.stop()
    began = perf_counter()
    StoredLineage().on_task_instance_success(None, instance)
    return (perf_counter() - began) * 1000


def measure(name: str, folder: str) -> tuple[float, int]:
    """Return the milliseconds of a fresh interpreter, and the bytes that it stored."""
    place = Path(folder, "store")
    done = subprocess.run(
        [sys.executable, __file__, "--one", name],
        env={
            **os.environ,
            "AIRFLOW_HOME": folder,
            "AIRFLOW__OPENLINEAGE__TRANSPORT": '{"type": "console"}',
            "AIRFLOW__SPARK_LINEAGE__STORE": place.as_uri(),
        },
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    [file] = place.rglob("*.z")
    size = file.stat().st_size
    file.unlink()
    return float(done.stdout.rpartition("MS")[2]), size


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="The end of a task: its lineage for the viewer.")
    parser.add_argument("--rounds", type=int, default=5, help="fresh interpreters per size")
    parser.add_argument("--one", choices=SIZES, help="measure in this process")
    arguments = parser.parse_args()
    if arguments.one:
        print("MS", end_task(SIZES[arguments.one]))
        return
    print(f"Storing, median of {arguments.rounds} fresh interpreters")
    print(f"{'task':>8} {'inputs':>8} {'columns':>8} {'outputs':>8} {'ms':>8} {'kB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, size in SIZES.items():
            times, sizes = zip(*(measure(name, folder) for _ in range(arguments.rounds)), strict=True)
            limit = f"   allowed {ALLOWED_MS[name]} ms" if name in ALLOWED_MS else ""
            numbers = " ".join(f"{number:>8}" for number in size)
            print(f"{name:>8} {numbers} {median(times):>8.0f} {sizes[0] / 1000:>8.1f}{limit}")


if __name__ == "__main__":
    main()
