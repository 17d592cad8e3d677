"""Checks of rows and tables by statements of the user: rules for each row, or about all rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from airflow_provider_spark_lineage.quality.aggregates import validate_severity
from airflow_provider_spark_lineage.quality.assertion import ERROR, Assertion, Metrics
from airflow_provider_spark_lineage.quality.checks import (
    CLAUSE,
    Check,
    Found,
    Names,
    clauses_of,
    quoted,
    rows_in,
    rows_of,
    with_filter,
)
from airflow_provider_spark_lineage.quality.measuring import Measure, functions_of
from airflow_provider_spark_lineage.quality.statements import Kind, columns_of, filtered, kind_of

_STATEMENT = "check_statement"
_KEYS = (_STATEMENT, CLAUSE, "severity", "description", "result", "success")


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


def of_row_check(name: str, given: Any) -> dict[str, Any]:
    """Return the dictionary of a table's check, which may be its statement alone.

    Raises ValueError with one sentence if it has no meaning.
    """
    if isinstance(given, str):
        given = {_STATEMENT: given}
    if not isinstance(given, dict) or not isinstance(given.get(_STATEMENT), str):
        raise ValueError(f"{name}: give {{'{_STATEMENT}': 'amount >= 0'}}, with a statement of your own.")
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        raise ValueError(f"{name}: {unknown[0]!r} is unknown. Its keys are: {', '.join(_KEYS[:4])}.")
    validate_severity(name, given.get("severity", ERROR))
    return given


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
        return str(self.given.get(CLAUSE) or "")

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
            measures[rows_of(self._key)] = Measure([self._rows], is_of_user=True, rows=rows, query=query)
        return measures

    def assertion(self, found: Found, names: Names, clause: str) -> Assertion:
        value, problem = found[self._key].value, found[self._key].problem
        params: dict[str, Any] = {"check_type": "expression_is_true"}
        is_rule = self.counts_failing_rows(found)
        actual = str(value)
        success = value == 1
        if is_rule:
            rows = rows_in(found, self._key)
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
            clauses=clauses_of(clause, self._clause),
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
        return rows.where(self._breaks(functions)).select(*map(quoted, named)) if named else None

    @property
    def sql(self) -> str:
        return with_filter(self._statement, self._clause)

    def add_metrics(self, metrics: Metrics, found: Found, names: Names) -> None:
        """A statement measures nothing that has a name."""
