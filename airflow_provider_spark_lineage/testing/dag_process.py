"""Runs one DAG of a file with `dag.test()`, and writes what happens to a file descriptor.

    python dag_process.py PROGRESS_FD DAG_FILE OPTIONS

Every line is a JSON object: a task started, a task finished, and at last the DAG run with the final state of
each task instance, or that the file has no such DAG. OPTIONS is a JSON object: `dag_id`, or null for the only
DAG of the file, `conf` of the run, and `executor`, with which tasks run in worker processes. A program that
`runs` starts; it is never imported.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from airflow.listeners import hookimpl

try:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.sdk.listener import get_listener_manager
except ImportError:  # Airflow before 3.2
    from airflow.listeners.listener import get_listener_manager
    from airflow.models.dagbag import DagBag


class Progress:
    """An Airflow listener that tells the parent process which tasks start and finish."""

    def __init__(self, descriptor: int) -> None:
        # What tasks start must not keep the pipe open after this process.
        os.set_inheritable(descriptor, False)
        self.lines = os.fdopen(descriptor, "w", buffering=1)

    def write(self, happened: str, **details: Any) -> None:
        """Write a line."""
        self.lines.write(json.dumps({"happened": happened, **details}) + "\n")

    def write_task(self, happened: str, instance: Any, state: str) -> None:
        """Write a line about a task instance."""
        numbers = {"map_index": instance.map_index, "try_number": instance.try_number}
        self.write(happened, task_id=instance.task_id, state=state, **numbers)

    @hookimpl
    def on_task_instance_running(self, task_instance: Any) -> None:
        """Write that it starts, or starts again."""
        self.write_task("started", task_instance, "running")

    @hookimpl
    def on_task_instance_success(self, task_instance: Any) -> None:
        """Write that it ended well."""
        self.write_task("finished", task_instance, "success")

    @hookimpl
    def on_task_instance_failed(self, task_instance: Any) -> None:
        """Write that it failed, for good or until the next try."""
        self.write_task("finished", task_instance, "failed")

    @hookimpl
    def on_task_instance_skipped(self, task_instance: Any) -> None:
        """Write that it was skipped while it ran."""
        self.write_task("finished", task_instance, "skipped")


def main(descriptor: int, dag_file: str, options: Mapping[str, Any]) -> None:
    """Run the DAG, or write that the file has none with this name."""
    progress = Progress(descriptor)
    bag = DagBag(dag_folder=dag_file, safe_mode=False)
    if bag.import_errors:
        sys.exit(f"{dag_file} cannot be imported:\n" + "\n".join(bag.import_errors.values()))
    chosen = [dag for dag in bag.dags.values() if options["dag_id"] in (None, dag.dag_id)]
    if len(chosen) != 1:
        progress.write("ended", not_found=sorted(bag.dags))
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
    progress.write("ended", dag_id=dag.dag_id, state=str(run.state), tasks=states)


def _end_every_worker() -> None:
    """Make LocalExecutor send as many messages to end as it has workers.

    Airflow 3.3 counts the workers that are alive while the first of them are ending: one that ends early
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
