"""Where the Spark driver of known operators runs: one row for each class. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping

IN_PROCESS = "in process"
"""The operator's `execute` opens, uses and stops a PySpark session in the task's own process."""

SPARK_SUBMIT = "spark-submit"
"""`spark-submit` starts the driver, in a process of its own or on another machine."""

SPARK_SQL = "spark-sql"
"""`spark-sql` is the driver, in a process of its own."""

SPARK_PIPELINES = "spark-pipelines"
"""`spark-pipelines` starts the driver, in a process of its own, or asks a Spark Connect server."""

DRIVERS: Mapping[str, str] = {
    "PySparkOperator": IN_PROCESS,
    "_PySparkDecoratedOperator": IN_PROCESS,
    "SparkSubmitOperator": SPARK_SUBMIT,
    "SparkSqlOperator": SPARK_SQL,
    "SparkPipelinesOperator": SPARK_PIPELINES,
}
"""Class name of an operator of Airflow's -> where the Spark driver runs."""


def driver_of(operator: type) -> str | None:
    """Return where the Spark driver of an operator runs, by its class or the nearest known base class.

    None for an operator that is not known to run Spark.
    """
    return next((DRIVERS[parent.__name__] for parent in operator.__mro__ if parent.__name__ in DRIVERS), None)
