"""Former path of `planned_lineage`."""

import warnings

from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage

__all__ = ["planned_lineage"]

warnings.warn(
    "import planned_lineage from airflow_provider_spark_lineage: this module will be removed",
    DeprecationWarning,
    stacklevel=2,
)
