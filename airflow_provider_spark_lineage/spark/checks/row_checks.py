"""Checks of rows and tables by names of the author: statements, keys, and the columns that must be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.spark.checks.absent import may_be_absent, validate_if_absent
from airflow_provider_spark_lineage.spark.checks.aggregates import validate_severity
from airflow_provider_spark_lineage.spark.checks.assertion import ERROR, Assertion
from airflow_provider_spark_lineage.spark.checks.checks import (
    Check,
    Measurements,
    Names,
    problem_of,
    quoted,
    rows_in,
    rows_of,
    with_filter,
)
from airflow_provider_spark_lineage.spark.checks.comparison import is_of_numbers, is_without_text
from airflow_provider_spark_lineage.spark.checks.expected_columns import (
    COLUMNS,
    KEYS_OF_COLUMNS,
    ColumnsCheck,
    validate_columns,
)
from airflow_provider_spark_lineage.spark.checks.keys import KEYS_OF_UNIQUE, UNIQUE, KeyCheck, validate_key
from airflow_provider_spark_lineage.spark.checks.measuring import Measure, functions_of
from airflow_provider_spark_lineage.spark.checks.named_checks import OF_EVERY_CHECK, NamedCheck
from airflow_provider_spark_lineage.spark.checks.shares import AT_LEAST, outcome, validate_share
from airflow_provider_spark_lineage.spark.checks.statements import (
    Comparison,
    StatementKind,
    columns_of,
    comparison_of,
    filtered,
    kind_of,
)

_STATEMENT = "check_statement"
_RESULTS = ("result", "success")
"""Keys that Airflow adds after a run."""


def row_checks(
    mapping: Mapping[str, Any], *, severity: str = ERROR, accept_none: bool = False
) -> list[Check]:
    """Return the checks of a mapping from names to statements: `{"positive": {"check_statement": "a > 0"}}`.

    A statement alone is short for a dictionary with it. In place of a statement, a dictionary may have the
    columns of a key (`unique`), or the columns that the frame must have (`columns`). Raises ValueError with
    one sentence.
    """
    validate_severity("severity", severity)
    if not isinstance(mapping, Mapping):
        raise ValueError("give statements by name, for example {'positive': 'amount >= 0'}.")
    checks = {name: of_row_check(name, given) for name, given in mapping.items()}
    return [
        _KINDS[_kind_of_check(given)].check(name, given, severity, accept_none)
        for name, given in checks.items()
    ]


def of_row_check(name: str, given: Any) -> dict[str, Any]:
    """Return the dictionary of a table's check, which may be its statement alone.

    Raises ValueError with one sentence if it has no meaning.
    """
    checked: dict[str, Any] = {_STATEMENT: given} if isinstance(given, str) else given
    kind = _kind_of_check(checked) if isinstance(checked, dict) else ""
    if not kind:
        unknown = [key for key in checked if key not in _KEYS] if isinstance(checked, dict) else []
        raise ValueError(
            f"{name}: {unknown[0]!r} is unknown. Give one of {', '.join(_KINDS)}."
            if unknown
            else f"{name}: give {{'{_STATEMENT}': 'amount >= 0'}}, with a statement of your own."
        )
    keys = _KINDS[kind].keys
    unknown = [key for key in checked if key not in (*keys, *_RESULTS)]
    if unknown:
        raise ValueError(f"{name}: {unknown[0]!r} is unknown. Its keys are: {', '.join(keys)}.")
    validate_severity(name, checked.get("severity", ERROR))
    validate_if_absent(name, checked)
    _KINDS[kind].validate(name, checked)
    return checked


def _kind_of_check(given: Mapping[str, Any]) -> str:
    """Return the key of `_KINDS` that a dictionary has; empty if it has none."""
    return next((key for key in _KINDS if key in given), "")


def _validate_statement(name: str, given: Mapping[str, Any]) -> None:
    if not isinstance(given[_STATEMENT], str):
        raise ValueError(f"{name}: give {{'{_STATEMENT}': 'amount >= 0'}}, with a statement of your own.")
    validate_share(name, given)
    if AT_LEAST in given and kind_of(given[_STATEMENT]) is StatementKind.ALL_ROWS:
        raise ValueError(
            f"{name}: {AT_LEAST} is a share of rows, so it needs a statement about one row, 'amount >= 0' "
            "for example; this one has an aggregate."
        )


@dataclass(frozen=True)
class _RowCheck(NamedCheck):
    """A statement of the author: a rule for each row, or about all rows."""

    @property
    def _key(self) -> str:
        return f"statement {self.name}"

    @property
    def _compared_key(self) -> str:
        return f"compared {self.name}"

    @property
    def _statement(self) -> str:
        return str(self.given[_STATEMENT])

    @cached_property
    def _kind(self) -> StatementKind:
        return kind_of(self._statement)

    @cached_property
    def _filtered(self) -> str | None:
        """The statement about the rows of the clause; None if they must be chosen before."""
        return filtered(self._statement, self._clause) if self._clause else self._statement

    @property
    def _has_own_query(self) -> bool:
        return self._filtered is None and self._kind is not StatementKind.EACH_ROW

    @cached_property
    def _forms(self) -> Sequence[Callable[[Any], Any]]:
        """Readings of the statement by Spark, the likeliest first."""
        if AT_LEAST in self.given:
            return [self._failing]
        forms = (
            [self._failing]
            if self._filtered is None and not self._has_own_query
            else [self._failing, self._holds]
        )
        return forms[::-1] if self._kind is StatementKind.ALL_ROWS else forms

    def _breaks(self, functions: Any) -> Any:
        fails = ~functions.coalesce(functions.expr(self._statement), functions.lit(False))
        is_chosen = self._has_own_query or not self._clause
        return fails if is_chosen else functions.expr(self._clause) & fails

    def _failing(self, functions: Any) -> Any:
        return functions.count_if(self._breaks(functions))

    def _holds(self, functions: Any) -> Any:
        holds = functions.expr(self._statement if self._filtered is None else self._filtered)
        return functions.when(holds, functions.lit(1)).otherwise(functions.lit(0))

    @cached_property
    def _comparison(self) -> Comparison | None:
        """The aggregate and the value that the statement compares; None if it is another one."""
        return (
            comparison_of(self._filtered or self._statement) if self._kind is StatementKind.ALL_ROWS else None
        )

    def _compared(self, functions: Any) -> Any:
        return functions.expr(self._comparison.aggregate if self._comparison else "NULL")

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
        if self._comparison:
            # The text is sqlglot's: without a value, if Spark does not accept it.
            forms = [self._compared, lambda functions: functions.lit(None)]
            measures[self._compared_key] = Measure(forms, is_of_user=True, rows=rows, query=query)
        if self._clause:
            measures[rows_of(self._key)] = Measure([self._rows], is_of_user=True, rows=rows, query=query)
        return measures

    def assertion(self, measurements: Measurements, names: Names, clause: str) -> Assertion:
        value, problem = measurements[self._key].value, problem_of(measurements, self._key)
        params: dict[str, Any] = {"check_type": "expression_is_true"}
        is_rule = self.counts_failing_rows(measurements)
        success, expected, actual = value == 1, "all truthy", str(value)
        if is_rule:
            rows = rows_in(measurements, self._key)
            result = outcome(self.given, value, rows)
            success = result.success and (bool(rows) or self.accept_none)
            expected, actual = result.expected, str(result.actual)
            params |= result.params
            params |= {} if problem else {"rows": rows}
            if rows == 0:
                actual = "0 rows"
                params["accept_none"] = self.accept_none
        compared = measurements[self._compared_key].value if self._comparison and not is_rule else None
        is_compared = compared is not None
        if self._comparison and is_compared:
            expected, actual = self._comparison.expected, str(compared)
        return self._assertion(
            clause,
            success=success and not problem,
            check_type="expression_is_true",
            expected=expected,
            actual=None if problem else actual,
            content=self._statement,
            params=params,
            not_evaluated=problem,
            has_text_of_rows=not is_without_text(compared),
            has_text_of_author=is_compared and not is_of_numbers(expected),
            has_statement_in_limits=is_compared,
            value=None if problem else int(success),
        )

    def counts_failing_rows(self, values: Measurements) -> bool:
        return self._forms[values[self._key].form] == self._failing

    def stands(self, measurements: Measurements, *, has_other_rows: bool) -> bool:
        # A share of a part may be any, also of rows that were counted twice; none of none stays none.
        is_none = measurements[self._key].value == 0
        needs_all = has_other_rows or AT_LEAST in self.given
        return self.counts_failing_rows(measurements) and (is_none or not needs_all)

    def absent(self, names: Names) -> list[str]:
        return may_be_absent(self.given, [self._statement], names)

    def rules(self, measurements: Measurements) -> dict[str, Callable[[Any], Any]]:
        if not self.counts_failing_rows(measurements):
            return {}

        def holds(functions: Any) -> Any:
            keeps = functions.coalesce(functions.expr(self._statement), functions.lit(False))
            if not self._clause:
                return keeps
            return keeps | ~functions.coalesce(functions.expr(self._clause), functions.lit(False))

        return {self.name: holds}

    def failing_rows(self, frame: Any, names: Names, key: Sequence[str] = ()) -> Any:
        if self._kind is StatementKind.ALL_ROWS:
            return None
        functions = functions_of(frame)
        named = [names[name] for name in columns_of(self._statement) if name in names]
        rows = frame.where(functions.expr(self._clause)) if self._clause else frame
        shown = dict.fromkeys((*key, *named))
        return rows.where(self._breaks(functions)).select(*map(quoted, shown)) if named else None

    @property
    def sql(self) -> str:
        return with_filter(self._statement, self._clause)


class _Kind(NamedTuple):
    """One kind of a table's check."""

    keys: tuple[str, ...]
    """What its dictionary may have."""

    validate: Callable[[str, Mapping[str, Any]], None]
    """Raises ValueError, with the check's name, if the dictionary has no meaning."""

    check: Callable[[str, dict[str, Any], str, bool], Check]


_KINDS = {
    _STATEMENT: _Kind((_STATEMENT, AT_LEAST, *OF_EVERY_CHECK), _validate_statement, _RowCheck),
    UNIQUE: _Kind(KEYS_OF_UNIQUE, validate_key, KeyCheck),
    COLUMNS: _Kind(KEYS_OF_COLUMNS, validate_columns, ColumnsCheck),
}
"""Key that a dictionary must have -> the kind of the check."""

_KEYS = {key for kind in _KINDS.values() for key in kind.keys}
