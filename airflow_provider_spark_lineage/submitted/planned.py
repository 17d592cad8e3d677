"""What the text of a job says that it will read and write: before it runs, or where nothing else is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.extractors.operators import SPARK_SQL, SPARK_SUBMIT, driver_of
from airflow_provider_spark_lineage.lineage.model import Lineage
from airflow_provider_spark_lineage.lineage.planned import PLANNED
from airflow_provider_spark_lineage.pipeline import planned_lineage
from airflow_provider_spark_lineage.submitted.jobs import pairs

LARGEST_BYTES = 1_000_000
"""Limit of a script's size: reading a larger one takes seconds."""


def planned_of(task: Any) -> Lineage | None:
    """Return the planned lineage of an operator with rendered templates; None where there is no text."""
    read = _TEXTS.get(driver_of(type(task)) or "")
    return read(task) if read is not None else None


def certain(lineage: Lineage) -> bool:
    """Return whether a planned lineage leaves nothing open: each dataset has its name for certain."""
    return all(gap.reason == PLANNED for gap in lineage.gaps)


def _of_script(task: Any) -> Lineage | None:
    """Return what a Python application on this machine says."""
    path = Path(str(getattr(task, "application", "")))
    if path.suffix != ".py" or not path.is_file() or path.stat().st_size > LARGEST_BYTES:
        return None
    return planned_lineage(
        path.read_text(encoding="utf-8"),
        language="python",
        arguments=[str(argument) for argument in task.application_args or ()],
        conf=pairs(task.conf),
    )


def _of_statements(task: Any) -> Lineage | None:
    """Return what the statements of `spark-sql` say, as text or in a file on this machine."""
    text = str(task.sql).strip()
    if text.endswith((".sql", ".hql")):
        path = Path(text)
        if not path.is_file() or path.stat().st_size > LARGEST_BYTES:
            return None
        text = path.read_text(encoding="utf-8")
    return planned_lineage(text, language="sql", conf=pairs(task._conf))


_TEXTS: Mapping[str, Callable[[Any], Lineage | None]] = {
    SPARK_SUBMIT: _of_script,
    SPARK_SQL: _of_statements,
}
"""Where the driver runs -> reads the text of an operator's job."""
