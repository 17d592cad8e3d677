"""Kinds of gaps, by whether an edge or an input may be missing where there is one.

The names are those in events; a kind that is not listed here may hide anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.graph.current import JobWrite
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import NO_COLUMNS

_OF_NAMES = frozenset({"no_file_system", "unknown_location", "unknown_source"})
"""A dataset may have another name; in a text, a table has its name in the session."""

_OF_EVERY_TEXT = _OF_NAMES | {NO_COLUMNS}
"""Gaps that a text has because it has not run: it names datasets, and no columns."""

_WITH_ALL_EDGES = frozenset({"code_over_rows", "rows_from_rdd"})
"""There are more edges than may be true, but no fewer."""

_WITH_ALL_INPUTS = _WITH_ALL_EDGES | {NO_COLUMNS, "ambiguous_column", "unknown_columns"}
"""Edges of columns may be missing, but none from datasets that are not inputs."""


def is_forbidden(gap: Mapping[str, Any], write: JobWrite) -> bool:
    """Return whether a gap breaks a rule that forbids gaps."""
    return not (write.is_planned and gap["kind"] in _OF_EVERY_TEXT)


def may_lack_edges(gap: Mapping[str, Any], write: JobWrite) -> bool:
    """Return whether edges of the output may be missing."""
    is_of_name = gap["kind"] in _OF_NAMES and write.is_planned
    return not is_of_name and gap["kind"] not in _WITH_ALL_EDGES


def may_lack_inputs(gap: Mapping[str, Any], write: JobWrite) -> bool:
    """Return whether it is not known which datasets fed the output."""
    is_unfed = gap["kind"] == NO_COLUMNS and not write.sources
    return may_lack_edges(gap, write) and (is_unfed or gap["kind"] not in _WITH_ALL_INPUTS)
