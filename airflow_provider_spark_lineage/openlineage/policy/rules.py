"""A policy: tags of columns, and rules about datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from airflow_provider_spark_lineage.openlineage.policy.patterns import ColumnPattern, DatasetPattern

MASKED, AGGREGATED = "masked", "aggregated"
"""What `unless` may have: where the values of a tagged column are not followed any further."""

FAIL, WARN = "fail", "warn"


@dataclass(frozen=True)
class PolicyRule:
    """One rule: conditions of its datasets. A condition that it does not have is empty."""

    name: str
    datasets: tuple[DatasetPattern, ...]
    must_not_contain: tuple[str, ...] = ()
    """Tags whose values must not be in the columns."""
    must_not_depend_on: tuple[str, ...] = ()
    """Tags that must neither be in the columns nor decide about values or rows."""
    unless: frozenset[str] = frozenset()
    may_read: tuple[DatasetPattern, ...] | None = None
    writers: int | None = None
    forbids_gaps: bool = False
    fails_on_gap: bool = False
    """Something that cannot be excluded counts as a violation."""


@dataclass(frozen=True)
class Policy:
    """The rules of one file."""

    rules: tuple[PolicyRule, ...]
    tags: Mapping[str, tuple[ColumnPattern, ...]]
    source: str = "policy"
    """The file, for messages."""
