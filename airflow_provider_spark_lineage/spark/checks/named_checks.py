"""Base of the checks of a whole frame, which have the author's names: `checks={"key": {...}}`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.spark.checks.absent import IF_ABSENT
from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, Metrics
from airflow_provider_spark_lineage.spark.checks.checks import CLAUSE, Measurements, Names, clauses_of

OF_EVERY_CHECK = (CLAUSE, "severity", "description", IF_ABSENT)
"""Keys that the dictionary of each of them may have."""


@dataclass(frozen=True)
class NamedCheck:
    """A check that is not about one column."""

    name: str
    given: dict[str, Any]
    severity: str
    accept_none: bool

    @property
    def _clause(self) -> str:
        return str(self.given.get(CLAUSE) or "")

    def _assertion(self, clause: str, **result: Any) -> Assertion:
        fields = {
            "assertion": self.name,
            "name": self.name,
            "severity": self.given.get("severity", self.severity),
            "description": self.given.get("description", ""),
            "clauses": clauses_of(clause, self._clause),
        }
        return Assertion(**{**fields, **result})

    def add_metrics(self, metrics: Metrics, measurements: Measurements, names: Names) -> None:
        """Add nothing: the metrics have no name for it."""

    def counts_failing_rows(self, values: Measurements) -> bool:
        """Return False: not all of them are rules for a row."""
        return False

    def stands(self, measurements: Measurements, *, has_other_rows: bool) -> bool:
        """Return False: a second count changes most numbers."""
        return False

    def rules(self, measurements: Measurements) -> dict[str, Callable[[Any], Any]]:
        """Return no rule."""
        return {}

    def absent(self, names: Names) -> list[str]:
        """Return no column."""
        return []

    def failing_rows(self, frame: Any, names: Names, key: Sequence[str] = ()) -> Any:
        """Not all of them are rules for a row."""
