"""Extractors for operators that nobody can edit: what `[openlineage] extractors` names.

An exception while the provider imports an extractor disables its whole plugin, so the modules here
import next to nothing. `SparkExtractor` is the one for all operators; `operator_lineage` is for extractors of
your own (docs/write-your-own.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.extractors.spark import SparkExtractor
    from airflow_provider_spark_lineage.task.annotation import operator_lineage

__all__ = ["SparkExtractor", "operator_lineage"]


def __getattr__(name: str) -> Any:
    # Every process of Airflow loads one of the modules here: it must not pay for the others.
    if name == "SparkExtractor":
        from airflow_provider_spark_lineage.extractors.spark import SparkExtractor

        return SparkExtractor
    if name == "operator_lineage":
        from airflow_provider_spark_lineage.task.annotation import operator_lineage

        return operator_lineage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
