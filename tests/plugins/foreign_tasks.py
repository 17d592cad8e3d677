"""Task instances of operators that we do not own, and the start of their tasks."""

from __future__ import annotations

from types import SimpleNamespace

from airflow_provider_spark_lineage.airflow.task.process import TASK


class Task:
    """Of an operator that we do not own."""

    is_told = False
    task_id = "t"
    dag_id = "d"

    @property
    def task_type(self) -> str:
        return type(self).__name__

    def on_kill(self) -> None:
        self.is_told = True


def operator(*names: str, **also: object) -> type:
    """Return a class of the first name, whose base classes have the others."""
    base: type = Task
    for name in reversed(names):
        base = type(name, (base,), also if name == names[0] else {})
    return base


def instance(*names: str, **also: object) -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**fields, task=operator(*names or ("PySparkOperator",), **also)())


def started(listeners, task_instance: SimpleNamespace) -> bool:
    listeners.hook.on_task_instance_running(previous_state=None, task_instance=task_instance)
    return TASK.report_of(task_instance) is not None
