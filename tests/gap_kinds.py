"""Kinds of the gaps of a lineage, of the facets of a run, or of an event.

Tests compare kinds; the words of the sentences are in `tests/gaps/` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.spark.lineage.model import Lineage

FACET = "sparkLineage_gaps"


def gap_kinds(source: Lineage | Mapping[str, Any]) -> list[str]:
    """Return the kinds in the order of the gaps; empty without gaps."""
    if isinstance(source, Lineage):
        return [gap.kind.value for gap in source.gaps]
    facets = source["run"]["facets"] if "run" in source else source
    facet = facets.get(FACET)
    if facet is None:
        return []
    if isinstance(facet, Mapping):
        return [gap["kind"] for gap in facet["gaps"]]
    return [gap.kind for gap in facet.gaps]
