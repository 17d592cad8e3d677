"""Checks of columns and of rows: what each measures of a frame, and the assertion that follows from it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from airflow_provider_spark_lineage.quality.aggregates import (
    AGGREGATES,
    APPROXIMATE,
    REFERENCES,
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
from airflow_provider_spark_lineage.quality.comparison import (
    LIMITS,
    expected_text,
    has_text,
    is_without_text,
    verdict,
)
from airflow_provider_spark_lineage.quality.measuring import Measure, Measured, functions_of, measured
from airflow_provider_spark_lineage.quality.statements import Kind, columns_of, filtered, kind_of
from airflow_provider_spark_lineage.records.sql_literals import without_sql_literals

ROWS = "rows"
"""Key of the number of all rows, which is always measured."""

_MAY_FAIL = ("mean", "stddev", "sum")
"""Checks that need numbers: a text that is none is an error while the query runs."""

_NULLS, _DISTINCT, _UNIQUE = "null_check", "distinct_check", "unique_check"
_CLAUSE = "partition_clause"
_OF_CHECK = "check_partition_clause"
"""Names of a common clause and of a check's own clause in `params`, as in Airflow."""

_STATEMENT = "check_statement"
_KEYS_OF_ROWS = (_STATEMENT, _CLAUSE, "severity", "description", "result", "success")

_NAME = re.compile(r"[\w.]+")
"""Column, or a field of a struct."""

_PARAMS = (*LIMITS, "tolerance", "at", APPROXIMATE)
MAX_SAMPLED_RULES = 10
"""Limit of the broken rules of which rows are shown: each is a query."""

_NAMES_WHEN_ZERO = {_NULLS: "not_null", _UNIQUE: "unique"}
"""Column check -> the field's usual name for it if its result must be 0."""


Names: TypeAlias = Mapping[str, str]
"""Name of a column in lower case -> its name in the frame's schema."""

Found: TypeAlias = Mapping[str, Measured]
"""Key of a measure -> its value."""


class Check(Protocol):
    """One check of a frame."""

    def measures(self, names: Names) -> dict[str, Measure]:
        """Return what the check needs, by keys that no other check uses."""

    @property
    def sql(self) -> str:
        """Return the aggregate as text, for people."""

    def assertion(self, found: Found, names: Names, clause: str) -> Assertion:
        """Return the result; `found` has the values of `measures`, `clause` is that of all checks."""

    def add_metrics(self, metrics: Metrics, found: Found, names: Names) -> None:
        """Add what was measured of all rows."""

    def counts_failing_rows(self, found: Found) -> bool:
        """Return whether the result is the number of rows that break a rule, or have no value."""

    def stands(self, found: Found, *, has_other_rows: bool) -> bool:
        """Return whether the result is right although some rows were measured several times.

        `has_other_rows`: rows that do not belong to the dataset may have been measured besides.
        """

    def rules(self, found: Found) -> dict[str, Callable[[Any], Any]]:
        """Return its rule for each row, by name: makes a column of Spark, true where the rule is kept."""

    def failing_rows(self, frame: Any, names: Names) -> Any:
        """Return the rows that break the rule, with the columns that it names; None if it is no such rule."""


def run(frame: Any, checks: Sequence[Check], *, clause: str = "", of_dataset: str = "") -> Findings:
    """Return what checks find in the rows of a frame that a clause selects: one query, or a few.

    >>> run(spark.table("orders"), column_checks({"id": {"null_check": {"equal_to": 0}}}))  # doctest: +SKIP
    """
    names = {name.lower(): name for name in frame.columns}
    found = measured(frame, measures_of(checks, names), clause)
    return findings_of(checks, found, names, clause=clause, of_dataset=of_dataset)


def measures_of(checks: Sequence[Check], names: Names) -> dict[str, Measure]:
    """Return all that checks need, and the number of rows."""
    return {
        ROWS: Measure([lambda functions: functions.count(functions.lit(1))]),
        **{key: measure for check in checks for key, measure in check.measures(names).items()},
    }


def skipped(checks: Sequence[Check], problem: str, *, clause: str = "", of_dataset: str = "") -> Findings:
    """Return the findings of checks of a frame that cannot be made, with Spark's error condition."""
    measures = {ROWS, *(key for check in checks for key in check.measures({}))}
    found = dict.fromkeys(measures, Measured(problem=problem))
    findings = findings_of(checks, found, {}, clause=clause, of_dataset=of_dataset)
    return replace(findings, is_skipped=True)


def findings_of(
    checks: Sequence[Check], found: Found, names: Names, *, clause: str, of_dataset: str
) -> Findings:
    """Return the assertions and the metrics that follow from what was measured."""
    metrics = Metrics()
    # Rows of a clause are not the dataset.
    if not clause:
        metrics.rows = found[ROWS].value
        for check in checks:
            check.add_metrics(metrics, found, names)
    assertions = tuple(check.assertion(found, names, clause) for check in checks)
    return Findings(assertions, metrics, of_dataset)


def samples(
    frame: Any, checks: Sequence[Check], assertions: Sequence[Assertion], count: int, *, clause: str = ""
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the name of each broken rule with some rows that break it, for a log: one query for each.

    Ten rules at most. Never for an event: they are rows of the user.
    """
    names = {name.lower(): name for name in frame.columns}
    rows = frame.where(functions_of(frame).expr(clause)) if clause else frame
    broken = [
        (assertion.name, failing)
        for check, assertion in zip(checks, assertions, strict=True)
        if not (assertion.success or assertion.not_evaluated)
        and (failing := check.failing_rows(rows, names)) is not None
    ]
    for name, failing in broken[:MAX_SAMPLED_RULES]:
        yield name, failing.limit(count).collect()


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
    for column, checks in mapping.items() if isinstance(mapping, Mapping) else [("columns", mapping)]:
        if not isinstance(checks, Mapping):
            raise ValueError(f"{column}: give checks by name, for example {{'min': {{'geq_to': 0}}}}.")
    dictionaries = [
        (column, check, of_column_check(check, given))
        for column, checks in mapping.items()
        for check, given in checks.items()
    ]
    return [
        _kind_of(check)(column, check, given, severity, accept_none, kept)
        for column, check, given in dictionaries
    ]


def row_checks(
    mapping: Mapping[str, Any], *, severity: str = ERROR, accept_none: bool = False
) -> list[Check]:
    """Return the checks of a mapping from names to statements: `{"positive": {"check_statement": "a > 0"}}`.

    A statement alone stands for a dictionary with it. Raises ValueError with one sentence.
    """
    validate_severity("severity", severity)
    if not isinstance(mapping, Mapping):
        raise ValueError("give statements by name, for example {'positive': 'amount >= 0'}.")
    return [
        _RowCheck(name, of_row_check(name, given), severity, accept_none) for name, given in mapping.items()
    ]


def assertion_name(check: str, given: Mapping[str, Any]) -> str:
    """Return the name of a column check's assertion: the field's usual one, or that of the check.

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
class _OfColumn:
    """Check of one column, or of an expression."""

    column: str
    check: str
    given: dict[str, Any]
    severity: str
    accept_none: bool
    kept: Callable[[Any], Any] | None

    @property
    def _key(self) -> str:
        return f"column {self.column} {self.check}"

    @property
    def _clause(self) -> str:
        return str(self.given.get(_CLAUSE) or "")

    def _column(self, functions: Any, names: Names) -> Any:
        is_name = self.column.lower() in names
        return functions.col(_quoted(self.column)) if is_name else functions.expr(self.column)

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
            clauses=_clauses(clause, self._clause),
            **result,
        )

    def add_metrics(self, metrics: Metrics, found: Found, names: Names) -> None:
        """Not all checks measure something that has a name."""

    def failing_rows(self, frame: Any, names: Names) -> Any:
        """Not all checks are rules for a row."""

    def counts_failing_rows(self, found: Found) -> bool:
        return True

    def stands(self, found: Found, *, has_other_rows: bool) -> bool:
        return found[self._key].value == 0 or not has_other_rows

    def rules(self, found: Found) -> dict[str, Callable[[Any], Any]]:
        return {}


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
        if self.kept is not None:
            is_kept = self.kept(functions)
            column, rows = functions.when(is_kept, column), functions.when(is_kept, rows)
        return Checked(functions, column, rows, self.given)

    def assertion(self, found: Found, names: Names, clause: str) -> Assertion:
        value, problem = found[self._key].value, found[self._key].problem
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

    def counts_failing_rows(self, found: Found) -> bool:
        return self.check == _NULLS

    def stands(self, found: Found, *, has_other_rows: bool) -> bool:
        if self.check == _NULLS:
            is_none_allowed = self.given.get("equal_to") == 0
            return found[self._key].value == 0 or (is_none_allowed and not has_other_rows)
        return AGGREGATES[self.check].ignores_repeats and not has_other_rows

    def add_metrics(self, metrics: Metrics, found: Found, names: Names) -> None:
        value = found[self._key].value
        name = names.get(self.column.lower())
        if self._clause or name is None or value is None:
            return
        column = metrics.columns.get(name, ColumnMetrics())
        if self.check == _NULLS:
            column.nulls = value
            column.values = None if metrics.rows is None else metrics.rows - value
        elif self.check in (_DISTINCT, _UNIQUE) and APPROXIMATE not in self.given:
            values = found[f"{self._key} values"].value if self.check == _UNIQUE else None
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
        return _with_filter(self._text, self._clause)


@dataclass(frozen=True)
class _RuleCheck(_ValueCheck):
    """Counts the values that break a rule; a missing value breaks none."""

    def measures(self, names: Names) -> dict[str, Measure]:
        (measure,) = super().measures(names).values()
        # The values of a rule may not fit the type of the column.
        measures = {self._key: replace(measure, is_of_user=True)}
        if self._clause or self.kept is not None:
            measures[_rows_of(self._key)] = Measure(
                [lambda functions: functions.count(self._checked(functions, names).rows)],
                is_of_user=bool(self._clause),
            )
        return measures

    def assertion(self, found: Found, names: Names, clause: str) -> Assertion:
        value, problem = found[self._key].value, found[self._key].problem
        return self._assertion(
            names,
            clause,
            assertion=self.check,
            success=value == 0,
            check_type=self.check,
            expected="0",
            actual=None if value is None else str(value),
            content=self._text,
            params={"check_type": self.check, "rows": _rows_in(found, self._key)},
            not_evaluated=problem,
            value=value,
        )

    def counts_failing_rows(self, found: Found) -> bool:
        return True

    def stands(self, found: Found, *, has_other_rows: bool) -> bool:
        return found[self._key].value == 0 or not has_other_rows

    def failing_rows(self, frame: Any, names: Names) -> Any:
        checked = self._checked(functions_of(frame), names)
        breaks = AGGREGATES[self.check].breaks
        return frame.where(breaks(checked)).select(checked.column.alias(self.column)) if breaks else None

    def add_metrics(self, metrics: Metrics, found: Found, names: Names) -> None:
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
        return {
            self._key: Measure(
                [lambda functions: functions.count(functions.lit(1))],
                is_of_user=True,
                rows=lambda frame, functions: self._lost(frame, functions, names),
                query=self._key,
            )
        }

    def _lost(self, frame: Any, functions: Any, names: Names) -> Any:
        if self._clause:
            frame = frame.where(functions.expr(self._clause))
        values = frame.select(self._column(functions, names).alias("value")).where("value IS NOT NULL")
        other = frame.sparkSession.table(self.given["table"])
        known = other.select(functions.col(_quoted(self.given["column"])).alias("known"))
        return values.join(known, functions.col("value") == functions.col("known"), "left_anti")

    def assertion(self, found: Found, names: Names, clause: str) -> Assertion:
        value, problem = found[self._key].value, found[self._key].problem
        return self._assertion(
            names,
            clause,
            assertion=REFERENCES,
            success=value == 0,
            check_type="relationships",
            expected="0",
            actual=None if value is None else str(value),
            content=self.sql,
            params={"check_type": "relationships", **{key: self.given[key] for key in ("table", "column")}},
            not_evaluated=problem,
            value=value,
        )

    @property
    def sql(self) -> str:
        known = f"{self.given['table']}.{self.given['column']}"
        return _with_filter(f"count_if({self.column} NOT IN {known})", self._clause)


def _kind_of(check: str) -> type[_ValueCheck] | type[_ReferenceCheck]:
    if check == REFERENCES:
        return _ReferenceCheck
    return _RuleCheck if AGGREGATES[check].counts_failing_rows else _ValueCheck


@dataclass(frozen=True)
class _RowCheck:
    name: str
    given: dict[str, Any]
    severity: str
    accept_none: bool

    @property
    def _key(self) -> str:
        return f"statement {self.name}"

    @property
    def _statement(self) -> str:
        return str(self.given[_STATEMENT])

    @property
    def _clause(self) -> str:
        return str(self.given.get(_CLAUSE) or "")

    @cached_property
    def _kind(self) -> Kind:
        return kind_of(self._statement)

    @cached_property
    def _filtered(self) -> str | None:
        """The statement about the rows of the clause; None if they must be chosen before."""
        return filtered(self._statement, self._clause) if self._clause else self._statement

    @property
    def _has_own_query(self) -> bool:
        return self._filtered is None and self._kind is not Kind.EACH_ROW

    @cached_property
    def _forms(self) -> Sequence[Callable[[Any], Any]]:
        """What the statement may be for Spark, the likeliest first."""
        forms = (
            [self._failing]
            if self._filtered is None and not self._has_own_query
            else [self._failing, self._holds]
        )
        return forms[::-1] if self._kind is Kind.ALL_ROWS else forms

    def _breaks(self, functions: Any) -> Any:
        fails = ~functions.coalesce(functions.expr(self._statement), functions.lit(False))
        is_chosen = self._has_own_query or not self._clause
        return fails if is_chosen else functions.expr(self._clause) & fails

    def _failing(self, functions: Any) -> Any:
        return functions.count_if(self._breaks(functions))

    def _holds(self, functions: Any) -> Any:
        holds = functions.expr(self._statement if self._filtered is None else self._filtered)
        return functions.when(holds, functions.lit(1)).otherwise(functions.lit(0))

    def _rows(self, functions: Any) -> Any:
        if self._has_own_query:
            return functions.count(functions.lit(1))
        return functions.count_if(functions.expr(self._clause))

    def measures(self, names: Names) -> dict[str, Measure]:
        query, rows = "", None
        if self._has_own_query:
            query = self._clause
            rows = lambda frame, functions: frame.where(functions.expr(self._clause))  # noqa: E731
        measures = {self._key: Measure(self._forms, is_of_user=True, rows=rows, query=query)}
        if self._clause:
            measures[_rows_of(self._key)] = Measure([self._rows], is_of_user=True, rows=rows, query=query)
        return measures

    def assertion(self, found: Found, names: Names, clause: str) -> Assertion:
        value, problem = found[self._key].value, found[self._key].problem
        params: dict[str, Any] = {"check_type": "expression_is_true"}
        is_rule = self.counts_failing_rows(found)
        actual = str(value)
        success = value == 1
        if is_rule:
            rows = _rows_in(found, self._key)
            success = value == 0 and (bool(rows) or self.accept_none)
            params |= {} if problem else {"rows": rows}
            if rows == 0:
                actual = "0 rows"
                params["accept_none"] = self.accept_none
        return Assertion(
            assertion=self.name,
            success=success and not problem,
            name=self.name,
            check_type="expression_is_true",
            severity=self.given.get("severity", self.severity),
            expected="0" if is_rule else "all truthy",
            actual=None if problem else actual,
            content=self._statement,
            description=self.given.get("description", ""),
            params=params,
            clauses=_clauses(clause, self._clause),
            not_evaluated=problem,
            value=None if problem else int(success),
        )

    def counts_failing_rows(self, found: Found) -> bool:
        return self._forms[found[self._key].form] == self._failing

    def stands(self, found: Found, *, has_other_rows: bool) -> bool:
        is_none = found[self._key].value == 0
        return self.counts_failing_rows(found) and (is_none or not has_other_rows)

    def rules(self, found: Found) -> dict[str, Callable[[Any], Any]]:
        if not self.counts_failing_rows(found):
            return {}

        def holds(functions: Any) -> Any:
            keeps = functions.coalesce(functions.expr(self._statement), functions.lit(False))
            if not self._clause:
                return keeps
            return keeps | ~functions.coalesce(functions.expr(self._clause), functions.lit(False))

        return {self.name: holds}

    def failing_rows(self, frame: Any, names: Names) -> Any:
        if self._kind is Kind.ALL_ROWS:
            return None
        functions = functions_of(frame)
        named = [names[name] for name in columns_of(self._statement) if name in names]
        rows = frame.where(functions.expr(self._clause)) if self._clause else frame
        return rows.where(self._breaks(functions)).select(*map(_quoted, named)) if named else None

    @property
    def sql(self) -> str:
        return _with_filter(self._statement, self._clause)

    def add_metrics(self, metrics: Metrics, found: Found, names: Names) -> None:
        """A statement measures nothing that has a name."""


def _rows_of(key: str) -> str:
    """Return the key of the number of rows of a check that has fewer than all."""
    return f"{key} rows"


def _rows_in(found: Found, key: str) -> Any:
    """Return the number of rows that a check is about."""
    return found.get(_rows_of(key), found[ROWS]).value


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
