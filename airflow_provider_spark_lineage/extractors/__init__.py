"""Extractors for `[openlineage] extractors`: lineage of operators that you cannot edit.

`SparkExtractor` covers all operators; `operator_lineage` is for your own extractors (docs/write-your-own.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.airflow.extractors.spark import SparkExtractor
    from airflow_provider_spark_lineage.airflow.task.answers import operator_lineage

__all__ = ["SparkExtractor", "operator_lineage"]


def __getattr__(name: str) -> Any:
    # Every Airflow process loads one of the modules here: it must not load the others, too.
    if name == "SparkExtractor":
        from airflow_provider_spark_lineage.airflow.extractors.spark import SparkExtractor

        return SparkExtractor
    if name == "operator_lineage":
        from airflow_provider_spark_lineage.airflow.task.answers import operator_lineage

        return operator_lineage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
