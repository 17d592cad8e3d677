"""The comparison as the last task of a DAG, for deployments without pytest (docs/testing.md)."""

from airflow_provider_spark_lineage.openlineage.testing.in_dag import OpenLineageTestOperator

__all__ = ["OpenLineageTestOperator"]

# Airflow and OpenLineage name operators by this path, for example in `disabled_for_operators`.
OpenLineageTestOperator.__module__ = __name__
