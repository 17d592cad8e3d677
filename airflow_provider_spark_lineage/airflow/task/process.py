"""The task of this process: for listener, operators, extractors and run facets. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage
    from airflow_provider_spark_lineage.spark.sources.dataset import Facts


class TaskOfProcess:
    """The task that this process runs, or ran last: `dag.test()` runs several, one after another."""

    def __init__(self) -> None:
        self.instance: Any = None
        """Task instance that Airflow has started here."""

        self.auto_capture: Any = None
        """Running `plugins.tasks.CapturedTask`; None without one."""

        self.lineage: TaskLineage | None = None
        """Lineage of the task for which capture was started last; it stays after the end of the task."""

        self.described: Mapping[tuple[str, ...], Facts] = {}
        """Name of a table that the task's SQL checks -> what its server knows of it."""

        self._key: tuple[Any, ...] = ()

    def set_lineage(self, task_instance: Any, lineage: TaskLineage) -> None:
        """Store the lineage of a task instance, also for children that the provider forks."""
        self._key, self.lineage = _key_of(task_instance), lineage

    def lineage_of(self, task_instance: Any) -> TaskLineage | None:
        """Return the lineage captured for a task instance in this process; None without one."""
        return self.lineage if self.lineage and self._key == _key_of(task_instance) else None


def _key_of(task_instance: Any) -> tuple[Any, ...]:
    """Return a key that is unique to one try of a task instance."""
    names = ("dag_id", "task_id", "run_id", "map_index", "try_number")
    return tuple(getattr(task_instance, name) for name in names)


TASK = TaskOfProcess()
