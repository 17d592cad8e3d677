"""Results of Airflow's operators that check data, as assertions.

Reads what an operator keeps of its last run: `check_results` (common-sql 2), `column_mapping` and `checks`.
Texts that may be values of rows are marked, and never become part of an event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from airflow_provider_spark_lineage.spark import Assertion, EvaluatedChecks, Findings

NO_RESULT = "the operator has no result of this check"
NOT_COMPARED = "the operator did not compare the result"
NO_ROWS = "no row was checked"
SHARED = "checks share one dictionary, which has the result of one of them: give each its own"
KEEPS_NO_RESULT = "common-sql before 2.0 keeps no result of a failed task"

_EXPRESSION, _VALUES, _RANGE = "expression_is_true", "accepted_values", "accepted_range"
_CLAUSE = "partition_clause"
_RESULTS = {"result", "success"}
"""Keys of a check's dictionary after its query has run."""


def findings_of(operator: Any, *, has_failed: bool) -> tuple[Findings, ...]:
    """Return what one of Airflow's check operators found in its last run; nothing for another operator."""
    read = next(
        (_READERS[kind.__name__] for kind in type(operator).__mro__ if kind.__name__ in _READERS), None
    )
    if read is None:
        return ()
    assertions = tuple(read(operator, has_failed))
    findings = EvaluatedChecks(_scheme_of(operator)).findings(
        assertions,
        of_dataset=getattr(operator, "table", None) or "",
        is_statement=not hasattr(operator, "table"),
        is_skipped=all(each.not_evaluated in (NO_RESULT, KEEPS_NO_RESULT) for each in assertions),
    )
    return (findings,)


def _of_columns(operator: Any, has_failed: bool) -> Iterable[Assertion]:
    results = _by_name(operator)
    uses = Counter(id(given) for checks in operator.column_mapping.values() for given in checks.values())
    for column, checks in operator.column_mapping.items():
        for check, given in checks.items():
            is_shared = uses[id(given)] > 1 and "result" in given
            result = results.get(f"{column}.{check}")
            yield EvaluatedChecks.of_column(
                column,
                check,
                given,
                accept_none=operator.accept_none,
                statement=getattr(operator, "column_checks", {}).get(check, ""),
                severity=getattr(result, "severity", None),
                description=getattr(result, "description", "") or "",
                clauses=_clauses(operator, given),
                not_evaluated=SHARED if is_shared else "" if given.keys() & _RESULTS else NO_RESULT,
            )


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
            severity=getattr(results.get(name), "severity", Assertion.severity),
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
                yield EvaluatedChecks.printed(result)
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


def _scheme_of(operator: Any) -> str:
    """Return the scheme of the database of an operator's connection; empty if it is not known."""
    # Not `get_db_hook`, which would ask for the connection if there is no hook yet.
    conn_type = getattr(vars(operator).get("_hook"), "conn_type", None) or ""
    return _CONNECTIONS.get(str(conn_type), str(conn_type))


_CONNECTIONS = {"gcpbigquery": "bigquery", "hiveserver2": "hive", "mssql": "sqlserver"}
"""Kind of connection -> scheme of its database, where they differ."""


def _by_name(operator: Any) -> dict[str, Any]:
    return {result.name: result for result in getattr(operator, "check_results", None) or ()}


def _clauses(operator: Any, given: Mapping[str, Any]) -> dict[str, str]:
    clauses = {_CLAUSE: operator.partition_clause, f"check_{_CLAUSE}": given.get(_CLAUSE)}
    return {name: str(clause) for name, clause in clauses.items() if clause}
