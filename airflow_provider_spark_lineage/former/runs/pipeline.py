"""Former path of `RecordedFolder`."""

import warnings

from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

__all__ = ["RecordedFolder"]

warnings.warn(
    "import RecordedFolder from airflow_provider_spark_lineage: this module will be removed",
    DeprecationWarning,
    stacklevel=2,
)
