"""Table of the functions that read Spark applications from operators: one row for each operator class."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.airflow.launch.application import Launch

LAUNCHERS: Mapping[str, str] = {
    "BashOperator": "shell.operators.of_bash",
    "_BashDecoratedOperator": "shell.operators.of_bash",
    "SSHOperator": "shell.operators.of_ssh",
    "KubernetesPodOperator": "kubernetes.of_pod",
    "SparkKubernetesOperator": "kubernetes.of_spark_application",
    "LivyOperator": "livy.of_batch",
    "DataprocSubmitJobOperator": "dataproc.of_job",
    "DataprocCreateBatchOperator": "dataproc.of_batch",
    "EmrAddStepsOperator": "emr.of_steps",
    "EmrServerlessStartJobOperator": "emr.of_serverless",
    "EmrContainerOperator": "emr.of_container",
    "GlueJobOperator": "glue.of_job",
    "DatabricksSubmitRunOperator": "databricks.of_submitted_run",
    "DatabricksNotebookOperator": "databricks.of_notebook",
    "DatabricksTaskOperator": "databricks.of_task",
    "AzureSynapseRunSparkBatchOperator": "synapse.of_batch",
}
"""Class name of an operator -> module and function that read an instance after its templates are rendered."""


NO_EVENT: Mapping[str, Any] = {}

_QUOTED = re.compile("'.*'|\".*\"")


def launch_of(operator: Any, event: Mapping[str, Any] = NO_EVENT) -> Launch | None:
    """Return the launch of an operator, by its class or the nearest base class with a row.

    `event` is the trigger's event if the task had deferred itself. None if the operator does not launch
    Spark. If its attributes cannot be read, the launch has a problem.
    """
    names = (parent.__name__ for parent in type(operator).__mro__)
    row = next((LAUNCHERS[name] for name in names if name in LAUNCHERS), "")
    if not row:
        return None
    module, _, function = row.rpartition(".")
    read = getattr(import_module(f"{__package__}.{module}"), function)
    try:
        launch: Launch | None = read(operator)
        if launch is not None and event:
            launch = launch.resumed(event)
    # Attributes hold the user's values, and differ between releases of a provider: any error is possible.
    except Exception as error:
        from airflow_provider_spark_lineage.airflow.launch.application import Launch

        reason = _reason(error)
        return Launch(problems=(f"the Spark application of this operator could not be read: {reason}",))
    return launch


def _reason(error: Exception) -> str:
    """Return the error in one line without quoting the input, which may hold a secret.

    Errors that quote it are reduced to class and line.
    """
    from airflow_provider_spark_lineage.spark import REMOVED, without_secrets

    name = type(error).__name__
    mark = getattr(error, "problem_mark", None)
    line = getattr(error, "lineno", None) if mark is None else getattr(mark, "line", 0) + 1
    if isinstance(error, SyntaxError) or hasattr(error, "doc") or type(error).__module__.startswith("yaml."):
        return f"{name} in line {line}" if line else name
    if isinstance(error, UnicodeError):
        return f"{name}: it is not UTF-8"
    if isinstance(error, LookupError):
        return name
    first = (str(error).strip().splitlines() or [""])[0]
    if isinstance(error, ValueError):  # Python's own, as of `int("x")`, quote the value.
        first = _QUOTED.sub(REMOVED, first)
    return without_secrets(f"{name}: {first}")[:300]
