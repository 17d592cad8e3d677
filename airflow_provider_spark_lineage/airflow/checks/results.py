"""Results of Airflow's operators that check data, as assertions.

Reads what an operator keeps of its last run: `check_results` (common-sql 2), `column_mapping` and `checks`.
Texts that may be values of rows are marked, and never become part of an event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.spark.checks.aggregates import AGGREGATES
from airflow_provider_spark_lineage.spark.checks.assertion import ERROR, Assertion, Findings
from airflow_provider_spark_lineage.spark.checks.column_checks import assertion_name, type_of
from airflow_provider_spark_lineage.spark.checks.comparison import (
    LIMITS,
    expected_text,
    has_text,
    in_one_form,
    is_of_numbers,
    is_without_text,
    verdict,
)
from airflow_provider_spark_lineage.spark.sources.databases import DATABASES

NO_RESULT = "the operator has no result of this check"
NOT_COMPARED = "the operator did not compare the result"
NO_ROWS = "there are no rows"
SHARED = "checks share one dictionary, which has the result of one of them: give each its own"
KEEPS_NO_RESULT = "common-sql before 2.0 keeps no result of a failed task"

_EXPRESSION, _VALUES, _RANGE = "expression_is_true", "accepted_values", "accepted_range"
_CLAUSE = "partition_clause"


def assertion_of(result: Any, *, has_text_of_rows: bool) -> Assertion:
    """Return one of an operator's `check_results` as an assertion."""
    given: Mapping[str, Any] = result.params or {}
    params = {name: value for name, value in given.items() if isinstance(value, (int, float, bool))}
    expected, content = result.expected or "", result.content or ""
    if "min_threshold" in given and not is_of_numbers(expected):
        expected = ""  # A threshold may be the result of a query.
    if "ratio_formula" in given:
        content = given["ratio_formula"] or ""  # The result's content has values of rows.
    return Assertion(
        assertion=result.name,
        success=bool(result.success),
        name=result.name,
        check_type=result.check_type,
        column=result.column or "",
        severity=result.severity,
        expected=in_one_form(expected),
        actual=result.actual,
        content=content,
        description=result.description or "",
        params={**params, "check_type": result.check_type},
        has_text_of_rows=has_text_of_rows,
        has_text_of_author=not is_of_numbers(expected) and expected != "all truthy",
    )


def findings_of(operator: Any, *, has_failed: bool) -> tuple[Findings, ...]:
    """Return what one of Airflow's check operators found in its last run; nothing for another operator."""
    read = next(
        (_READERS[kind.__name__] for kind in type(operator).__mro__ if kind.__name__ in _READERS), None
    )
    if read is None:
        return ()
    dialect = _dialect_of(operator)
    assertions = tuple(replace(each, dialect=dialect) for each in read(operator, has_failed))
    return (
        Findings(
            assertions,
            of_dataset=getattr(operator, "table", None) or "",
            is_statement=not hasattr(operator, "table"),
            is_skipped=all(each.not_evaluated in (NO_RESULT, KEEPS_NO_RESULT) for each in assertions),
        ),
    )


def _of_columns(operator: Any, has_failed: bool) -> Iterable[Assertion]:
    results = _by_name(operator)
    uses = Counter(id(given) for checks in operator.column_mapping.values() for given in checks.values())
    for column, checks in operator.column_mapping.items():
        for check, given in checks.items():
            is_shared = uses[id(given)] > 1 and "result" in given
            name = f"{column}.{check}"
            value = None if is_shared else given.get("result")
            is_value = check not in AGGREGATES or AGGREGATES[check].is_value
            check_type = type_of(check, given)
            statement = getattr(operator, "column_checks", {}).get(check, "")
            params = {key: _plain(given[key]) for key in (*LIMITS, "tolerance") if key in given}
            yield Assertion(
                assertion=assertion_name(check, given),
                success=bool(given.get("success")) and not is_shared,
                name=name,
                check_type=check_type,
                column=column,
                severity=getattr(results.get(name), "severity", ERROR),
                expected=expected_text(given),
                actual=None if value is None else str(value),
                content=statement.format(column=column),
                description=getattr(results.get(name), "description", "") or "",
                params={**params, "accept_none": operator.accept_none, "check_type": check_type},
                clauses=_clauses(operator, given),
                not_evaluated=SHARED
                if is_shared
                else _why_no_verdict(given, accept_none=operator.accept_none),
                has_text_of_rows=is_value and not is_without_text(value),
                has_text_of_author=has_text(given),
            )


def _why_no_verdict(given: Mapping[str, Any], *, accept_none: bool) -> str:
    """Return why a column's check has no verdict; empty if it has one.

    The operator goes through the results in their order, and stops at one that Python cannot compare.
    """
    if "success" in given:
        return ""
    if "result" not in given:
        return NO_RESULT
    if given["result"] is None:
        return ""  # A missing value is not within any limits.
    return verdict(given, given["result"], accept_none=accept_none).reason or NOT_COMPARED


def _of_table(operator: Any, has_failed: bool) -> Iterable[Assertion]:
    results = _by_name(operator)
    params = {"check_type": _EXPRESSION}
    if hasattr(operator, "accept_none"):  # Since common-sql 2.
        params["accept_none"] = operator.accept_none
    for name, given in operator.checks.items():
        is_evaluated, actual = "success" in given, given.get("result")
        reason = NO_RESULT if actual is None else NO_ROWS if actual == "None" else NOT_COMPARED
        yield Assertion(
            assertion=name,
            success=bool(given.get("success")),
            name=name,
            check_type=_EXPRESSION,
            severity=getattr(results.get(name), "severity", ERROR),
            expected="all truthy",
            actual=actual if is_evaluated else None,
            content=given.get("check_statement", ""),
            description=getattr(results.get(name), "description", "") or "",
            params=params,
            clauses=_clauses(operator, given),
            not_evaluated="" if is_evaluated else reason,
        )


def _of_statement(check_type: str) -> Callable[[Any, bool], Iterable[Assertion]]:
    """Return the reader of an operator that runs statements of the user, each with `check_results` only."""

    def read(operator: Any, has_failed: bool) -> Iterable[Assertion]:
        results = getattr(operator, "check_results", None)
        if results:
            for result in results:
                has_text_of_rows = not is_of_numbers(result.actual or "")
                yield assertion_of(result, has_text_of_rows=has_text_of_rows)
            return
        reason = "" if results is None and not has_failed else NO_RESULT
        if results is None and has_failed:
            reason = KEEPS_NO_RESULT
        metrics = getattr(operator, "metrics_sorted", None)
        sql = getattr(operator, "sql", None) or ""
        for name in [f"interval_{metric}" for metric in metrics] if metrics else [operator.task_id]:
            yield Assertion(
                assertion=name,
                success=not reason,
                name=name,
                check_type=check_type,
                content=sql if isinstance(sql, str) else ";\n".join(sql),
                params={"check_type": check_type},
                not_evaluated=reason,
            )

    return read


_READERS: Mapping[str, Callable[[Any, bool], Iterable[Assertion]]] = {
    "SQLColumnCheckOperator": _of_columns,
    "SQLTableCheckOperator": _of_table,
    "SQLCheckOperator": _of_statement(_EXPRESSION),
    "SQLValueCheckOperator": _of_statement(_VALUES),
    "SQLIntervalCheckOperator": _of_statement(_RANGE),
    "SQLThresholdCheckOperator": _of_statement(_RANGE),
}
"""Class of an operator, one of `known_operators.CHECKS` -> the function that returns its results."""


def _dialect_of(operator: Any) -> str | None:
    """Return sqlglot's name of the SQL of an operator's connection; None if it is not known."""
    # Not `get_db_hook`, which would ask for the connection if there is no hook yet.
    conn_type = getattr(vars(operator).get("_hook"), "conn_type", None)
    kind = _CONNECTIONS.get(str(conn_type), conn_type)
    return next((each.dialect for each in DATABASES.values() if each.scheme == kind and each.dialect), None)


_CONNECTIONS = {"gcpbigquery": "bigquery", "hiveserver2": "hive", "mssql": "sqlserver"}
"""Kind of connection -> scheme of its database, where they differ."""


def _by_name(operator: Any) -> dict[str, Any]:
    return {result.name: result for result in getattr(operator, "check_results", None) or ()}


def _clauses(operator: Any, given: Mapping[str, Any]) -> dict[str, str]:
    clauses = {_CLAUSE: operator.partition_clause, f"check_{_CLAUSE}": given.get(_CLAUSE)}
    return {name: str(clause) for name, clause in clauses.items() if clause}


def _plain(value: Any) -> Any:
    """Return a limit in a form that JSON has."""
    return value if isinstance(value, (int, float, bool)) else str(value)
