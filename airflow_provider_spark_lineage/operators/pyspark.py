"""Drop-in replacements of Airflow's PySpark operator and of `@task.pyspark` that report lineage.

They run the user's function exactly as Airflow's own: same arguments, same return value, same errors. Capture
only observes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from airflow.providers.apache.spark.decorators.pyspark import _PySparkDecoratedOperator
from airflow.providers.apache.spark.operators.spark_pyspark import SPARK_CONTEXT_KEYS, PySparkOperator
from airflow.providers.common.compat.sdk import TaskDecorator, task_decorator_factory
from airflow.providers.common.compat.standard.operators import PythonOperator

from airflow_provider_spark_lineage.airflow.task.reporting import ReportsLineage


class _PassesKnownArguments(PythonOperator):
    """Passes the session only to a function that has a parameter for it.

    Base class between `PySparkOperator`, which always passes `spark`, and `PythonOperator`, which calls the
    function: so a function may call `SparkSession.getActiveSession()` instead.
    """

    op_kwargs: dict[str, Any]

    def execute_callable(self) -> Any:
        """Call the function without the session arguments that its signature does not have."""
        parameters = inspect.signature(self.python_callable).parameters
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
            unexpected = {key for key in SPARK_CONTEXT_KEYS if key not in parameters}
            self.op_kwargs = {key: value for key, value in self.op_kwargs.items() if key not in unexpected}
        return super().execute_callable()


class PySparkLineageOperator(ReportsLineage, PySparkOperator, _PassesKnownArguments):
    """Airflow's `PySparkOperator` whose OpenLineage events say what Spark read and wrote.

    Takes the arguments of `airflow.providers.apache.spark.operators.spark_pyspark.PySparkOperator`.

    >>> PySparkLineageOperator(task_id="load", python_callable=load, conn_id="spark")  # doctest: +SKIP
    """


class _PySparkLineageDecoratedOperator(ReportsLineage, _PySparkDecoratedOperator, _PassesKnownArguments):
    """Operator of `@task.pyspark_lineage`."""

    custom_operator_name = "@task.pyspark_lineage"


def pyspark_lineage_task(
    python_callable: Callable[..., Any] | None = None,
    multiple_outputs: bool | None = None,
    **kwargs: Any,
) -> TaskDecorator:
    """Turn a function into a task, as `@task.pyspark` does, and report its lineage.

    >>> @task.pyspark_lineage(conn_id="spark")  # doctest: +SKIP
    ... def load(spark): ...
    """
    return task_decorator_factory(
        python_callable=python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=_PySparkLineageDecoratedOperator,
        **kwargs,
    )
