"""Runs one DAG of a file with `dag.test()`, and says on a file descriptor what happens.

    python dag_process.py PROGRESS_FD DAG_FILE OPTIONS

Every line written to the descriptor is one JSON object: a task started, a task finished, and at last the DAG
run with the final state of each task instance, or that the file has no such DAG. OPTIONS is a JSON object:
`dag_id` or null for the only DAG of the file, `conf` of the run, and `executor`, with which tasks run in
worker processes. Started by `processes`, never imported.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from airflow.dag_processing.dagbag import DagBag
from airflow.listeners import hookimpl

try:
    from airflow.sdk.listener import get_listener_manager
except ImportError:  # Airflow before 3.2
    from airflow.listeners.listener import get_listener_manager


class Progress:
    """An Airflow listener that tells the parent process which task runs."""

    def __init__(self, descriptor: int) -> None:
        # Neither the JVM nor Spark's Python workers may keep the pipe open after this process.
        os.set_inheritable(descriptor, False)
        self.lines = os.fdopen(descriptor, "w", buffering=1)

    def tell(self, happened: str, **details: Any) -> None:
        """Write a line."""
        self.lines.write(json.dumps({"happened": happened, **details}) + "\n")

    def task(self, happened: str, instance: Any, **details: Any) -> None:
        """Write a line about a task instance."""
        self.tell(
            happened,
            task_id=instance.task_id,
            map_index=instance.map_index,
            try_number=instance.try_number,
            **details,
        )

    @hookimpl
    def on_task_instance_running(self, task_instance: Any) -> None:
        """It starts, or starts again."""
        self.task("started", task_instance)

    @hookimpl
    def on_task_instance_success(self, task_instance: Any) -> None:
        """It ended well."""
        self.task("finished", task_instance, state="success")

    @hookimpl
    def on_task_instance_failed(self, task_instance: Any) -> None:
        """It failed, for good or until the next try."""
        self.task("finished", task_instance, state="failed")

    @hookimpl
    def on_task_instance_skipped(self, task_instance: Any) -> None:
        """It was skipped while it ran."""
        self.task("finished", task_instance, state="skipped")


def main(descriptor: int, dag_file: str, options: Mapping[str, Any]) -> None:
    """Run the DAG, or say that the file has none of this name."""
    progress = Progress(descriptor)
    bag = DagBag(dag_folder=dag_file, safe_mode=False)
    if bag.import_errors:
        sys.exit(f"{dag_file} cannot be imported:\n" + "\n".join(bag.import_errors.values()))
    wanted = options["dag_id"]
    chosen = [dag for dag in bag.dags.values() if wanted in (None, dag.dag_id)]
    if len(chosen) != 1:
        progress.tell("ended", not_found=sorted(bag.dags))
        return

    [dag] = chosen
    get_listener_manager().add_listener(progress)
    if options["executor"]:
        _end_every_worker()
    run = dag.test(run_conf=options["conf"] or None, use_executor=options["executor"])
    states = {
        f"{ti.task_id}[{ti.map_index}]" if ti.map_index >= 0 else ti.task_id: str(ti.state)
        for ti in run.get_task_instances()
    }
    progress.tell("ended", dag_id=dag.dag_id, state=str(run.state), tasks=states)


def _end_every_worker() -> None:
    """Let LocalExecutor tell as many workers to end as there are.

    Airflow 3.3 counts those that are alive while the first of them are ending already: one that ends early
    takes the message of another, which then waits for ever.
    """
    from airflow.executors.local_executor import LocalExecutor

    end = LocalExecutor.end

    def end_all(executor: Any) -> None:
        for _ in executor.workers:
            executor.activity_queue.put(None)
        end(executor)

    LocalExecutor.end = end_all


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
