"""Planned lineage of a job from its text: before it runs, or if nothing was captured."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.airflow.known_operators import (
    SPARK_PIPELINES,
    SPARK_SQL,
    SPARK_SUBMIT,
    driver_kind,
)
from airflow_provider_spark_lineage.airflow.submitted.jobs import PY_FILES, pairs
from airflow_provider_spark_lineage.airflow.submitted.pipeline_files import definitions, read_spec, statements
from airflow_provider_spark_lineage.airflow.submitted.properties import (
    default_file_system,
    default_properties,
)
from airflow_provider_spark_lineage.spark import (
    Gap,
    GapKind,
    Lineage,
    of_tasks,
    planned_lineage,
)

LARGEST_BYTES = 200_000
"""Limit of a script's size: reading a larger one takes seconds."""


def planned_of(task: Any, driver: str | None = None) -> Lineage | None:
    """Return the planned lineage of an operator with rendered templates; None without a text.

    `driver` overrides the kind of driver known for the operator's class.
    """
    read = _TEXTS.get(driver or driver_kind(type(task)) or "")
    if read is None:
        return None
    try:
        return read(task)
    # Text and attributes are the user's: any error is possible. Its message may quote the text.
    except Exception as error:
        return Lineage(gaps=(Gap("job", of_tasks.UNREAD_TEXT(error=type(error).__name__)),))


def planned_of_query(task: Any, sql: str, conf: Mapping[str, str]) -> Lineage:
    """Return the planned lineage of SQL that a session of the task's own process will run."""
    return planned_lineage(sql, language="sql", conf=_settings(task, "spark-submit", conf))


def certain(lineage: Lineage) -> bool:
    """Return whether the names of all datasets in a planned lineage are certain."""
    return not open_names(lineage)


def open_names(lineage: Lineage) -> tuple[Gap, ...]:
    """Return the gaps of names and parts that a text leaves open, without the gap that nothing has run."""
    gaps = (gap for gap in lineage.gaps if gap.kind is not GapKind.PLANNED)
    return tuple(
        replace(gap, reason=of_tasks.NO_FILE_SYSTEM()) if gap.kind is GapKind.NO_FILE_SYSTEM else gap
        for gap in gaps
    )


def is_readable(*paths: Path) -> bool:
    """Return whether all paths are files of this machine, and not too large together."""
    return (
        all(path.is_file() for path in paths) and sum(path.stat().st_size for path in paths) <= LARGEST_BYTES
    )


def _settings(task: Any, binary: str, conf: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a job: its own override settings in files that its command reads."""
    environment = {**os.environ, **pairs(getattr(task, "env_vars", None))}
    file = getattr(task, "properties_file", None) or getattr(task, "_properties_file", None)
    file_system = default_file_system(binary, environment)
    return {
        **({"spark.hadoop.fs.defaultFS": file_system} if file_system else {}),
        **default_properties(binary, file, environment),
        **conf,
    }


def _of_script(task: Any) -> Lineage | None:
    """Return the planned lineage of a local Python application; None for another file."""
    path = Path(str(getattr(task, "application", "")))
    if path.suffix != ".py" or not is_readable(path):
        return None
    py_files = getattr(task, "py_files", None)
    # Of the option and the property, Spark uses the option.
    conf = {**pairs(task.conf), **({PY_FILES: str(py_files)} if py_files else {})}
    return planned_lineage(
        path,
        language="python",
        arguments=[str(argument) for argument in task.application_args or ()],
        conf=_settings(task, getattr(task, "_spark_binary", None) or "spark-submit", conf),
        path=str(path),
    )


def _of_statements(task: Any) -> Lineage | None:
    """Return the planned lineage of `spark-sql` statements: a text, or a local file."""
    given = str(task.sql).strip()
    text = Path(given) if given.endswith((".sql", ".hql")) else given
    if isinstance(text, Path) and not is_readable(text):
        return None
    return planned_lineage(text, language="sql", conf=_settings(task, "spark-sql", pairs(task._conf)))


def _of_pipeline(task: Any) -> Lineage | None:
    """Return the planned lineage of a pipeline's SQL files; each Python file is a gap."""
    path = Path(str(task.pipeline_spec or ""))
    if task.pipeline_command != "run" or not path.is_file():
        return None
    spec = read_spec(path)
    files = definitions(path, spec)
    if not is_readable(*files):
        return None
    own = {**pairs(task.conf), **pairs(spec.get("configuration"))}
    settings = _settings(task, "spark-pipelines", own)
    lineage = planned_lineage(statements(spec, files), language="sql", conf=settings)
    unread = sorted(str(file.relative_to(path.parent)) for file in files if file.suffix == ".py")
    written = {output.dataset.id for output in lineage.outputs}
    return replace(
        lineage,
        # Flows have no order: a flow may read the table of a flow further down in the text.
        inputs=tuple(read for read in lineage.inputs if read.dataset.id not in written),
        gaps=(*lineage.gaps, *(Gap(file, of_tasks.UNREAD_FLOWS()) for file in unread)),
    )


_TEXTS: Mapping[str, Callable[[Any], Lineage | None]] = {
    SPARK_SUBMIT: _of_script,
    SPARK_SQL: _of_statements,
    SPARK_PIPELINES: _of_pipeline,
}
"""Kind of driver -> function that reads the text of an operator's job."""
