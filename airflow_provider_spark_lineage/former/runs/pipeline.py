"""Former path of `RecordedFolder`."""

from airflow_provider_spark_lineage.spark.runs.pipeline import RecordedFolder

__all__ = ["RecordedFolder"]
