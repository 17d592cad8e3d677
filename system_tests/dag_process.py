"""Run one DAG file with `dag.test()`, and say on a file descriptor what happens.

    python dag_process.py PROGRESS_FD DAG_FILE [--executor]

Every line written to the descriptor is one JSON object: a task started, a task finished, and at last the DAG
run with the final state of each task instance. With `--executor`, tasks run in worker processes. Started by
`airflow_run`, never imported.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from airflow.dag_processing.dagbag import DagBag
from airflow.listeners import hookimpl
from airflow.sdk.listener import get_listener_manager


class Progress:
    """An Airflow listener that tells the parent process which task runs."""

    def __init__(self, descriptor: int) -> None:
        # Neither the JVM nor Spark's Python workers may keep the pipe open after this process.
        os.set_inheritable(descriptor, False)
        self.lines = os.fdopen(descriptor, "w", buffering=1)

    def tell(self, happened: str, **details: Any) -> None:
        self.lines.write(json.dumps({"happened": happened, **details}) + "\n")

    def task(self, happened: str, instance: Any, **details: Any) -> None:
        self.tell(
            happened,
            task_id=instance.task_id,
            map_index=instance.map_index,
            try_number=instance.try_number,
            **details,
        )

    @hookimpl
    def on_task_instance_running(self, task_instance: Any) -> None:
        self.task("started", task_instance)

    @hookimpl
    def on_task_instance_success(self, task_instance: Any) -> None:
        self.task("finished", task_instance, state="success")

    @hookimpl
    def on_task_instance_failed(self, task_instance: Any) -> None:
        self.task("finished", task_instance, state="failed")

    @hookimpl
    def on_task_instance_skipped(self, task_instance: Any) -> None:
        self.task("finished", task_instance, state="skipped")


def main(descriptor: int, dag_file: str, *, use_executor: bool) -> None:
    """Run the only DAG of the file."""
    progress = Progress(descriptor)
    # As Airflow does for a DAG bundle: DAG files may import their neighbours.
    sys.path.insert(0, os.path.dirname(dag_file))
    bag = DagBag(dag_folder=dag_file)
    if bag.import_errors:
        sys.exit(f"{dag_file} cannot be imported:\n" + "\n".join(bag.import_errors.values()))
    if len(bag.dags) != 1:
        sys.exit(f"{dag_file} should contain one DAG, and contains {sorted(bag.dags)}")

    [dag] = bag.dags.values()
    get_listener_manager().add_listener(progress)
    run = dag.test(use_executor=use_executor)
    states = {
        f"{ti.task_id}[{ti.map_index}]" if ti.map_index >= 0 else ti.task_id: str(ti.state)
        for ti in run.get_task_instances()
    }
    progress.tell("ended", dag_id=dag.dag_id, state=str(run.state), tasks=states)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], use_executor="--executor" in sys.argv[3:])
