"""Steps from a part of an expression to the whole."""

from __future__ import annotations

from airflow_provider_spark_lineage.plan.algebra import IDENTITY, Kind, Transformation

Steps = frozenset[Transformation]
"""How a part acts on the whole: several ways where a value is tested and used; empty where it does not."""


def _steps(kind: Kind, *, masking: bool = False) -> Steps:
    return frozenset({Transformation(kind, masking)})


NOTHING: Steps = frozenset()
SAME: Steps = frozenset({IDENTITY})
VALUE = _steps(Kind.TRANSFORMATION)
MASKED = _steps(Kind.TRANSFORMATION, masking=True)
AGGREGATED = _steps(Kind.AGGREGATION)
COUNTED = _steps(Kind.AGGREGATION, masking=True)
TESTED = _steps(Kind.CONDITIONAL)
TESTED_AND_CHOSEN = VALUE | TESTED
WINDOW = _steps(Kind.WINDOW)
FILTER = _steps(Kind.FILTER)
SORT = _steps(Kind.SORT)
