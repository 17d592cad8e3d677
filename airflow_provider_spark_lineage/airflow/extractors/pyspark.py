"""Extractor for Airflow's `PySparkOperator` and `@task.pyspark` only; `SparkExtractor` covers all."""

from __future__ import annotations

from airflow_provider_spark_lineage.airflow.extractors.spark import SparkExtractor
from airflow_provider_spark_lineage.airflow.known_operators import DRIVERS, IN_PROCESS


class PySparkExtractor(SparkExtractor):
    """Answers the OpenLineage provider for operators whose function gets a PySpark session."""

    @classmethod
    def get_operator_classnames(cls) -> list[str]:
        """Return the class names of the operators that use this extractor."""
        return [name for name, driver in DRIVERS.items() if driver == IN_PROCESS]
