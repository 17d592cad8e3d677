"""Table of known operators and where their Spark driver runs. Imports nothing heavy."""

from __future__ import annotations

import sys
from collections.abc import Mapping

IN_PROCESS = "in process"
"""The operator's `execute` opens, uses and stops a PySpark session in the task's own process."""

SPARK_SUBMIT = "spark-submit"
"""`spark-submit` starts the driver, in another process or on another machine."""

SPARK_SQL = "spark-sql"
"""`spark-sql` is the driver, in another process."""

SPARK_PIPELINES = "spark-pipelines"
"""`spark-pipelines` starts the driver in another process, or calls a Spark Connect server."""

PYTHON = "python"
"""A function runs in the task's own process, and may open a PySpark session there."""

COMMAND = "command"
"""A shell command may start drivers, here or on another machine."""

KINDS = (IN_PROCESS, SPARK_SUBMIT, SPARK_SQL, SPARK_PIPELINES, PYTHON)
"""Words allowed in `[spark_lineage] extra_operators`."""

DRIVERS: Mapping[str, str] = {
    "PySparkOperator": IN_PROCESS,
    "_PySparkDecoratedOperator": IN_PROCESS,
    "SparkSubmitOperator": SPARK_SUBMIT,
    "SparkJDBCOperator": SPARK_SUBMIT,
    "SparkSqlOperator": SPARK_SQL,
    "SparkPipelinesOperator": SPARK_PIPELINES,
    "PythonOperator": PYTHON,
    "PythonSensor": PYTHON,
    "BashOperator": COMMAND,
    "SSHOperator": COMMAND,
    # The function runs in another process: `@task.virtualenv`, `@task.external_python`.
    "_BasePythonVirtualenvOperator": "",
}
"""Class name of an Airflow operator -> where the Spark driver runs; empty if nothing is captured."""

CHECKS = (
    "SQLColumnCheckOperator",
    "SQLTableCheckOperator",
    "SQLCheckOperator",
    "SQLValueCheckOperator",
    "SQLIntervalCheckOperator",
    "SQLThresholdCheckOperator",
)
"""Airflow's operators that check data by SQL."""

NO_EXTRA: Mapping[str, str] = {}


def driver_kind(operator: type, extra: Mapping[str, str] = NO_EXTRA) -> str | None:
    """Return where the Spark driver of an operator runs, by its class or the nearest known base class.

    None for an operator that is not known to run Spark. `extra` has the user's own: dotted class -> kind.
    """
    for parent in operator.__mro__:
        kind = _extra_kind(parent, extra)
        if kind is not None or parent.__name__ in DRIVERS:
            return kind or DRIVERS.get(parent.__name__) or None
    return None


def _extra_kind(operator: type, extra: Mapping[str, str]) -> str | None:
    """Return the kind of a class in `extra`, by the module that defines it or one that imports it."""
    own = f"{operator.__module__}.{operator.__qualname__}"
    if own in extra:
        return extra[own]
    for dotted, named in extra.items():
        module, _, name = dotted.rpartition(".")
        if name == operator.__name__ and getattr(sys.modules.get(module), name, None) is operator:
            return named
    return None


def is_named(operator: type, extra: Mapping[str, str]) -> bool:
    """Return whether `extra` has the class of an operator or one of its base classes."""
    return any(_extra_kind(parent, extra) is not None for parent in operator.__mro__)
