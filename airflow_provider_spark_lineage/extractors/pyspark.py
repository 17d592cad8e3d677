"""Extractor for Airflow's `PySparkOperator` and `@task.pyspark` only; `SparkExtractor` covers all."""

from airflow_provider_spark_lineage.airflow.extractors.pyspark import PySparkExtractor

__all__ = ["PySparkExtractor"]
