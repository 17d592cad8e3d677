"""Steps from a part of an expression to the whole."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from airflow_provider_spark_lineage.spark.plan.algebra import IDENTITY, Kind, Transformation

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


@lru_cache(maxsize=4096)
def composed(outer: Steps, inner: Steps) -> Steps:
    """Return the steps of each path that is one of `inner` followed by one of `outer`."""
    return frozenset(last.after(first) for last in outer for first in inner)


def ordered(uses: Iterable[tuple[int, Transformation]]) -> tuple[tuple[int, Transformation], ...]:
    """Return uses of attributes by attribute and kind, independent of the order of the walk."""
    return tuple(sorted(uses, key=lambda use: (use[0], use[1].kind.order, use[1].masking)))
