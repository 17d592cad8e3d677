"""Dependencies of a value in words, with the names that the columns of its scans have."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.lineage.values import Origin
from airflow_provider_spark_lineage.spark.plan.algebra import Transformation


def name_of(origin: Origin) -> str:
    """Return the column that a value comes from, and the path inside it: `a.x`."""
    scan, column, path = origin
    return ".".join((next(each.name for each in scan.output if each.id == column), *path))


def how(path: Transformation) -> str:
    """Return how a column acts: `transformation masking`."""
    return f"{path.kind.subtype.lower()}{' masking' if path.masking else ''}"
