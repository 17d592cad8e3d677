"""Which tasks the user leaves to auto-capture and to the extractor. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from airflow_provider_spark_lineage import conf


def is_selected(dag_id: str, task_id: str) -> bool:
    """Return whether the lists of DAGs and tasks leave a task to auto-capture and to the extractor."""
    names = (dag_id, f"{dag_id}.{task_id}")

    def lists(patterns: Sequence[str]) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)

    return lists(conf.auto_capture_include()) and not lists(conf.auto_capture_exclude())
