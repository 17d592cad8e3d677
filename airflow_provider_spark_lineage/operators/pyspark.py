"""Drop-in replacements of Airflow's PySpark operator and of `@task.pyspark` that report lineage.

They run the user's function exactly as Airflow's own do: same arguments, same return value, same
errors. Lineage is captured beside it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.decorators.pyspark import _PySparkDecoratedOperator
from airflow.providers.apache.spark.operators.spark_pyspark import SPARK_CONTEXT_KEYS, PySparkOperator
from airflow.providers.common.compat.sdk import TaskDecorator, task_decorator_factory
from airflow.providers.common.compat.standard.operators import PythonOperator

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Context

    from airflow_provider_spark_lineage.task import TaskLineage


class _ReportsLineage:
    """Captures while `execute` runs, and returns the result to the OpenLineage provider."""

    _task_lineage: TaskLineage | None = None
    _task_instance: Any = None

    def execute(self, context: Context) -> Any:
        """Run the task as its operator does, with capture on if an event will carry the lineage."""
        from airflow_provider_spark_lineage.task import start_capture

        self._task_instance = task_instance = context["ti"]
        self._task_lineage = start_capture(task_instance)
        try:
            return super().execute(context)  # type: ignore[misc]
        finally:
            if self._task_lineage is not None:
                self._task_lineage.finish()

    def on_kill(self) -> None:
        """Run the operator's `on_kill`, and send what the task has done: its process may be killed next."""
        try:
            super().on_kill()  # type: ignore[misc]
        finally:
            if self._task_lineage is not None:
                self._task_lineage.stop(self._task_instance)

    # The provider calls these three in a forked child, which has no way to the JVM, and kills it after
    # `[openlineage] execution_timeout`. They read what `execute` stored, and may be called again.

    def get_openlineage_facets_on_start(self) -> OperatorLineage:
        """Return no datasets: what a function will do is not known before it runs."""
        from airflow.providers.openlineage.extractors import OperatorLineage

        return OperatorLineage()

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage:
        """Return what the task read and wrote."""
        if self._task_lineage is None:
            return self.get_openlineage_facets_on_start()
        return self._task_lineage.operator_lineage()

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> OperatorLineage:
        """Return what the task had read, the writes that had finished, and Spark's errors."""
        return self.get_openlineage_facets_on_complete(task_instance)


class _PassesKnownArguments(PythonOperator):
    """Passes the session only to a function that asks for it.

    A base class between `PySparkOperator`, which always passes `spark`, and `PythonOperator`, which calls the
    function, so that a function may call `SparkSession.getActiveSession()` instead.
    """

    op_kwargs: dict[str, Any]

    def execute_callable(self) -> Any:
        """Call the function without the session arguments that its signature does not have."""
        parameters = inspect.signature(self.python_callable).parameters
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
            unexpected = {key for key in SPARK_CONTEXT_KEYS if key not in parameters}
            self.op_kwargs = {key: value for key, value in self.op_kwargs.items() if key not in unexpected}
        return super().execute_callable()


class PySparkLineageOperator(_ReportsLineage, PySparkOperator, _PassesKnownArguments):
    """Airflow's `PySparkOperator` whose OpenLineage events say what Spark read and wrote.

    Takes the arguments of `airflow.providers.apache.spark.operators.spark_pyspark.PySparkOperator`.

    >>> PySparkLineageOperator(task_id="load", python_callable=load, conn_id="spark")  # doctest: +SKIP
    """


class _PySparkLineageDecoratedOperator(_ReportsLineage, _PySparkDecoratedOperator, _PassesKnownArguments):
    """The operator behind `@task.pyspark_lineage`."""

    custom_operator_name = "@task.pyspark_lineage"


def pyspark_lineage_task(
    python_callable: Callable[..., Any] | None = None,
    multiple_outputs: bool | None = None,
    **kwargs: Any,
) -> TaskDecorator:
    """Turn a function into a task like `@task.pyspark` does, and report its lineage.

    >>> @task.pyspark_lineage(conn_id="spark")  # doctest: +SKIP
    ... def load(spark): ...
    """
    return task_decorator_factory(
        python_callable=python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=_PySparkLineageDecoratedOperator,
        **kwargs,
    )
