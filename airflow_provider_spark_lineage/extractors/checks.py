"""Extractor of the checks of Airflow's SQL operators (docs/checks.md)."""

from airflow_provider_spark_lineage.airflow.checks.extractor import SqlCheckExtractor

__all__ = ["SqlCheckExtractor"]
