"""Drop-in replacement of Airflow's `SparkPipelinesOperator` that reports lineage."""

from __future__ import annotations

from functools import cached_property
from typing import Any

try:
    from airflow.providers.apache.spark.operators.spark_pipelines import SparkPipelinesOperator
except ModuleNotFoundError as error:
    if not str(error.name).endswith("spark_pipelines"):
        raise
    raise ImportError(
        "SparkPipelinesLineageOperator needs a SparkPipelinesOperator to replace: install "
        "apache-airflow-providers-apache-spark 6.1 or later"
    ) from None

from airflow_provider_spark_lineage.airflow.task.reporting import ReportsLineage


class SparkPipelinesLineageOperator(ReportsLineage, SparkPipelinesOperator):
    """Airflow's `SparkPipelinesOperator` whose OpenLineage events say what each flow read and wrote.

    Takes the arguments of `airflow.providers.apache.spark.operators.spark_pipelines.SparkPipelinesOperator`.

    >>> SparkPipelinesLineageOperator(task_id="shop", pipeline_spec="shop/pipeline.yml")  # doctest: +SKIP
    """

    @cached_property
    def hook(self) -> Any:
        """Hook of Airflow's operator, created by `_get_hook` as in the other operators."""
        return self._get_hook()

    def _get_hook(self) -> Any:
        return super().hook
