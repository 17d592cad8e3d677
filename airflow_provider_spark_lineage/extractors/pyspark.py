"""Lineage of Airflow's own `PySparkOperator` and `@task.pyspark`, from what the plugin captured.

Needs `[spark_lineage] auto_capture = True`: without it there is nothing to extract.
"""

from __future__ import annotations

from typing import Any

from airflow.providers.openlineage.extractors.base import BaseExtractor, OperatorLineage

from airflow_provider_spark_lineage.extractors.operators import DRIVERS, IN_PROCESS


class PySparkExtractor(BaseExtractor):
    """Answers the OpenLineage provider for operators that report nothing themselves."""

    @classmethod
    def get_operator_classnames(cls) -> list[str]:
        """Return the class names of the operators that use this extractor."""
        return [name for name, driver in DRIVERS.items() if driver == IN_PROCESS]

    def _execute_extraction(self) -> OperatorLineage:
        return OperatorLineage()

    def extract_on_complete(self, task_instance: Any) -> OperatorLineage:
        """Return what the task read and wrote; after a failure, only finished writes."""
        from airflow_provider_spark_lineage.task import lineage_of

        lineage = lineage_of(task_instance)
        return lineage.operator_lineage() if lineage is not None else OperatorLineage()
