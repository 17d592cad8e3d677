"""Lineage of Spark jobs that run from Apache Airflow, as OpenLineage events, without a jar on the cluster.

The functions here are for code that is not an Airflow operator: `capture_lineage` for Spark in this process,
`RecordedFolder` for what another process recorded, `planned_lineage` for a text that has not run. Everything
a DAG author imports is in `operators`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage
    from airflow_provider_spark_lineage.spark.runs.captured import Captured, capture_lineage
    from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

__all__ = ["Captured", "RecordedFolder", "capture_lineage", "planned_lineage"]
__version__ = "0.1.0"

_MODULES = {
    "Captured": "airflow_provider_spark_lineage.spark.runs.captured",
    "RecordedFolder": "airflow_provider_spark_lineage.spark.runs.recorded",
    "capture_lineage": "airflow_provider_spark_lineage.spark.runs.captured",
    "planned_lineage": "airflow_provider_spark_lineage.spark.planned.texts",
}

# Modules that pages named keep their paths for one release after they moved: those in `former` forward.
__path__.append(f"{__path__[0]}/former")


def __getattr__(name: str) -> Any:
    # Airflow imports this package at start-up to read the provider's description: keep that free.
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
