"""One task of a DAG for a service: its operator's arguments, and the expected events.

The DAG file and the test read the same rows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COPY = str(Path(__file__).with_name("copy_job.py"))
SECRET = "hunter2"  # noqa: S105  what no event may have

PLANNED = "planned"
JAR_NOT_READ = NOTEBOOK_NOT_READ = NO_TEXT = "not_captured"
OTHER_MACHINE = ANOTHER_RUN = "uncertain_change"
BROKEN = "unread_text"
"""Kinds of gaps."""


def python(main: str, **more: str) -> dict[str, str]:
    """Return the expected `sparkLineage_launch` of a script."""
    return {"type": "python", "main": main, **more}


def jar(main: str = "", **more: str) -> dict[str, str]:
    """Return the same of an application on the JVM: a file, a `mainClass`, or both."""
    return {"type": "jar", **({"main": main} if main else {}), **more}


@dataclass(frozen=True)
class Row:
    """One task."""

    task_id: str

    operator: str
    """Module and class, below `airflow.providers`."""

    given: dict[str, Any]
    """Arguments of the operator, as a DAG has them: with templates."""

    applications: tuple[dict[str, str], ...] = ()
    """The `sparkLineage_launch` expected of each; empty where the facet is absent."""

    link: str = ""
    """With `{id}` for the id of the run, and `{port}` for that of the server."""

    state: str = "success"

    has_id: bool = True
    """False if the service had given the run no id when the task ended."""

    id_of: str = ""
    """The object that has that id in the service, if it is not named after the task."""

    at_start: str = ""
    """Names of inputs, an arrow, names of outputs."""

    at_end: str = ""

    gaps: tuple[str, ...] = ()
    """Kinds of the gaps of the last event."""

    is_recorded: bool = False
    """True if the records of the application's driver are read."""

    warnings: int = 0
    """Number of lines of the log with the first gap's reason."""


def records() -> dict[str, str]:
    """Return the property that gives a run a folder of its own for its records."""
    place = os.environ.get("SERVICES_RECORDS", "")
    return {"spark.lineage.records": f"{place}/{{{{ dag.dag_id }}}}/{{{{ task.task_id }}}}/{{{{ run_id }}}}"}


COPIES = ("s3://lake/orders", "s3://lake/{{ task.task_id }}", "--password", SECRET)
"""Arguments of `copy_job.py`."""


def copies(
    operator: str, given: dict[str, Any], main: str, *, link: str = "", source: str = COPIES[0]
) -> Row:
    """Return the row of a task that runs `copy_job.py` with these arguments: its text is read here.

    `source` is the first of them as the event shows it.
    """
    return Row(
        "script",
        operator,
        given,
        (python(main, arguments=f"{source} s3://lake/script --password ***"),),
        link=link,
        at_end="orders -> script",
        gaps=(PLANNED, OTHER_MACHINE),
    )
