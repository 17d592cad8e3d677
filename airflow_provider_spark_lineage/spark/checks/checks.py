"""Checks of a frame together: one query measures all, and the findings follow from it.

`column_checks` and `row_checks` have the two kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from airflow_provider_spark_lineage.spark.checks.absent import skipped_if_absent
from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, Findings, Metrics
from airflow_provider_spark_lineage.spark.checks.measuring import Measure, Measured, functions_of, measured

ROWS = "rows"
"""Key of the number of all rows, which is always measured."""

CLAUSE = "partition_clause"
_OF_CHECK = "check_partition_clause"
"""Names of a common clause and of a check's own clause in `params`, as in Airflow."""

MAX_SAMPLED_RULES = 10
"""Largest number of broken rules whose rows are shown: each is a query."""

Names: TypeAlias = Mapping[str, str]
"""Name of a column in lower case -> its name in the frame's schema."""

Measurements: TypeAlias = Mapping[str, Measured]
"""Key of a measure -> its value."""


class Check(Protocol):
    """One check of a frame."""

    def measures(self, names: Names) -> dict[str, Measure]:
        """Return the measures of the check, by keys that no other check uses."""

    @property
    def sql(self) -> str:
        """Return the aggregate as text, for people; empty if no row is read."""

    def assertion(self, measurements: Measurements, names: Names, clause: str) -> Assertion:
        """Return the result; `measurements` has values of `measures`, `clause` is common to all checks."""

    def add_metrics(self, metrics: Metrics, measurements: Measurements, names: Names) -> None:
        """Add the metrics of all rows."""

    def counts_failing_rows(self, values: Measurements) -> bool:
        """Return whether the result is the number of rows that break a rule, or have no value."""

    def stands(self, measurements: Measurements, *, has_other_rows: bool) -> bool:
        """Return whether the result is right although some rows were measured several times.

        `has_other_rows`: rows that do not belong to the dataset may have been measured besides.
        """

    def rules(self, measurements: Measurements) -> dict[str, Callable[[Any], Any]]:
        """Return its rule for each row, by name: makes a column of Spark, true where the rule is kept."""

    def absent(self, names: Names) -> list[str]:
        """Return the columns that the frame may not have, if the check may be skipped without them."""

    def failing_rows(self, frame: Any, names: Names, key: Sequence[str] = ()) -> Any:
        """Return the rows that break the rule, with the columns of a key and those that it names.

        None if it is not such a rule.
        """


def run(frame: Any, checks: Sequence[Check], *, clause: str = "", of_dataset: str = "") -> Findings:
    """Return what checks find in the rows of a frame that a clause selects: one query, or a few.

    >>> checks = column_checks({"id": {"null_check": {"equal_to": 0}}})  # doctest: +SKIP
    >>> run(spark.table("orders"), checks)  # doctest: +SKIP
    """
    names = {name.lower(): name for name in frame.columns}
    measurements = measured(frame, measures_of(checks, names), clause)
    return findings_of(checks, measurements, names, clause=clause, of_dataset=of_dataset)


def measures_of(checks: Sequence[Check], names: Names) -> dict[str, Measure]:
    """Return all that checks need, and the number of rows, unless no check reads a row."""
    measures = {key: measure for check in checks for key, measure in check.measures(names).items()}
    if measures and all(measure.is_of_schema for measure in measures.values()):
        return measures
    return {ROWS: Measure([lambda functions: functions.count(functions.lit(1))]), **measures}


def skipped(checks: Sequence[Check], problem: str, *, clause: str = "", of_dataset: str = "") -> Findings:
    """Return the findings of checks of a frame that cannot be made, with Spark's error condition."""
    measures = {ROWS, *(key for check in checks for key in check.measures({}))}
    measurements = dict.fromkeys(measures, Measured(problem=problem))
    findings = findings_of(checks, measurements, {}, clause=clause, of_dataset=of_dataset)
    return replace(findings, is_skipped=True)


def findings_of(
    checks: Sequence[Check], measurements: Measurements, names: Names, *, clause: str, of_dataset: str
) -> Findings:
    """Return the assertions and the metrics that follow from the measurements."""
    metrics = Metrics()
    # Rows of a clause are not the dataset.
    if not clause and ROWS in measurements:
        metrics.rows = measurements[ROWS].value
        for check in checks:
            check.add_metrics(metrics, measurements, names)
    assertions = tuple(
        skipped_if_absent(check.assertion(measurements, names, clause), check.absent(names))
        for check in checks
    )
    return Findings(assertions, metrics, of_dataset)


def samples(
    frame: Any, checks: Sequence[Check], assertions: Sequence[Assertion], count: int, *, clause: str = ""
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the name of each broken rule with some rows that break it, for a log: one query for each.

    Rows are distinct in the columns that are shown: those of the rule, and those that a check says are a key.
    Ten rules at most. Never for an event: they are rows of the user.
    """
    names = {name.lower(): name for name in frame.columns}
    key = _key_of(checks, names)
    rows = frame.where(functions_of(frame).expr(clause)) if clause else frame
    broken = [
        (assertion.name, failing)
        for check, assertion in zip(checks, assertions, strict=True)
        if not (assertion.success or assertion.not_evaluated)
        and (failing := check.failing_rows(rows, names, key)) is not None
    ]
    for name, failing in broken[:MAX_SAMPLED_RULES]:
        # Of a bounded number of rows, so that the query may still stop early. Spark compares no maps.
        kinds = failing.schema.simpleString()
        has_distinct = not any(kind in kinds for kind in _NOT_COMPARED)
        shown = failing.limit(_MOST_COMPARED).distinct() if has_distinct else failing
        yield name, shown.limit(count).collect()


_NOT_COMPARED = ("map<", "variant")
_MOST_COMPARED = 10_000
"""Rows that break a rule; the distinct ones among them are shown."""


def _key_of(checks: Sequence[Check], names: Names) -> list[str]:
    """Return the columns of a key, if one of the checks is that they are unique; else none."""
    keys = (getattr(check, "key_columns", ()) for check in checks)
    columns = next(filter(None, keys), ())
    return [names[each.lower()] for each in columns if each.lower() in names]


def query_of(checks: Sequence[Check], source: str, clause: str = "") -> str:
    """Return the query of checks as text, for people; `source` is what stands after FROM."""
    sqls = [check.sql for check in checks if check.sql]
    if not sqls:
        return f"SELECT *\nFROM {source}\nLIMIT 0"
    aggregates = ",\n  ".join(["count(*)", *sqls])
    return f"SELECT\n  {aggregates}\nFROM {source}" + (f"\nWHERE {clause}" if clause else "")


def rows_of(key: str) -> str:
    """Return the key of the number of rows of a check that has fewer than all."""
    return f"{key} rows"


def rows_in(measurements: Measurements, key: str) -> Any:
    """Return the number of rows that a check is about."""
    return measurements.get(rows_of(key), measurements[ROWS]).value


def problem_of(measurements: Measurements, key: str) -> str:
    """Return the problem of a rule, or of the number of rows that it is about."""
    return measurements[key].problem or (
        measurements[rows_of(key)].problem if rows_of(key) in measurements else ""
    )


def clauses_of(common: str, own: str) -> dict[str, str]:
    """Return the clause of all checks and the clause of one check, by their names in `params`."""
    return {key: clause for key, clause in ((CLAUSE, common), (_OF_CHECK, own)) if clause}


def with_filter(sql: str, clause: str) -> str:
    """Return an aggregate over the rows of a clause, as text for people."""
    return f"{sql} FILTER (WHERE {clause})" if clause else sql


def quoted(name: str) -> str:
    """Return the name of a column in Spark's notation."""
    return "`{}`".format(name.replace("`", "``"))


def failed(assertions: Iterable[Assertion]) -> list[Assertion]:
    """Return the assertions that fail a task."""
    return [assertion for assertion in assertions if assertion.fails_task]
