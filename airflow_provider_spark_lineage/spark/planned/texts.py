"""Planned lineage from the text of a program: the function for users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.planned.lineage import Planner
from airflow_provider_spark_lineage.spark.planned.program import Program
from airflow_provider_spark_lineage.spark.planned.python.modules import decoded, places
from airflow_provider_spark_lineage.spark.planned.python.reader import read_script
from airflow_provider_spark_lineage.spark.planned.session import Session
from airflow_provider_spark_lineage.spark.planned.sql.statements import read_sql


def program_text(path: Path) -> str:
    """Return the text of an SQL file or of a script, in the encoding that its first lines declare.

    Raise OSError and UnicodeDecodeError.
    """
    return decoded(path.read_bytes()) if path.suffix == ".py" else path.read_text(encoding="utf-8-sig")


def planned_lineage(
    text: str | Path,
    *,
    language: Literal["python", "sql"],
    arguments: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    conf: Mapping[str, str] | None = None,
    directory: str = "",
    path: str = "",
) -> Lineage:
    """Return the datasets that a PySpark script or statements of Spark SQL will read and write.

    - `text`: the text, or the path of a file with it.
    - `arguments`: the arguments of the application.
    - `variables`: a script's environment variables, or the values of `${...}` in SQL.
    - `conf`: Spark's settings, as in `spark-submit --conf`.
    - `directory`: the working directory of the driver.
    - `path`: the path of a script on this machine. Modules are read, too, if they are beside it, or in files
      that `spark.submit.pyFiles` in `conf` names.

    Any text gives a lineage. One gap says that nothing has run; each part that the text leaves open is a gap.

    >>> lineage = planned_lineage("insert into parquet.`s3://b/out` select 1", language="sql")
    >>> lineage.outputs[0].dataset.id
    DatasetId(namespace='s3://b', name='out')
    """
    settings, given = dict(conf or {}), dict(variables or {})
    text = text if isinstance(text, str) else program_text(text)
    if language == "python":
        folders = places(path, settings.get("spark.submit.pyFiles", ""), directory)
        program = read_script(text, arguments, given, settings, folders)
    else:
        program = Program()
        program.add(read_sql(text, Session({**settings, **given}, settings)))
    return Planner({**settings, **program.settings}, directory).lineage(program)
