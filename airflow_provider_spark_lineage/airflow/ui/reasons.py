"""Reasons for an empty tab: a sentence, and the command that finds out more."""

from __future__ import annotations

import re
from typing import Any

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.known_operators import DRIVERS, PYTHON
from airflow_provider_spark_lineage.airflow.launch.table import LAUNCHERS
from airflow_provider_spark_lineage.airflow.ui.database import TaskFacts

DOCTOR = "spark-lineage doctor"

NO_STORE = "Tasks do not store their lineage: `[spark_lineage] store` is `none`, or is not valid."
NOTHING_IN_RUN = "No task of this run has stored lineage."
NOTHING_SHOWN = "No lineage of this run can be shown: it cannot be read, or is of earlier tries."
NOTHING_IN_RUNS = "No task of the newest runs has stored lineage."

_OWN = re.compile(r"_?(Py)?Spark\w*(Lineage|Check)\w*Operator")
"""Names of this package's operators."""

_UNFINISHED = ("running", "deferred", "restarting", "up_for_reschedule", "awaiting_input")
_NOT_RUN = ("skipped", "upstream_failed", "removed")


def reason(sentence: str, command: str = DOCTOR) -> dict[str, Any]:
    """Return the reason of an answer without a document."""
    return {"sentence": sentence, "command": command}


def of_task(task: TaskFacts, asked_try: int | None, stored_try: int | None) -> dict[str, Any]:
    """Return the reason for an empty tab of a try of a task.

    `stored_try` is the try that has lineage; None if no try has.
    """
    if stored_try is not None and asked_try is not None:
        return reason(
            f"There is lineage of try {stored_try} only, not of try {asked_try}: an XCom has the last try;"
            " set `[spark_lineage] store` to a URI to keep all tries.",
            "",
        )
    if task.state in _UNFINISHED:
        return reason("The task is still running; its lineage is stored when it ends.", "")
    if task.state in _NOT_RUN:
        return reason(f"The task did not run: it is {task.state.replace('_', ' ')}.", "")
    if task.state == "up_for_retry":
        return reason("The task has failed and left no lineage; it will be retried.")
    if task.state not in ("success", "failed"):
        return reason("The task has not run yet.", "")
    return reason(_of_ended(task.operator))


def _of_ended(operator: str) -> str:
    off = _switched_off()
    if off:
        return f"Nothing was captured: {off}."
    if _OWN.fullmatch(operator):
        return (
            "The task did nothing on Spark, its process was killed, or its lineage could not be stored;"
            " its log says why."
        )
    if not conf.auto_capture():
        return (
            f"Tasks of `{operator}` are not captured: `[spark_lineage] auto_capture` is off, and it is not an"
            " operator of this package."
        )
    if DRIVERS.get(operator) == PYTHON or operator in _PYTHON:
        return "The function opened no Spark session, or the task is excluded from auto-capture."
    if DRIVERS.get(operator) or operator in LAUNCHERS:
        return (
            "The task started no Spark application that is known, is excluded from auto-capture, its process"
            " was killed, or its lineage could not be stored; its log says why."
        )
    return (
        f"`{operator}` is not known as an operator of Spark; `[spark_lineage] extra_operators` can name more."
    )


_PYTHON = ("_PythonDecoratedOperator", "BranchPythonOperator", "ShortCircuitOperator")
"""Classes of functions whose names are not in `DRIVERS`, which has their base class."""


def _switched_off() -> str:
    """Return the option that turns capture off, as this process reads it; empty if none does."""
    if conf.disabled():
        return "`[spark_lineage] disabled` is True"
    from airflow.providers.openlineage import conf as openlineage

    try:
        is_off = openlineage.is_disabled()
    except Exception as error:  # The provider's options may raise any error.
        return f"the options of OpenLineage cannot be read ({type(error).__name__})"
    return "OpenLineage is disabled, or has no transport" if is_off else ""
