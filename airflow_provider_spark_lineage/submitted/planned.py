"""What the text of a job says that it will read and write: before it runs, or where nothing else is known."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.known_operators import (
    SPARK_PIPELINES,
    SPARK_SQL,
    SPARK_SUBMIT,
    driver_of,
)
from airflow_provider_spark_lineage.lineage.model import Gap, Lineage
from airflow_provider_spark_lineage.planned.lineage import NO_FILE_SYSTEM, PLANNED
from airflow_provider_spark_lineage.planned.texts import planned_lineage, program_text
from airflow_provider_spark_lineage.submitted.hadoop_conf import default_file_system
from airflow_provider_spark_lineage.submitted.jobs import pairs
from airflow_provider_spark_lineage.submitted.pipeline_files import definitions, read_spec, statements
from airflow_provider_spark_lineage.submitted.properties import default_properties

LARGEST_BYTES = 200_000
"""Limit of a script's size: reading a larger one takes seconds."""


def planned_of(task: Any, driver: str | None = None) -> Lineage | None:
    """Return the planned lineage of an operator with rendered templates; None where there is no text.

    `driver` says where the driver runs, if the class of the operator does not.
    """
    read = _TEXTS.get(driver or driver_of(type(task)) or "")
    if read is None:
        return None
    try:
        return read(task)
    # The text is the user's, and so are the attributes of an operator. A message may quote the text.
    except Exception as error:
        return Lineage(gaps=(Gap("job", f"its text could not be read: {type(error).__name__}"),))


def certain(lineage: Lineage) -> bool:
    """Return whether a planned lineage leaves nothing open: each dataset has its name for certain."""
    return all(gap.reason == PLANNED for gap in lineage.gaps)


def lacks_file_system(lineage: Lineage) -> bool:
    """Return whether all that a planned lineage leaves open is Hadoop's default file system."""
    return {gap.reason for gap in lineage.gaps} == {PLANNED, NO_FILE_SYSTEM}


def _settings(task: Any, binary: str, conf: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a job: its own, and below them those of files that its command reads."""
    environment = {**os.environ, **pairs(getattr(task, "env_vars", None))}
    file = getattr(task, "properties_file", None) or getattr(task, "_properties_file", None)
    file_system = default_file_system(binary, environment)
    return {
        **({"spark.hadoop.fs.defaultFS": file_system} if file_system else {}),
        **default_properties(binary, file, environment),
        **conf,
    }


def _of_script(task: Any) -> Lineage | None:
    """Return what a Python application on this machine says."""
    path = Path(str(getattr(task, "application", "")))
    if path.suffix != ".py" or not path.is_file() or path.stat().st_size > LARGEST_BYTES:
        return None
    return planned_lineage(
        program_text(path),
        language="python",
        arguments=[str(argument) for argument in task.application_args or ()],
        conf=_settings(task, getattr(task, "_spark_binary", None) or "spark-submit", pairs(task.conf)),
    )


def _of_statements(task: Any) -> Lineage | None:
    """Return what the statements of `spark-sql` say, as text or in a file on this machine."""
    text = str(task.sql).strip()
    if text.endswith((".sql", ".hql")):
        path = Path(text)
        if not path.is_file() or path.stat().st_size > LARGEST_BYTES:
            return None
        text = program_text(path)
    return planned_lineage(text, language="sql", conf=_settings(task, "spark-sql", pairs(task._conf)))


def _of_pipeline(task: Any) -> Lineage | None:
    """Return what the SQL files of a pipeline say; its Python files make tables by functions."""
    path = Path(str(task.pipeline_spec or ""))
    if task.pipeline_command != "run" or not path.is_file():
        return None
    spec = read_spec(path)
    files = definitions(path, spec)
    if sum(file.stat().st_size for file in files) > LARGEST_BYTES:
        return None
    own = {**pairs(task.conf), **pairs(spec.get("configuration"))}
    settings = _settings(task, "spark-pipelines", own)
    lineage = planned_lineage(statements(spec, files), language="sql", conf=settings)
    unread = sorted(str(file.relative_to(path.parent)) for file in files if file.suffix == ".py")
    written = {output.dataset.id for output in lineage.outputs}
    return replace(
        lineage,
        # Flows have no order: what one reads before another is read may be that one's table.
        inputs=tuple(one for one in lineage.inputs if one.dataset.id not in written),
        gaps=(*lineage.gaps, *(Gap(file, "flows in Python are not read") for file in unread)),
    )


_TEXTS: Mapping[str, Callable[[Any], Lineage | None]] = {
    SPARK_SUBMIT: _of_script,
    SPARK_SQL: _of_statements,
    SPARK_PIPELINES: _of_pipeline,
}
"""Where the driver runs -> reads the text of an operator's job."""
