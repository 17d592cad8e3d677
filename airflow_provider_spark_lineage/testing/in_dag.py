"""The comparison as the last task of a DAG, for deployments without pytest (docs/testing.md)."""

from airflow_provider_spark_lineage.openlineage.testing.in_dag import OpenLineageTestOperator

__all__ = ["OpenLineageTestOperator"]
