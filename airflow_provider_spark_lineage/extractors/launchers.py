"""Extractor of operators that launch Spark on other systems (docs/launchers.md)."""

from airflow_provider_spark_lineage.airflow.extractors.launchers import LauncherExtractor

__all__ = ["LauncherExtractor"]
