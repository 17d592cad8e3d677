"""Extractor for all operators that run Spark."""

from airflow_provider_spark_lineage.airflow.extractors.spark import SparkExtractor

__all__ = ["SparkExtractor"]
