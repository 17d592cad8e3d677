"""Mixin for operators of your own whose Spark jobs have lineage (docs/write-your-own.md)."""

from airflow_provider_spark_lineage.airflow.task.reporting import ReportsLineage

__all__ = ["ReportsLineage"]
