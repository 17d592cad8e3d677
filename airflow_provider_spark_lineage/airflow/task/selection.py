"""Selection of tasks for auto-capture and for the extractor. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from airflow_provider_spark_lineage.airflow import conf


def is_selected(dag_id: str, task_id: str) -> bool:
    """Return whether `auto_capture_include` has a task, by name or by its DAG, and `_exclude` does not."""
    names = (dag_id, f"{dag_id}.{task_id}")

    def lists(patterns: Sequence[str]) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)

    return lists(conf.auto_capture_include()) and not lists(conf.auto_capture_exclude())
