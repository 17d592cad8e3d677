"""Results of checks, and metrics of the dataset that their query measured besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ERROR = "error"
"""Severity of a check whose failure fails the task."""

WARN = "warn"
"""Severity of a check whose failure is a line in the log."""

SEVERITIES = (ERROR, WARN)


@dataclass(frozen=True)
class Assertion:
    """Result of one check."""

    assertion: str
    """The same in every run, and unique for a column of a dataset: `not_null`, `min`, a check's name."""

    success: bool
    """False, too, if the check could not be evaluated."""

    name: str
    """Unique in the task: `amount.min`, or the name of the check."""

    check_type: str
    """Airflow's class of the check: `accepted_range`, `expression_is_true`."""

    column: str = ""
    severity: str = ERROR
    expected: str = ""
    """What the check accepts, as text: `>=0, <10`."""

    actual: str | None = None
    """Measured value, as text; None without a value."""

    content: str = ""
    """SQL of the check."""

    description: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Numbers and names of the check's dictionary."""

    clauses: Mapping[str, str] = field(default_factory=dict)
    """Partition clauses, under the names that they have in `params`: they are SQL."""

    not_evaluated: str = ""
    """Spark's error condition, or a reason; empty if the check has a result."""

    is_skipped: bool = False
    """The check had nothing to check: its column is absent, and the author allows that."""

    has_text_of_rows: bool = False
    """`actual` is the text of a row, the lowest name for example: it must not be in an event."""

    has_text_of_author: bool = False
    """`expected` has a text of the check's dictionary, a literal, as in a statement."""

    has_statement_in_limits: bool = False
    """`expected` is a part of the statement in `content`, and is shown only where that is."""

    dialect: str | None = "spark"
    """sqlglot's name of the SQL in `content` and `clauses`; None if it is not known."""

    value: Any = field(default=None, compare=False)
    """What was found, as Spark returned it."""

    parts: tuple[Assertion, ...] = ()
    """Results of single columns, beside that of the whole check."""

    @property
    def fails_task(self) -> bool:
        """Return whether the task must fail. A check without a result fails it whatever its severity is."""
        return not self.success and (self.severity == ERROR or bool(self.not_evaluated))

    @property
    def is_warning(self) -> bool:
        """Return whether a failure is a line in the log, and no failure of the task."""
        return self.severity == WARN

    @property
    def sentence(self) -> str:
        """A failed assertion for people, without texts of rows and literals of the author."""
        if self.not_evaluated:
            return f"{self.name} has no result: {self.not_evaluated}"
        return f"{self.name}: {self.values}"

    @property
    def values(self) -> str:
        """Expected and measured value for people, without texts of rows and literals of the author."""
        expected = "something else" if self.has_text_of_author else self.expected or "something else"
        actual = "another text" if self.has_text_of_rows else self.actual
        return f"expected {expected}, found {actual}"


def with_parts(assertions: Iterable[Assertion]) -> tuple[Assertion, ...]:
    """Return assertions, each followed by its parts."""
    return tuple(part for each in assertions for part in (each, *each.parts))


@dataclass
class ColumnMetrics:
    """Metrics of a column; numbers only."""

    nulls: int | None = None
    values: int | None = None
    distinct: int | None = None
    """Exact, never an estimate."""

    sum: float | None = None
    min: float | None = None
    max: float | None = None
    quantiles: dict[str, float] = field(default_factory=dict)


@dataclass
class Metrics:
    """Metrics of all rows of a dataset."""

    rows: int | None = None
    columns: dict[str, ColumnMetrics] = field(default_factory=dict)


@dataclass(frozen=True)
class Findings:
    """All that the checks of one frame, or of one statement, found."""

    assertions: tuple[Assertion, ...]
    metrics: Metrics = field(default_factory=Metrics)
    of_dataset: str = ""
    """Name of the table, or the path, that was checked; empty for a query."""

    output: tuple[str, str] | None = None
    """Namespace and name of the dataset that the checked rows were written to."""

    ended_at: str = ""
    """End of that write, ISO 8601."""

    is_statement: bool = False
    """The checks are a statement of their own, which names its inputs."""

    is_reported: bool = False
    """Another library made the checks: it decides whether a failed one fails the task."""

    is_skipped: bool = False
    """Nothing could be checked: the table is missing, for example."""

    @property
    def failed_in_flight(self) -> tuple[Assertion, ...]:
        """The assertions of a written frame with severity `error` that failed, or have no result.

        A check with severity `warn` never fails a task whose data are written, not even without a result.
        """
        failed = (each for each in self.assertions if not each.success and each.severity == ERROR)
        return () if self.is_reported else tuple(failed)
