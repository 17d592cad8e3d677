"""The task of this process: for listener, operators, extractors and run facets. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.airflow.task.report import TaskReport


class ReportsTask(Protocol):
    """Capture of a task: a `task_lineage.TaskLineage`."""

    @property
    def report(self) -> TaskReport:
        """Report of the task, complete after `stop`."""

    def stop(self) -> None:
        """Stop capturing, and make the report."""


class TaskOfProcess:
    """The task that this process runs, or ran last: `dag.test()` runs several, one after another."""

    def __init__(self) -> None:
        self.instance: Any = None
        """Task instance that Airflow has started here."""

        self.auto_capture: Any = None
        """Running `plugins.tasks.CapturedTask`; None without one."""

        self.capture: ReportsTask | None = None
        """Capture of the task for which it was started last; it stays after the end of the task."""

        self.is_added = False
        """The result of the provider's own extractor is extended by the report of this task."""

        self.described: Mapping[tuple[str, ...], Any] = {}
        """Name of a table that the task's SQL checks -> what its server knows of it."""

        self._key: tuple[Any, ...] = ()

    def set_capture(self, task_instance: Any, capture: ReportsTask) -> None:
        """Store the capture of a task instance, also for children that the provider forks."""
        self._key, self.capture, self.is_added = _key_of(task_instance), capture, False

    def end_capture(self) -> None:
        """Stop the capture of the task before, and forget it."""
        if self.capture is not None:
            self.capture.stop()
        self.capture = None

    def report_of(self, task_instance: Any) -> TaskReport | None:
        """Return the report of a task instance that was captured in this process; None without one."""
        return self.capture.report if self.capture and self._key == _key_of(task_instance) else None


def _key_of(task_instance: Any) -> tuple[Any, ...]:
    """Return a key that is unique to one try of a task instance."""
    names = ("dag_id", "task_id", "run_id", "map_index", "try_number")
    return tuple(getattr(task_instance, name) for name in names)


TASK = TaskOfProcess()
