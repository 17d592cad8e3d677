"""Checks of columns: what each measures of a frame, and the assertion that follows from it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from airflow_provider_spark_lineage.spark.checks.absent import may_be_absent
from airflow_provider_spark_lineage.spark.checks.aggregates import (
    AGGREGATES,
    APPROXIMATE,
    FRESHNESS,
    REFERENCES,
    Checked,
    of_column,
    validate_severity,
)
from airflow_provider_spark_lineage.spark.checks.assertion import ERROR, Assertion, ColumnMetrics, Metrics
from airflow_provider_spark_lineage.spark.checks.checks import (
    CLAUSE,
    Check,
    Measurements,
    Names,
    clauses_of,
    problem_of,
    quoted,
    rows_in,
    rows_of,
    with_filter,
)
from airflow_provider_spark_lineage.spark.checks.comparison import (
    LIMITS,
    expected_text,
    has_text,
    is_without_text,
    verdict,
)
from airflow_provider_spark_lineage.spark.checks.freshness import Moment, age, now
from airflow_provider_spark_lineage.spark.checks.measuring import Measure, functions_of
from airflow_provider_spark_lineage.spark.checks.shares import AT_LEAST, outcome
from airflow_provider_spark_lineage.spark.records.sql_literals import without_sql_literals

_MAY_FAIL = ("mean", "stddev", "sum", FRESHNESS)
"""Checks that need numbers or times: a text that is none is an error while the query runs."""

_NULLS, _DISTINCT, _UNIQUE = "null_check", "distinct_check", "unique_check"

_NAME = re.compile(r"[\w.]+")
"""Column, or a field of a struct."""

_PARAMS = (*LIMITS, "tolerance", "at", APPROXIMATE)

_NAMES_WHEN_ZERO = {_NULLS: "not_null", _UNIQUE: "unique"}
"""Column check -> the field's usual name for it if its result must be 0."""


def column_checks(
    mapping: Mapping[str, Mapping[str, Any]],
    *,
    severity: str = ERROR,
    accept_none: bool = True,
    chosen: Callable[[Any], Any] | None = None,
    moment: Moment | None = None,
) -> list[Check]:
    """Return the checks of a mapping from columns to checks: `{"id": {"null_check": {"equal_to": 0}}}`.

    `chosen` makes a column of Spark that is true for the rows to check; None for all rows. `moment` is the
    time of the run, for the age of values; None for now.
    Raises ValueError with one sentence for a check that is unknown or has no meaning.
    """
    validate_severity("severity", severity)
    columns = mapping.items() if isinstance(mapping, Mapping) else [("columns", mapping)]
    return [
        _kind_of(check)(column, check, given, severity, accept_none, chosen, moment or now())
        for column, checks in columns
        for check, given in of_column(column, checks).items()
    ]


def assertion_name(check: str, given: Mapping[str, Any]) -> str:
    """Return the name of a column check's assertion: the field's usual one, or the check's.

    >>> assertion_name("null_check", {"equal_to": 0}), assertion_name("null_check", {"leq_to": 5})
    ('not_null', 'null_check')
    """
    return _NAMES_WHEN_ZERO.get(check, check) if given.get("equal_to") == 0 else check


def type_of(check: str, given: Mapping[str, Any]) -> str:
    """Return Airflow's class of a column check.

    >>> type_of("min", {"geq_to": 0}), type_of("unique_check", {"equal_to": 0})
    ('accepted_range', 'unique')
    """
    expected = given.get("equal_to")
    if "equal_to" not in given or (given.get("tolerance") and expected != 0):
        return "accepted_range"
    return _NAMES_WHEN_ZERO.get(check, "accepted_values") if expected == 0 else "accepted_values"


@dataclass(frozen=True)
class _OfColumn:
    """Check of one column, or of an expression."""

    column: str
    check: str
    given: dict[str, Any]
    severity: str
    accept_none: bool
    chosen: Callable[[Any], Any] | None
    moment: Moment

    @property
    def _key(self) -> str:
        return f"column {self.column} {self.check}"

    @property
    def _clause(self) -> str:
        return str(self.given.get(CLAUSE) or "")

    def _column(self, functions: Any, names: Names) -> Any:
        is_name = self.column.lower() in names
        return functions.col(quoted(self.column)) if is_name else functions.expr(self.column)

    def _assertion(self, names: Names, clause: str, *, assertion: str, **result: Any) -> Assertion:
        # A column that is missing has its name; an expression is no column of the dataset.
        is_name = self.column.lower() in names or _NAME.fullmatch(self.column) is not None
        label = self.column if is_name else without_sql_literals(self.column, "spark")
        return Assertion(
            assertion=assertion if is_name else f"{assertion}({label})",
            name=self.given.get("name") or f"{label}.{self.check}",
            column=names.get(self.column.lower(), self.column) if is_name else "",
            severity=self.given.get("severity", self.severity),
            description=self.given.get("description", ""),
            clauses=clauses_of(clause, self._clause),
            **result,
        )

    def add_metrics(self, metrics: Metrics, measurements: Measurements, names: Names) -> None:
        """Not all checks measure something that has a name."""

    @property
    def key_columns(self) -> Sequence[str]:
        """The column, if the check is that it is unique."""
        return (self.column,) if self.check == "unique_check" else ()

    def failing_rows(self, frame: Any, names: Names, key: Sequence[str] = ()) -> Any:
        """Not all checks are rules for a row."""

    def counts_failing_rows(self, values: Measurements) -> bool:
        return True

    def stands(self, measurements: Measurements, *, has_other_rows: bool) -> bool:
        return measurements[self._key].value == 0 or not has_other_rows

    def rules(self, measurements: Measurements) -> dict[str, Callable[[Any], Any]]:
        return {}

    def absent(self, names: Names) -> list[str]:
        return may_be_absent(self.given, [self.column], names)


@dataclass(frozen=True)
class _ValueCheck(_OfColumn):
    """Compares an aggregate with limits."""

    def measures(self, names: Names) -> dict[str, Measure]:
        is_of_user = self.check in _MAY_FAIL or self.column.lower() not in names or bool(self._clause)
        measures = {
            self._key: Measure(
                [lambda functions: AGGREGATES[self.check].of(self._checked(functions, names))],
                is_of_user,
                is_distinct=AGGREGATES[self.check].is_distinct and APPROXIMATE not in self.given,
            )
        }
        if self.check == _UNIQUE:
            values = Measure(
                [lambda functions: functions.count(self._checked(functions, names).column)], is_of_user
            )
            measures[f"{self._key} values"] = values
        return measures

    def _checked(self, functions: Any, names: Names) -> Checked:
        column, rows = self._column(functions, names), functions.lit(1)
        if self._clause:
            selected = functions.expr(self._clause)
            column, rows = functions.when(selected, column), functions.when(selected, rows)
        if self.chosen is not None:
            is_kept = self.chosen(functions)
            column, rows = functions.when(is_kept, column), functions.when(is_kept, rows)
        return Checked(functions, column, rows, self.given)

    def assertion(self, measurements: Measurements, names: Names, clause: str) -> Assertion:
        value, problem = measurements[self._key].value, measurements[self._key].problem
        decision = verdict(self.given, value, accept_none=self.accept_none)
        params = {key: self.given[key] for key in _PARAMS if key in self.given}
        if value is None and not problem:
            params["accept_none"] = self.accept_none
        return self._assertion(
            names,
            clause,
            assertion=assertion_name(self.check, self.given),
            success=decision.success and not problem,
            check_type=self._type,
            expected=expected_text(self.given),
            actual=None if value is None else str(value),
            content=self._text,
            params={**params, "check_type": self._type},
            not_evaluated=problem or decision.reason,
            has_text_of_rows=not is_without_text(value),
            has_text_of_author=has_text(self.given),
            value=value,
        )

    def counts_failing_rows(self, values: Measurements) -> bool:
        return self.check == _NULLS

    def stands(self, measurements: Measurements, *, has_other_rows: bool) -> bool:
        if self.check == _NULLS:
            is_none_allowed = self.given.get("equal_to") == 0
            return measurements[self._key].value == 0 or (is_none_allowed and not has_other_rows)
        return AGGREGATES[self.check].ignores_repeats and not has_other_rows

    def add_metrics(self, metrics: Metrics, measurements: Measurements, names: Names) -> None:
        value = measurements[self._key].value
        name = names.get(self.column.lower())
        if self._clause or name is None or value is None:
            return
        column = metrics.columns.get(name, ColumnMetrics())
        if self.check == _NULLS:
            column.nulls = value
            column.values = None if metrics.rows is None else metrics.rows - value
        elif self.check in (_DISTINCT, _UNIQUE) and APPROXIMATE not in self.given:
            values = measurements[f"{self._key} values"].value if self.check == _UNIQUE else None
            column.distinct = value if self.check == _DISTINCT or values is None else values - value
        elif _is_finite(value) and self.check in ("min", "max", "sum"):
            setattr(column, self.check, float(value))
        elif _is_finite(value) and self.check == "quantile":
            column.quantiles[str(self.given["at"])] = float(value)
        else:
            return
        metrics.columns[name] = column

    @property
    def _type(self) -> str:
        """Airflow's class of the check."""
        return type_of(self.check, self.given)

    @property
    def _text(self) -> str:
        return AGGREGATES[self.check].sql.format(column=self.column, at=self.given.get("at"))

    @property
    def sql(self) -> str:
        return with_filter(self._text, self._clause)


@dataclass(frozen=True)
class _RuleCheck(_ValueCheck):
    """Counts the values that break a rule; a missing value breaks none."""

    def measures(self, names: Names) -> dict[str, Measure]:
        (measure,) = super().measures(names).values()
        # The values of a rule may not fit the type of the column.
        measures = {self._key: replace(measure, is_of_user=True)}
        if AT_LEAST in self.given:
            # A missing value is neither good nor bad.
            measures[rows_of(self._key)] = replace(
                measures[self._key],
                forms=[lambda functions: functions.count(self._checked(functions, names).column)],
            )
        elif self._clause or self.chosen is not None:
            measures[rows_of(self._key)] = Measure(
                [lambda functions: functions.count(self._checked(functions, names).rows)],
                is_of_user=bool(self._clause),
            )
        return measures

    def assertion(self, measurements: Measurements, names: Names, clause: str) -> Assertion:
        rows, problem = rows_in(measurements, self._key), problem_of(measurements, self._key)
        result = outcome(self.given, measurements[self._key].value, rows)
        return self._assertion(
            names,
            clause,
            assertion=self.check,
            success=result.success and not problem,
            check_type=self.check,
            expected=result.expected,
            actual=result.actual,
            content=self._text,
            params={**result.params, "check_type": self.check, "rows": rows},
            not_evaluated=problem,
            value=result.value,
        )

    def counts_failing_rows(self, values: Measurements) -> bool:
        return True

    def stands(self, measurements: Measurements, *, has_other_rows: bool) -> bool:
        # A share of a part may be any, also of rows that were counted twice; none of none stays none.
        return measurements[self._key].value == 0 or not (has_other_rows or AT_LEAST in self.given)

    def failing_rows(self, frame: Any, names: Names, key: Sequence[str] = ()) -> Any:
        checked = self._checked(functions_of(frame), names)
        breaks = AGGREGATES[self.check].breaks
        others = [quoted(each) for each in key if each.lower() != self.column.lower()]
        shown = [*others, checked.column.alias(self.column)]
        return frame.where(breaks(checked)).select(*shown) if breaks else None

    def add_metrics(self, metrics: Metrics, measurements: Measurements, names: Names) -> None:
        """The number of values that break a rule has no name in the metrics."""

    @property
    def _text(self) -> str:
        return AGGREGATES[self.check].sql.format(
            column=self.column,
            values=", ".join(map(_literal, self.given.get("values", ()))),
            regex=_literal(self.given.get("regex")),
        )


@dataclass(frozen=True)
class _ReferenceCheck(_OfColumn):
    """Counts the rows whose value is not in a column of another table: a query of its own."""

    def measures(self, names: Names) -> dict[str, Measure]:
        measures = {
            self._key: Measure(
                [lambda functions: functions.count(functions.lit(1))],
                is_of_user=True,
                rows=lambda frame, functions: self._lost(frame, functions, names),
                query=self._key,
            )
        }
        if AT_LEAST in self.given:
            measures[rows_of(self._key)] = Measure(
                [lambda functions: functions.count(self._value(functions, names))], is_of_user=True
            )
        return measures

    def _value(self, functions: Any, names: Names) -> Any:
        value = self._column(functions, names)
        return functions.when(functions.expr(self._clause), value) if self._clause else value

    def _lost(self, frame: Any, functions: Any, names: Names) -> Any:
        if self._clause:
            frame = frame.where(functions.expr(self._clause))
        values = frame.select(self._column(functions, names).alias("value")).where("value IS NOT NULL")
        other = frame.sparkSession.table(self.given["table"])
        known = other.select(functions.col(quoted(self.given["column"])).alias("known"))
        return values.join(known, functions.col("value") == functions.col("known"), "left_anti")

    def assertion(self, measurements: Measurements, names: Names, clause: str) -> Assertion:
        rows, problem = rows_in(measurements, self._key), problem_of(measurements, self._key)
        result = outcome(self.given, measurements[self._key].value, rows)
        params = {"check_type": "relationships", **{key: self.given[key] for key in ("table", "column")}}
        return self._assertion(
            names,
            clause,
            assertion=REFERENCES,
            success=result.success and not problem,
            check_type="relationships",
            expected=result.expected,
            actual=result.actual,
            content=self.sql,
            params={**params, **result.params, **({"rows": rows} if AT_LEAST in self.given else {})},
            not_evaluated=problem,
            value=result.value,
        )

    @property
    def sql(self) -> str:
        known = f"{self.given['table']}.{self.given['column']}"
        return with_filter(f"count_if({self.column} NOT IN {known})", self._clause)


@dataclass(frozen=True)
class _FreshnessCheck(_ValueCheck):
    """Compares the newest value with the moment of the run; without a value it fails."""

    def assertion(self, measurements: Measurements, names: Names, clause: str) -> Assertion:
        newest_us, problem = measurements[self._key].value, measurements[self._key].problem
        result = age(self.check, self.given, newest_us, self.moment)
        return self._assertion(
            names,
            clause,
            assertion=self.check,
            success=result.success and not problem,
            check_type=self.check,
            expected=result.expected,
            actual=None if problem else result.actual,
            content=self._text,
            params={**result.params, "check_type": self.check},
            not_evaluated=problem,
            value=None if problem else result.actual,
        )

    def add_metrics(self, metrics: Metrics, measurements: Measurements, names: Names) -> None:
        """A time has no name in the metrics."""


def _kind_of(check: str) -> type[_ValueCheck] | type[_ReferenceCheck]:
    if check == REFERENCES:
        return _ReferenceCheck
    if check == FRESHNESS:
        return _FreshnessCheck
    return _RuleCheck if AGGREGATES[check].counts_failing_rows else _ValueCheck


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return "'{}'".format(value.replace("\\", "\\\\").replace("'", "\\'"))
    return str(value)


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and math.isfinite(value)
