"""Lineage of Spark jobs that run from Apache Airflow, as OpenLineage events, without a jar on the cluster.

`capture_lineage` is the way in for code that is not an Airflow operator; everything a DAG author
imports is in `operators`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark.runs.captured import Captured, capture_lineage

__all__ = ["Captured", "capture_lineage"]
__version__ = "0.1.0"

# Modules that pages named keep their paths for one release after they moved: those in `former` forward.
__path__.append(f"{__path__[0]}/former")


def __getattr__(name: str) -> Any:
    # Airflow imports this package at start-up to read the provider's description: keep that free.
    if name in __all__:
        from airflow_provider_spark_lineage.spark.runs import captured

        return getattr(captured, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
