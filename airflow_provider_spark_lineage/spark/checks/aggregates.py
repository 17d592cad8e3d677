"""The checks of a column: the aggregate of each, and what its dictionary may have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.spark.checks.absent import IF_ABSENT, validate_if_absent
from airflow_provider_spark_lineage.spark.checks.assertion import SEVERITIES
from airflow_provider_spark_lineage.spark.checks.comparison import LIMITS
from airflow_provider_spark_lineage.spark.checks.freshness import AGAINST, WITHIN, validate_freshness
from airflow_provider_spark_lineage.spark.checks.shares import AT_LEAST, validate_share


class Checked(NamedTuple):
    """Parts of an aggregate."""

    functions: Any
    """Spark's module of functions."""

    column: Any
    """The checked column; NULL in rows that the check's own clause leaves out."""

    rows: Any
    """A column that has a value in each row of the check's own clause."""

    check: Mapping[str, Any]
    """The check's dictionary."""


class Aggregate(NamedTuple):
    """One check of a column."""

    of: Callable[[Checked], Any]
    """Makes the aggregate, a column of Spark."""

    sql: str
    """The same as text, for people: `{column}` is the column, other names are keys of the dictionary."""

    is_value: bool = False
    """The result is a value of the column, or made of values; otherwise it is a number of rows or letters."""

    is_distinct: bool = False
    """All distinct values are needed, which costs more than everything else: it has a query of its own."""

    needs: str = ""
    """Key of the dictionary without which the check has no meaning."""

    breaks: Callable[[Checked], Any] | None = None
    """Whether a value breaks a rule: the result is the number of rows that do, so 0 is expected."""

    ignores_repeats: bool = False
    """The result is the same if rows are there twice."""

    takes: tuple[str, ...] = ()
    """Keys of the dictionary that it may have, beside those of every check."""

    @property
    def counts_failing_rows(self) -> bool:
        """Return whether it is a rule for each row."""
        return self.breaks is not None

    @property
    def has_limits(self) -> bool:
        """Return whether the result is compared with the limits of the dictionary."""
        return not self.counts_failing_rows and self.needs != WITHIN


def _distinct(of: Checked) -> Any:
    if APPROXIMATE in of.check:
        return of.functions.approx_count_distinct(of.column, float(of.check[APPROXIMATE]))
    return of.functions.count_distinct(of.column)


def _rule(breaks: Callable[[Checked], Any], sql: str, needs: str) -> Aggregate:
    return Aggregate(
        lambda of: of.functions.count_if(breaks(of)), sql, needs=needs, breaks=breaks, takes=(AT_LEAST,)
    )


def _newest(of: Checked) -> Any:
    # Spark refuses to take a number for a time here. A cast would not.
    times = of.functions.date_trunc("MICROSECOND", of.column)
    return of.functions.unix_micros(of.functions.max(times))


APPROXIMATE = "approximate"
"""Key of the allowed relative error of a number of distinct values, which are estimated then."""

FRESHNESS = "freshness"
"""Check of a column whose newest value must not be old."""

AGGREGATES = {
    "null_check": Aggregate(
        # Cheaper than a count of a condition.
        lambda of: of.functions.count(of.rows) - of.functions.count(of.column),
        "count_if({column} IS NULL)",
    ),
    "distinct_check": Aggregate(
        _distinct,
        "count(DISTINCT {column})",
        is_distinct=True,
        ignores_repeats=True,
        takes=(APPROXIMATE,),
    ),
    "unique_check": Aggregate(
        lambda of: of.functions.count(of.column) - _distinct(of),
        "count({column}) - count(DISTINCT {column})",
        is_distinct=True,
        takes=(APPROXIMATE,),
    ),
    "min": Aggregate(
        lambda of: of.functions.min(of.column), "min({column})", is_value=True, ignores_repeats=True
    ),
    "max": Aggregate(
        lambda of: of.functions.max(of.column), "max({column})", is_value=True, ignores_repeats=True
    ),
    "mean": Aggregate(lambda of: of.functions.avg(of.column), "avg({column})", is_value=True),
    "stddev": Aggregate(lambda of: of.functions.stddev(of.column), "stddev({column})", is_value=True),
    "sum": Aggregate(lambda of: of.functions.sum(of.column), "sum({column})", is_value=True),
    "min_length": Aggregate(
        lambda of: of.functions.min(of.functions.length(of.column)),
        "min(length({column}))",
        ignores_repeats=True,
    ),
    "max_length": Aggregate(
        lambda of: of.functions.max(of.functions.length(of.column)),
        "max(length({column}))",
        ignores_repeats=True,
    ),
    "quantile": Aggregate(
        lambda of: of.functions.percentile_approx(of.column, float(of.check["at"])),
        "percentile_approx({column}, {at})",
        is_value=True,
        needs="at",
    ),
    "accepted_values": _rule(
        lambda of: ~of.column.isin([value for value in of.check["values"] if value is not None]),
        "count_if({column} NOT IN ({values}))",
        "values",
    ),
    "matches": _rule(
        lambda of: ~of.column.rlike(of.check["regex"]), "count_if(NOT {column} RLIKE {regex})", "regex"
    ),
    FRESHNESS: Aggregate(_newest, "max({column})", needs=WITHIN, ignores_repeats=True, takes=(AGAINST,)),
}
"""Check of a column -> its aggregate. A missing value breaks no rule but `null_check`."""

REFERENCES = "references"
"""Check of a column whose values must be in another table's column: not an aggregate of one frame."""

_KEYS_OF_REFERENCE = ("table", "column")

_EVERYWHERE = ("partition_clause", "severity", "name", "description", IF_ABSENT)
_RESULTS = ("result", "success")
"""Keys that Airflow adds after a run."""

_ONE_LIMIT = (("greater_than", "geq_to"), ("less_than", "leq_to"))


def of_column_check(check: str, given: Any) -> dict[str, Any]:
    """Return the dictionary of a check, whose values may be given alone: `{"accepted_values": ["a", "b"]}`.

    Raises ValueError with one sentence if the check is unknown, or its dictionary has no meaning.
    """
    aggregate = AGGREGATES.get(check)
    if aggregate is None and check != REFERENCES:
        names = ", ".join((*AGGREGATES, REFERENCES))
        raise ValueError(f"Invalid column check: {check}. The checks are: {names}.")
    if aggregate is not None and not (aggregate.has_limits or isinstance(given, Mapping)):
        given = {aggregate.needs: given}
    if not isinstance(given, dict):
        raise ValueError(f"{check}: give a dictionary, for example {{'geq_to': 0}}.")
    needs: tuple[str, ...] = _KEYS_OF_REFERENCE
    takes: tuple[str, ...] = (AT_LEAST,)
    if aggregate is not None:
        needs = (aggregate.needs,) if aggregate.needs else ()
        takes = aggregate.takes
    has_limits = aggregate is not None and aggregate.has_limits
    allowed = (*((*LIMITS, "tolerance") if has_limits else ()), *takes, *_EVERYWHERE)
    unknown = [key for key in given if key not in (*allowed, *needs, *_RESULTS)]
    if unknown:
        raise ValueError(
            f"{check}: {unknown[0]!r} is unknown. Its keys are: {', '.join((*needs, *allowed))}."
        )
    missing = [key for key in needs if key not in given]
    if missing:
        raise ValueError(f"{check}: {missing[0]!r} is missing.")
    validate_values(check, given)
    if has_limits:
        validate_limits(check, given)
    return given


def of_column(column: str, checks: Any) -> dict[str, dict[str, Any]]:
    """Return the dictionaries of a column's checks, by the names of the checks.

    What stands beside the checks holds for each of them that has none of its own: `at_least` for the rules,
    `if_absent` for all. Raises ValueError with one sentence.
    """
    if not isinstance(checks, Mapping):
        raise ValueError(f"{column}: give checks by name, for example {{'min': {{'geq_to': 0}}}}.")
    beside = {key: checks[key] for key in (AT_LEAST, IF_ABSENT) if key in checks}
    result = {check: of_column_check(check, given) for check, given in checks.items() if check not in beside}
    rules = [check for check in result if check not in AGGREGATES or AGGREGATES[check].counts_failing_rows]
    for key, takers in ((AT_LEAST, rules), (IF_ABSENT, [*result])):
        if key in beside and not takers:
            raise ValueError(f"{column}: {key} stands beside no check that it could be about.")
        for check in takers if key in beside else ():
            result[check] = of_column_check(check, {key: beside[key], **result[check]})
    return result


def validate_limits(check: str, given: Mapping[str, Any]) -> None:
    """Raise ValueError if the limits of a dictionary contradict each other, or there is none."""
    limits = [key for key in LIMITS if key in given]
    if not limits:
        raise ValueError(f"{check}: give one or more of {', '.join(LIMITS)}.")
    if "equal_to" in limits and len(limits) > 1:
        raise ValueError(f"{check}: equal_to cannot be combined with {limits[1]}.")
    for limit, other in _ONE_LIMIT:
        if limit in limits and other in limits:
            raise ValueError(f"{check}: give one of {limit} and {other}.")
    low = next((key for key in ("greater_than", "geq_to") if key in limits), None)
    high = next((key for key in ("less_than", "leq_to") if key in limits), None)
    if low and high:
        is_closed = (low, high) == ("geq_to", "leq_to")
        if any(isinstance(given[key], str) and "{{" in given[key] for key in (low, high)):
            return  # A template of Airflow.
        try:
            is_empty = given[low] > given[high] or (given[low] == given[high] and not is_closed)
        except TypeError:
            raise ValueError(f"{check}: {low} and {high} cannot be compared.") from None
        if is_empty:
            raise ValueError(f"{check}: nothing is {low} {given[low]} and {high} {given[high]}.")


def validate_severity(check: str, severity: Any) -> None:
    """Raise ValueError if a severity is unknown."""
    if severity not in SEVERITIES:
        raise ValueError(f"{check}: severity is {severity!r}; it must be 'error' or 'warn'.")


def validate_values(check: str, given: Mapping[str, Any]) -> None:
    """Raise ValueError if a value of a dictionary has no meaning; limits are another matter."""
    validate_severity(check, given.get("severity", SEVERITIES[0]))
    validate_share(check, given)
    validate_if_absent(check, given)
    validate_freshness(check, given)
    for key, least, most in (("at", 0, 1), (APPROXIMATE, 0, 0.39), ("tolerance", 0, math.inf)):
        value = given.get(key)
        if value is not None and not (_is_number(value) and least <= value <= most):
            raise ValueError(f"{check}: {key} is {value!r}; it must be a number from {least} to {most}.")
    values = given.get("values")
    if "values" in given and not _has_value(values):
        raise ValueError(f"{check}: values must be a list with at least one value.")
    if "regex" in given and not isinstance(given["regex"], str):
        raise ValueError(f"{check}: regex must be a text.")


def _has_value(values: Any) -> bool:
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        return False
    return any(value is not None for value in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
