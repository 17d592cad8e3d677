"""What a run tells while it goes on, and what it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from airflow_provider_spark_lineage.events import Events, read_events


@dataclass(frozen=True)
class TaskProgress:
    """A task instance that has started or finished."""

    task_id: str

    map_index: int
    """-1 for a task that is not mapped."""

    try_number: int

    state: str
    """`running`, `success`, `failed` or `skipped`."""

    seconds: float | None
    """Since it started; none while it runs."""

    @property
    def name(self) -> str:
        """Task id with the map index and the try, where there is more than one."""
        mapped = f"[{self.map_index}]" if self.map_index >= 0 else ""
        again = f" (try {self.try_number})" if self.try_number > 1 else ""
        return f"{self.task_id}{mapped}{again}"


@dataclass(frozen=True)
class DagRun:
    """A DAG run that has ended, well or not."""

    dag_id: str
    state: str

    tasks: Mapping[str, str]
    """Final state by task id, with `[map_index]` where the task is mapped."""

    events: Path
    """What the OpenLineage provider wrote, as JSON Lines; no such file if it wrote nothing."""

    log: Path
    """All that Airflow and the tasks printed."""

    seconds: float

    def read(self) -> Events:
        """The events; none where nothing was written."""
        return read_events(self.events) if self.events.exists() else Events((), ())


Show = Callable[[TaskProgress], None]
"""Is told of every task that starts and ends."""


def ignore(progress: TaskProgress) -> None:
    """Show nothing."""


def follow(lines: Iterator[dict[str, Any]], show: Show) -> dict[str, Any]:
    """Show the tasks that start and finish, and return the last line; empty if the process died before."""
    started: dict[tuple[str, int, int], float] = {}
    ended: dict[str, Any] = {}
    for line in lines:
        if line["happened"] == "ended":
            # Not the end of the process, which has yet to emit the event of the DAG.
            ended = line
            continue
        key = line["task_id"], line["map_index"], line["try_number"]
        if line["happened"] == "started":
            started[key] = monotonic()
            show(TaskProgress(*key, state="running", seconds=None))
        else:
            # A task that is skipped has ended without having started.
            seconds = monotonic() - started.get(key, monotonic())
            show(TaskProgress(*key, state=line["state"], seconds=seconds))
    return ended
