"""A key of several columns, whose values no two rows share: `{"unique": ["country", "id"]}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from airflow_provider_spark_lineage.spark.checks.absent import may_be_absent
from airflow_provider_spark_lineage.spark.checks.aggregates import (
    AGGREGATES,
    APPROXIMATE,
    Checked,
    validate_limits,
    validate_values,
)
from airflow_provider_spark_lineage.spark.checks.assertion import Assertion
from airflow_provider_spark_lineage.spark.checks.checks import Measurements, Names, quoted, with_filter
from airflow_provider_spark_lineage.spark.checks.comparison import LIMITS, expected_text, verdict
from airflow_provider_spark_lineage.spark.checks.measuring import Measure, functions_of
from airflow_provider_spark_lineage.spark.checks.named_checks import OF_EVERY_CHECK, NamedCheck

UNIQUE = "unique"
_COUNT = "rows_with_this_key"
KEYS_OF_UNIQUE = (UNIQUE, *LIMITS, "tolerance", APPROXIMATE, *OF_EVERY_CHECK)


def validate_key(name: str, given: Mapping[str, Any]) -> None:
    """Raise ValueError if the columns of a key are not a list of different names, or its limits are wrong."""
    columns = given[UNIQUE]
    is_list = isinstance(columns, (list, tuple)) and all(
        isinstance(column, str) and column.strip() for column in columns
    )
    if not is_list or not columns:
        raise ValueError(f"{name}: {UNIQUE} must be a list of columns, ['country', 'id'] for example.")
    if len({column.lower() for column in columns}) < len(columns):
        raise ValueError(f"{name}: {UNIQUE} has a column twice: {', '.join(columns)}.")
    validate_values(name, given)
    has_limits = any(key in given for key in LIMITS)
    if has_limits:
        validate_limits(name, given)
    elif APPROXIMATE in given:
        raise ValueError(
            f"{name}: with {APPROXIMATE!r} the number of repeated keys is an estimate, which may not be 0. "
            "Add limits with a margin, 'leq_to': 50 and 'geq_to': -50 for example."
        )


class KeyCheck(NamedCheck):
    """Counts the rows whose key another row has; a row with a missing part of the key is not compared."""

    @property
    def _key(self) -> str:
        return f"key {self.name}"

    @property
    def _columns(self) -> list[str]:
        return [*self.given[UNIQUE]]

    @property
    def _limits(self) -> dict[str, Any]:
        limits = {key: self.given[key] for key in (*LIMITS, "tolerance") if key in self.given}
        return limits or {"equal_to": 0}

    def _parts(self, functions: Any, names: Names) -> list[Any]:
        return [
            functions.col(quoted(column)) if column.lower() in names else functions.expr(column)
            for column in self._columns
        ]

    def _value(self, functions: Any, names: Names) -> Any:
        """Return the key as one column of Spark; NULL where it is not compared."""
        parts = self._parts(functions, names)
        conditions = [part.isNotNull() for part in parts]
        if self._clause:
            conditions.append(functions.expr(self._clause))
        key = functions.struct(*(part.alias(f"part_{at}") for at, part in enumerate(parts)))
        return functions.when(reduce(lambda left, right: left & right, conditions), key)

    def measures(self, names: Names) -> dict[str, Measure]:
        """Return the number of rows that repeat a key."""

        def repeated(functions: Any) -> Any:
            key = self._value(functions, names)
            return AGGREGATES["unique_check"].of(Checked(functions, key, key, self.given))

        return {self._key: Measure([repeated], True, is_distinct=APPROXIMATE not in self.given)}

    def assertion(self, measurements: Measurements, names: Names, clause: str) -> Assertion:
        """Return the number against the limits, 0 if there are none."""
        value, problem = measurements[self._key].value, measurements[self._key].problem
        decision = verdict(self._limits, value, accept_none=True)
        numbers = {key: self.given[key] for key in (*LIMITS, "tolerance", APPROXIMATE) if key in self.given}
        return self._assertion(
            clause,
            success=decision.success and not problem,
            check_type=UNIQUE,
            expected=expected_text(self._limits),
            actual=None if value is None else str(value),
            content=self._text,
            params={**numbers, "check_type": UNIQUE},
            not_evaluated=problem or decision.reason,
            value=value,
        )

    def absent(self, names: Names) -> list[str]:
        """Return the parts of the key that may be absent."""
        return may_be_absent(self.given, self._columns, names)

    @property
    def key_columns(self) -> Sequence[str]:
        """The columns that the author says are a key."""
        return self._columns

    def failing_rows(self, frame: Any, names: Names, key: Sequence[str] = ()) -> Any:
        """Return each key that several rows have, with their number."""
        functions = functions_of(frame)
        rows = frame.where(self._value(functions, names).isNotNull())
        parts = [
            part.alias(column)
            for part, column in zip(self._parts(functions, names), self._columns, strict=True)
        ]
        return (
            rows.groupBy(*parts).agg(functions.count(functions.lit(1)).alias(_COUNT)).where(f"{_COUNT} > 1")
        )

    @property
    def _text(self) -> str:
        columns = ", ".join(self._columns)
        return f"count({columns}) - count(DISTINCT {columns})"

    @property
    def sql(self) -> str:
        """Return the aggregate for people."""
        return with_filter(self._text, self._clause)
