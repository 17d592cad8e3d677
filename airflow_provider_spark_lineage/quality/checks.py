"""Checks of columns and of rows: what each measures of a frame, and the assertion that follows from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Protocol

from airflow_provider_spark_lineage.quality.aggregates import (
    AGGREGATES,
    APPROXIMATE,
    Checked,
    of_column_check,
    validate_severity,
)
from airflow_provider_spark_lineage.quality.assertion import (
    ERROR,
    Assertion,
    ColumnMetrics,
    Findings,
    Metrics,
)
from airflow_provider_spark_lineage.quality.comparison import LIMITS, expected_text, has_text, verdict
from airflow_provider_spark_lineage.quality.measuring import Measure, Measured, measured
from airflow_provider_spark_lineage.quality.statements import Kind, filtered, kind_of

ROWS = "rows"
"""Key of the number of all rows, which is always measured."""

_NULLS, _UNIQUE = "null_check", "unique_check"
_CLAUSE = "partition_clause"
_OF_CHECK = "check_partition_clause"
"""Names of a common clause and of a check's own clause in `params`, as in Airflow."""

_STATEMENT = "check_statement"
_KEYS_OF_ROWS = (_STATEMENT, _CLAUSE, "severity", "description", "result", "success")

_PARAMS = (*LIMITS, "tolerance", "at", APPROXIMATE)
_NAMES_WHEN_ZERO = {_NULLS: "not_null", _UNIQUE: "unique"}
"""Column check -> the field's usual name for it if its result must be 0."""


class Check(Protocol):
    """One check of a frame."""

    def measures(self, names: Mapping[str, str]) -> dict[str, Measure]:
        """Return what the check needs, by keys that no other check uses; `names` has the frame's columns.

        `names` maps lower case to the name in the frame's schema.
        """

    @property
    def sql(self) -> str:
        """Return the aggregate as text, for people."""

    def assertion(self, found: Mapping[str, Measured], clause: str) -> Assertion:
        """Return the result; `found` has the values of `measures`, `clause` is that of all checks."""

    def add_metrics(self, metrics: Metrics, found: Mapping[str, Measured]) -> None:
        """Add what was measured of all rows."""

    def counts_failing_rows(self, found: Mapping[str, Measured]) -> bool:
        """Return whether the result is the number of rows that break a rule, or have no value."""

    def stands(self, found: Mapping[str, Measured], *, has_other_rows: bool) -> bool:
        """Return whether the result is right although some rows were measured several times.

        `has_other_rows`: rows that do not belong to the dataset may have been measured besides.
        """

    def rules(self, found: Mapping[str, Measured]) -> dict[str, Callable[[Any], Any]]:
        """Return its rule for each row, by name: makes a column of Spark, true where the rule is kept."""


def run(frame: Any, checks: Sequence[Check], *, clause: str = "", of_dataset: str = "") -> Findings:
    """Return what checks find in the rows of a frame that a clause selects: one query, or a few.

    >>> run(spark.table("orders"), column_checks({"id": {"null_check": {"equal_to": 0}}}))  # doctest: +SKIP
    """
    names = {name.lower(): name for name in frame.columns}
    measures = measures_of(checks, names)
    return findings_of(checks, measured(frame, measures, clause), clause=clause, of_dataset=of_dataset)


def measures_of(checks: Sequence[Check], names: Mapping[str, str]) -> dict[str, Measure]:
    """Return all that checks need, and the number of rows; `names` has the frame's columns."""
    return {
        ROWS: Measure([lambda functions: functions.count(functions.lit(1))]),
        **{key: measure for check in checks for key, measure in check.measures(names).items()},
    }


def skipped(checks: Sequence[Check], problem: str, *, clause: str = "", of_dataset: str = "") -> Findings:
    """Return the findings of checks of a frame that cannot be made, with Spark's error condition."""
    measures = {ROWS, *(key for check in checks for key in check.measures({}))}
    found = dict.fromkeys(measures, Measured(problem=problem))
    findings = findings_of(checks, found, clause=clause, of_dataset=of_dataset)
    return replace(findings, is_skipped=True)


def findings_of(
    checks: Sequence[Check], found: Mapping[str, Measured], *, clause: str, of_dataset: str
) -> Findings:
    """Return the assertions and the metrics that follow from what was measured."""
    metrics = Metrics()
    # Rows of a clause are not the dataset.
    if not clause:
        metrics.rows = found[ROWS].value
        for check in checks:
            check.add_metrics(metrics, found)
    return Findings(tuple(check.assertion(found, clause) for check in checks), metrics, of_dataset)


def query_of(checks: Sequence[Check], source: str, clause: str = "") -> str:
    """Return the query of checks as text, for people; `source` is what stands after FROM."""
    aggregates = ",\n  ".join(["count(*)", *(check.sql for check in checks)])
    return f"SELECT\n  {aggregates}\nFROM {source}" + (f"\nWHERE {clause}" if clause else "")


def column_checks(
    mapping: Mapping[str, Mapping[str, Any]],
    *,
    severity: str = ERROR,
    accept_none: bool = True,
    kept: Callable[[Any], Any] | None = None,
) -> list[Check]:
    """Return the checks of a mapping from columns to checks: `{"id": {"null_check": {"equal_to": 0}}}`.

    `kept` makes a column of Spark that is true for the rows to check; None for all rows.
    Raises ValueError with one sentence for a check that is unknown or has no meaning.
    """
    validate_severity("severity", severity)
    return [
        _ColumnCheck(column, check, of_column_check(check, given), severity, accept_none, kept)
        for column, checks in mapping.items()
        for check, given in checks.items()
    ]


def row_checks(
    mapping: Mapping[str, Any], *, severity: str = ERROR, accept_none: bool = False
) -> list[Check]:
    """Return the checks of a mapping from names to statements: `{"positive": {"check_statement": "a > 0"}}`.

    A statement alone stands for a dictionary with it. Raises ValueError with one sentence.
    """
    validate_severity("severity", severity)
    return [
        _RowCheck(name, of_row_check(name, given), severity, accept_none) for name, given in mapping.items()
    ]


def of_row_check(name: str, given: Any) -> dict[str, Any]:
    """Return the dictionary of a table's check, which may be its statement alone.

    Raises ValueError with one sentence if it has no meaning.
    """
    if isinstance(given, str):
        given = {_STATEMENT: given}
    if not isinstance(given, dict) or not isinstance(given.get(_STATEMENT), str):
        raise ValueError(f"{name}: give {{'{_STATEMENT}': 'amount >= 0'}}, with a statement of your own.")
    unknown = [key for key in given if key not in _KEYS_OF_ROWS]
    if unknown:
        raise ValueError(f"{name}: {unknown[0]!r} is unknown. Its keys are: {', '.join(_KEYS_OF_ROWS[:4])}.")
    validate_severity(name, given.get("severity", ERROR))
    return given


@dataclass(frozen=True)
class _ColumnCheck:
    column: str
    check: str
    given: dict[str, Any]
    severity: str
    accept_none: bool
    kept: Callable[[Any], Any] | None

    _names: dict[str, str] = field(default_factory=dict, init=False, compare=False)

    @property
    def _key(self) -> str:
        return f"column {self.column} {self.check}"

    @property
    def _clause(self) -> str:
        return str(self.given.get(_CLAUSE) or "")

    def measures(self, names: Mapping[str, str]) -> dict[str, Measure]:
        self._names.update(names)
        aggregate = AGGREGATES[self.check]
        is_name = self.column.lower() in names

        def checked(functions: Any) -> Checked:
            column = functions.col(_quoted(self.column)) if is_name else functions.expr(self.column)
            rows = functions.lit(1)
            if self._clause:
                selected = functions.expr(self._clause)
                column, rows = functions.when(selected, column), functions.when(selected, rows)
            if self.kept is not None:
                is_kept = self.kept(functions)
                column, rows = functions.when(is_kept, column), functions.when(is_kept, rows)
            return Checked(functions, column, rows, self.given)

        result = {
            self._key: Measure(
                [lambda functions: aggregate.of(checked(functions))],
                is_of_user=not is_name or bool(self._clause) or aggregate.counts_failing_rows,
                is_distinct=aggregate.is_distinct and APPROXIMATE not in self.given,
            )
        }
        if aggregate.counts_failing_rows:
            result[f"{self._key} rows"] = Measure(
                [lambda functions: functions.count(checked(functions).rows)], is_of_user=bool(self._clause)
            )
        return result

    def assertion(self, found: Mapping[str, Measured], clause: str) -> Assertion:
        aggregate = AGGREGATES[self.check]
        measured = found[self._key]
        limits = {"equal_to": 0} if aggregate.counts_failing_rows else self.given
        decision = verdict(limits, measured.value, accept_none=self.accept_none)
        params = {
            key: self.given[key] for key in (*LIMITS, "tolerance", "at", APPROXIMATE) if key in self.given
        }
        params |= {"check_type": self._type}
        if aggregate.counts_failing_rows:
            params["rows"] = found[f"{self._key} rows"].value
        if measured.value is None and not measured.problem:
            params["accept_none"] = self.accept_none
        not_evaluated = measured.problem or decision.reason
        return Assertion(
            assertion=self._assertion,
            success=decision.success and not measured.problem,
            name=self.given.get("name") or f"{self.column}.{self.check}",
            check_type=self._type,
            column=self._names.get(self.column.lower(), self.column),
            severity=self.given.get("severity", self.severity),
            expected=expected_text(limits),
            actual=None if measured.value is None else str(measured.value),
            content=self._text,
            description=self.given.get("description", ""),
            params=params,
            clauses=_clauses(clause, self._clause),
            not_evaluated=not_evaluated,
            has_text_of_rows=isinstance(measured.value, str),
            has_text_of_author=has_text(self.given),
            value=measured.value,
        )

    def add_metrics(self, metrics: Metrics, found: Mapping[str, Measured]) -> None:
        value = found[self._key].value
        name = self._names.get(self.column.lower())
        if self._clause or name is None or value is None:
            return
        column = metrics.columns.setdefault(name, ColumnMetrics())
        if self.check == _NULLS:
            column.nulls = value
            column.values = None if metrics.rows is None else metrics.rows - value
        elif self.check == "distinct_check" and APPROXIMATE not in self.given:
            column.distinct = value
        elif _is_finite(value) and self.check in ("min", "max", "sum"):
            setattr(column, self.check, float(value))
        elif _is_finite(value) and self.check == "quantile":
            column.quantiles[str(self.given["at"])] = float(value)

    def stands(self, found: Mapping[str, Measured], *, has_other_rows: bool) -> bool:
        aggregate = AGGREGATES[self.check]
        if self.counts_failing_rows(found):
            is_none_allowed = aggregate.counts_failing_rows or self._is_zero
            return found[self._key].value == 0 or (is_none_allowed and not has_other_rows)
        return aggregate.ignores_repeats and not has_other_rows

    def counts_failing_rows(self, found: Mapping[str, Measured]) -> bool:
        return AGGREGATES[self.check].counts_failing_rows or self.check == _NULLS

    def rules(self, found: Mapping[str, Measured]) -> dict[str, Callable[[Any], Any]]:
        return {}

    @property
    def _is_zero(self) -> bool:
        return self.given.get("equal_to") == 0

    @property
    def _assertion(self) -> str:
        return _NAMES_WHEN_ZERO.get(self.check, self.check) if self._is_zero else self.check

    @property
    def _type(self) -> str:
        """Airflow's class of the check."""
        if AGGREGATES[self.check].counts_failing_rows:
            return self.check
        is_range = "equal_to" not in self.given or (self.given.get("tolerance") and not self._is_zero)
        if is_range:
            return "accepted_range"
        return _NAMES_WHEN_ZERO.get(self.check, "accepted_values") if self._is_zero else "accepted_values"

    @property
    def _text(self) -> str:
        return AGGREGATES[self.check].sql.format(
            column=self.column,
            at=self.given.get("at"),
            values=", ".join(map(_literal, self.given.get("values", ()))),
            regex=_literal(self.given.get("regex")),
        )

    @property
    def sql(self) -> str:
        return _with_filter(self._text, self._clause)


@dataclass(frozen=True)
class _RowCheck:
    name: str
    given: dict[str, Any]
    severity: str
    accept_none: bool

    _is_of_rows: list[bool] = field(default_factory=list, init=False, compare=False)
    """For each form of the statement, whether it counts rows that break a rule."""

    @property
    def _key(self) -> str:
        return f"statement {self.name}"

    @property
    def _clause(self) -> str:
        return str(self.given.get(_CLAUSE) or "")

    def measures(self, names: Mapping[str, str]) -> dict[str, Measure]:
        statement, clause = self.given[_STATEMENT], self._clause
        kind = kind_of(statement)
        text = filtered(statement, clause) if clause else statement
        # Without a filter inside, the rows must be chosen before.
        has_own_query = bool(clause) and text is None and kind is not Kind.EACH_ROW
        inside = "" if has_own_query else clause

        def failing_rows(functions: Any) -> Any:
            fails = ~functions.coalesce(functions.expr(statement), functions.lit(False))
            return functions.count_if(functions.expr(inside) & fails if inside else fails)

        def about_all(functions: Any) -> Any:
            holds = functions.expr(statement if has_own_query else text)
            return functions.when(holds, functions.lit(1)).otherwise(functions.lit(0))

        forms = [(failing_rows, True)]
        if text is not None or has_own_query:
            forms.append((about_all, False))
        if kind is Kind.ALL_ROWS:
            forms.reverse()
        self._is_of_rows[:] = [is_of_rows for _, is_of_rows in forms]
        own_clause = clause if has_own_query else ""
        return {
            self._key: Measure([form for form, _ in forms], is_of_user=True, clause=own_clause),
            f"{self._key} rows": Measure(
                [
                    lambda functions: (
                        functions.count_if(functions.expr(inside))
                        if inside
                        else functions.count(functions.lit(1))
                    )
                ],
                is_of_user=bool(clause),
                clause=own_clause,
            ),
        }

    def assertion(self, found: Mapping[str, Measured], clause: str) -> Assertion:
        measured, rows = found[self._key], found[f"{self._key} rows"].value
        is_of_rows = self._is_of_rows[measured.form]
        if is_of_rows:
            success = measured.value == 0 and (bool(rows) or self.accept_none)
            actual = "0 rows" if rows == 0 else str(measured.value)
        else:
            success = measured.value == 1
            actual = str(measured.value)
        params: dict[str, Any] = {"check_type": "expression_is_true"}
        if is_of_rows and not measured.problem:
            params["rows"] = rows
        if rows == 0:
            params["accept_none"] = self.accept_none
        return Assertion(
            assertion=self.name,
            success=success and not measured.problem,
            name=self.name,
            check_type="expression_is_true",
            severity=self.given.get("severity", self.severity),
            expected="0" if is_of_rows else "all truthy",
            actual=None if measured.problem else actual,
            content=self.given[_STATEMENT],
            description=self.given.get("description", ""),
            params=params,
            clauses=_clauses(clause, self._clause),
            not_evaluated=measured.problem,
            value=None if measured.problem else int(success),
        )

    @property
    def sql(self) -> str:
        return _with_filter(self.given[_STATEMENT], self._clause)

    def stands(self, found: Mapping[str, Measured], *, has_other_rows: bool) -> bool:
        is_none = found[self._key].value == 0
        return self.counts_failing_rows(found) and (is_none or not has_other_rows)

    def counts_failing_rows(self, found: Mapping[str, Measured]) -> bool:
        return self._is_of_rows[found[self._key].form]

    def rules(self, found: Mapping[str, Measured]) -> dict[str, Callable[[Any], Any]]:
        if not self.counts_failing_rows(found):
            return {}

        def holds(functions: Any) -> Any:
            keeps = functions.coalesce(functions.expr(self.given[_STATEMENT]), functions.lit(False))
            if not self._clause:
                return keeps
            return keeps | ~functions.coalesce(functions.expr(self._clause), functions.lit(False))

        return {self.name: holds}

    def add_metrics(self, metrics: Metrics, found: Mapping[str, Measured]) -> None:
        """A statement measures nothing that has a name."""


def _clauses(common: str, own: str) -> dict[str, str]:
    return {key: clause for key, clause in ((_CLAUSE, common), (_OF_CHECK, own)) if clause}


def _with_filter(sql: str, clause: str) -> str:
    return f"{sql} FILTER (WHERE {clause})" if clause else sql


def _quoted(name: str) -> str:
    return "`{}`".format(name.replace("`", "``"))


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return "'{}'".format(value.replace("\\", "\\\\").replace("'", "\\'"))
    return str(value)


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and math.isfinite(value)


def failed(assertions: Iterable[Assertion]) -> list[Assertion]:
    """Return the assertions that fail a task."""
    return [assertion for assertion in assertions if assertion.fails_task]
