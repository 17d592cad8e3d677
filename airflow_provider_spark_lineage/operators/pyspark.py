"""Drop-in replacements of Airflow's PySpark operator and of `@task.pyspark` that report lineage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow.providers.apache.spark.decorators.pyspark import _PySparkDecoratedOperator
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.common.compat.sdk import TaskDecorator, task_decorator_factory


class PySparkLineageOperator(PySparkOperator):
    """Airflow's `PySparkOperator` whose OpenLineage events say what Spark read and wrote."""


class _PySparkLineageDecoratedOperator(_PySparkDecoratedOperator):
    """The operator behind `@task.pyspark_lineage`."""

    custom_operator_name = "@task.pyspark_lineage"


def pyspark_lineage_task(
    python_callable: Callable[..., Any] | None = None,
    multiple_outputs: bool | None = None,
    **kwargs: Any,
) -> TaskDecorator:
    """Turn a function into a task like `@task.pyspark` does, and report its lineage."""
    return task_decorator_factory(
        python_callable=python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=_PySparkLineageDecoratedOperator,
        **kwargs,
    )
