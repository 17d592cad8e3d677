"""Kinds of gaps, by whether an edge or an input may be missing where there is one.

The names are those in events; a kind that is not listed here may hide anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.graph.current import NO_COLUMNS, JobWrite

ABOUT_THE_TEXT = frozenset({"planned"})
"""The lineage is of a text that has not run: so is all of it, and nothing of it is missing for that."""

WITH_ALL_EDGES = ABOUT_THE_TEXT | {"code_over_rows", "rows_from_rdd"}
"""There are more edges than may be true, but no fewer."""

WITH_ALL_INPUTS = WITH_ALL_EDGES | {NO_COLUMNS, "ambiguous_column", "unknown_columns"}
"""Edges of columns may be missing, but none from datasets that are not inputs."""


def may_lack_edges(gap: Mapping[str, Any]) -> bool:
    """Return whether edges of the output may be missing."""
    return gap["kind"] not in WITH_ALL_EDGES


def may_lack_inputs(gap: Mapping[str, Any], write: JobWrite) -> bool:
    """Return whether it is not known which datasets fed the output."""
    is_unfed = gap["kind"] == NO_COLUMNS and not write.sources
    return is_unfed or gap["kind"] not in WITH_ALL_INPUTS
