"""The comparison as the last task of a DAG: `OpenLineageTestOperator`, for where there is only Airflow."""

from __future__ import annotations

from airflow_provider_spark_lineage.testing.in_dag.operator import OpenLineageTestOperator

__all__ = ["OpenLineageTestOperator"]
