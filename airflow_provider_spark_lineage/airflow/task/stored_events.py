"""The events that other tasks of a DAG run stored, read in a task: from their XComs, or from files.

`stored_lineage` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.airflow import conf, stored_form
from airflow_provider_spark_lineage.airflow.task.stored_files import LineageFiles
from airflow_provider_spark_lineage.errors import StoredLineageError


@dataclass(frozen=True)
class StoredEvents:
    """The events of some tasks."""

    events: tuple[stored_form.Json, ...]
    """OpenLineage events, of each task instance those of its last try."""

    problems: tuple[str, ...]
    """A sentence for each task instance whose lineage cannot be read."""

    without: tuple[str, ...]
    """The tasks that stored nothing."""


def events_of_tasks(task_instance: Any, task_ids: Iterable[str]) -> StoredEvents:
    """Return what tasks of the same DAG run stored, by their ids."""
    events: list[stored_form.Json] = []
    problems: list[str] = []
    without: list[str] = []
    for task_id in task_ids:
        try:
            values = _values_of(task_instance, task_id)
            for value in values:
                events += stored_form.unpack(value).events
        except StoredLineageError as error:
            problems.append(f"{task_id}: {error}")
        else:
            if not values:
                without.append(task_id)
    return StoredEvents(tuple(events), tuple(problems), tuple(without))


def _values_of(task_instance: Any, task_id: str) -> Sequence[Any]:
    """Return the stored values of one task: of each of its instances."""
    place = conf.store()
    if place == "xcom":
        # A list: the XComs of all instances of a mapped task.
        values = task_instance.xcom_pull(task_ids=[task_id], key=stored_form.XCOM_KEY)
        return [value for value in values or () if value is not None]
    files = LineageFiles(place)
    instances = sorted(files.instances(task_instance.dag_id, task_instance.run_id, task_id))
    values = [files.of_task(instance, None) for instance in instances]
    return [value for value in values if value is not None]
