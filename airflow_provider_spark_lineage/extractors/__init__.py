"""Extractors for operators that nobody can edit: what `[openlineage] extractors` names.

An exception while the provider imports an extractor disables its whole plugin, so the modules here
import next to nothing. `SparkExtractor` is the one for all operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.extractors.spark import SparkExtractor

__all__ = ["SparkExtractor"]


def __getattr__(name: str) -> Any:
    # Collectors import `extractors.operators`, also where there is no Airflow.
    if name in __all__:
        from airflow_provider_spark_lineage.extractors import spark

        return getattr(spark, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
