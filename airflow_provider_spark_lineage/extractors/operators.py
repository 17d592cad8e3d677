"""How the operators that we know run Spark: one row for each class. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping

IN_PROCESS = "in process"
"""The operator's `execute` opens, uses and stops a PySpark session in the task's own process."""

WAYS: Mapping[str, str] = {
    "PySparkOperator": IN_PROCESS,
    "_PySparkDecoratedOperator": IN_PROCESS,
}
"""Class name of an operator of Airflow's -> how it runs Spark."""


def way_of(operator: type) -> str | None:
    """Return how an operator's class, or the nearest class that it inherits from, runs Spark.

    None for one that is not known to run it.
    """
    return next((WAYS[parent.__name__] for parent in operator.__mro__ if parent.__name__ in WAYS), None)
