"""Assertions of checks that something else has evaluated: a database, with the dictionaries of our checks."""

from __future__ import annotations

from collections.abc import Mapping
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

NOT_COMPARED = "the operator did not compare the result"


class EvaluatedChecks:
    """Checks that a database has evaluated; `scheme` names its kind, as in the namespaces of OpenLineage."""

    def __init__(self, scheme: str) -> None:
        known = (each.dialect for each in DATABASES.values() if each.scheme == scheme and each.dialect)
        self._dialect = next(known, None)

    def findings(self, assertions: tuple[Assertion, ...], **details: Any) -> Findings:
        """Return the results of one statement in the dialect of the database, with these details."""
        return Findings(tuple(replace(each, dialect=self._dialect) for each in assertions), **details)

    @staticmethod
    def of_column(
        column: str,
        check: str,
        given: Mapping[str, Any],
        *,
        accept_none: bool,
        statement: str,
        severity: str | None,
        description: str,
        clauses: Mapping[str, str],
        not_evaluated: str = "",
    ) -> Assertion:
        """Return the assertion of a column's check from its dictionary, which has the `result` and `success`.

        `not_evaluated` is a reason why it has no result of its own; a result without a verdict has another.
        """
        is_lost = bool(not_evaluated)
        value = None if is_lost else given.get("result")
        is_value = check not in AGGREGATES or AGGREGATES[check].is_value
        check_type = type_of(check, given)
        params = {key: _plain(given[key]) for key in (*LIMITS, "tolerance") if key in given}
        return Assertion(
            assertion=assertion_name(check, given),
            success=bool(given.get("success")) and not is_lost,
            name=f"{column}.{check}",
            check_type=check_type,
            column=column,
            severity=severity or ERROR,
            expected=expected_text(given),
            actual=None if value is None else str(value),
            content=statement.format(column=column),
            description=description,
            params={**params, "accept_none": accept_none, "check_type": check_type},
            clauses=clauses,
            not_evaluated=not_evaluated or _why_no_verdict(given, accept_none=accept_none),
            has_text_of_rows=is_value and not is_without_text(value),
            has_text_of_author=has_text(given),
        )

    @staticmethod
    def printed(result: Any, *, has_text_of_rows: bool | None = None) -> Assertion:
        """Return an object of Airflow that describes a check and its result in texts, as an assertion.

        `has_text_of_rows` is true if the result may have a text of a row; None: find out from the result.
        """
        given: Mapping[str, Any] = result.params or {}
        params = {name: value for name, value in given.items() if isinstance(value, (int, float, bool))}
        expected, content = result.expected or "", result.content or ""
        if "min_threshold" in given and not is_of_numbers(expected):
            expected = ""  # A threshold may be the result of a query.
        if "ratio_formula" in given:
            content = given["ratio_formula"] or ""  # The result's content has values of rows.
        if has_text_of_rows is None:
            has_text_of_rows = not is_of_numbers(result.actual or "")
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


def _why_no_verdict(given: Mapping[str, Any], *, accept_none: bool) -> str:
    """Return why a column's check has no verdict; empty if it has one.

    Airflow's operator goes through the results in their order, and stops at one that Python cannot compare.
    """
    if "success" in given:
        return ""
    if given.get("result") is None:
        return ""  # A missing value is not within any limits.
    return verdict(given, given["result"], accept_none=accept_none).reason or NOT_COMPARED


def _plain(value: Any) -> Any:
    """Return a limit in a form that JSON has."""
    return value if isinstance(value, (int, float, bool)) else str(value)
