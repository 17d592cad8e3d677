"""Former path of `planned_lineage`."""

from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage

__all__ = ["planned_lineage"]
