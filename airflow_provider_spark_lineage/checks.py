"""Checks of a frame in a program of PySpark, while it is written: no second pass over the data.

    from airflow_provider_spark_lineage.checks import check

    orders = check(orders, columns={"id": {"null_check": {"equal_to": 0}}}, rows={"positive": "amount >= 0"})
    orders.write.saveAsTable("gold.orders")

Needs no Airflow. The capture that runs in the process reads the results: in a task of this package's
operators, or inside `capture_lineage`.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.spark.checks.absent import conditions_of
from airflow_provider_spark_lineage.spark.checks.assertion import ERROR, WARN, Assertion, Findings
from airflow_provider_spark_lineage.spark.checks.broken_rows import validate_place, write_broken_rows
from airflow_provider_spark_lineage.spark.checks.checks import Check, measures_of
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.comparison import is_of_numbers
from airflow_provider_spark_lineage.spark.checks.in_flight import KEPT, FrameChecks, register, report
from airflow_provider_spark_lineage.spark.checks.measuring import Measure, Measured, functions_of, observed
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks
from airflow_provider_spark_lineage.spark.checks.shares import AT_LEAST
from airflow_provider_spark_lineage.spark.records.observed import OF_CHECKS

__all__ = ["Assertion", "check", "report_assertions"]

KEEP, DROP, FAIL = "keep", "drop", "fail"

log = logging.getLogger(__name__)

_Rule = Callable[[Any], Any]


def check(
    df: Any,
    *,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    rows: Mapping[str, Any] | None = None,
    name: str | None = None,
    severity: str = ERROR,
    on_violation: str = KEEP,
    broken_to: str | None = None,
) -> Any:
    """Return a frame whose rows are checked when it is written. `check` goes last, right before the write.

    `columns` and `rows` are the arguments `column_mapping` and `checks` of `SparkColumnCheckOperator` and
    `SparkTableCheckOperator`; a rule may be its text alone. An empty frame breaks no rule. `name` is put
    before the names of the results. `severity`, `error` or `warn`, holds for checks that name none: a task
    of this package's operators fails after its function if a check with severity `error` failed.

    `on_violation` is about rows that break a rule in `rows`: `keep` writes them; `drop` does not, and gives
    these rules the severity `warn`; `fail` stops the write at the first one. The checks of `columns` are
    about the rows that are not dropped; statements of `rows` about all rows see all of them.

    `broken_to` is a folder or a table. The rows that break a rule are appended to it, with the columns
    `broken_rules` and `run_id`. This call writes them, so the frame is computed once more; the returned frame
    is the one of `on_violation="drop"`.

    Without a capture in this process, nothing is measured; `drop`, `fail` and `broken_to` work as
    otherwise.

    A result must be true of the rows that are written. If other steps follow, Spark's plan decides: steps
    that keep all rows and the checked columns change nothing; if a part of the rows is written, it is still
    true that none breaks a rule. All other checks have no result, which is a failed check, with the step in
    its reason.

    Raises ValueError with one sentence for checks that have no meaning, or that Spark cannot measure during
    a write: exact numbers of distinct values, which `approximate` or an operator can measure. The columns
    that a frame must have are not a check of a write: compare `df.schema`, or use an operator.

    >>> orders = check(orders, rows={"positive": "amount >= 0"}, severity="warn")  # doctest: +SKIP
    """
    on_violation = _on_violation(on_violation, broken_to)
    checks = _checks(columns or {}, rows or {}, severity)
    if not checks:
        raise ValueError("There is nothing to check: give columns or rows.")
    if df.isStreaming:
        raise ValueError("A stream cannot be checked: check the frame of each batch, in foreachBatch.")
    names = {column.lower(): column for column in df.columns}
    for key, measure in measures_of(checks, names).items():
        _validate(key, measure)
    if on_violation == FAIL:
        _refuse_shares(rows or {})
    if broken_to is not None:
        validate_place(broken_to, df.columns)
    observation = f"{OF_CHECKS}{uuid.uuid4().hex}"
    present = _present(df, observation, checks, names)
    result, where = observed(df, observation, measures_of(present, names))
    rules = {} if on_violation == KEEP else _rules(present, where)
    if not rules and on_violation != KEEP and len(present) == len(checks):
        argument = f"on_violation={on_violation!r}" if broken_to is None else "broken_to"
        raise ValueError(f"{argument} needs a rule for each row in rows.")
    if on_violation == DROP and rules:
        places = [at for at, each in enumerate(checks) if each in present]
        checks = _checks(columns or {}, _warned(rows or {}, rules), severity, rules)
        measures = measures_of([checks[at] for at in places], names)
        measures[KEPT] = Measure([lambda functions: functions.count_if(_all(functions, rules))])
        result, where = observed(df, observation, measures)
    if broken_to is not None and rules:
        write_broken_rows(df, rules, broken_to)
    own_filters = min(1, len(rules)) if on_violation == DROP else len(rules)
    if not register(FrameChecks(observation, name or "", tuple(checks), names, where, own_filters)):
        log.warning("These checks are not made: no capture runs in this process.")
        result = df
    return _filtered(result, rules, stops=on_violation == FAIL)


def report_assertions(dataset: Any, assertions: Iterable[Any]) -> None:
    """Add to the task's event what another library found, at the dataset that the task read or wrote.

    `dataset` is the name of a table, a path, or an OpenLineage dataset. `assertions` are objects of
    `Assertion`, or of OpenLineage's class of that name. A failed one does not fail the task: that is left to
    the library. If the task has no such dataset, they are in the run facet `test`.

    >>> report_assertions(  # doctest: +SKIP
    ...     "gold.orders", [Assertion("positive", True, "positive", "expression_is_true", column="amount")]
    ... )
    """
    if not isinstance(dataset, str) and not (hasattr(dataset, "namespace") and hasattr(dataset, "name")):
        raise TypeError("dataset must be the name of a table, a path, or an OpenLineage dataset.")
    name = dataset if isinstance(dataset, str) else dataset.name
    exact = None if isinstance(dataset, str) else (dataset.namespace, dataset.name)
    given = tuple(_without_texts(_own(assertion)) for assertion in assertions)
    findings = Findings(given, of_dataset=name, output=exact, is_reported=True)
    if not report(findings):
        log.warning("These assertions are not reported: no capture runs in this process.")


def _without_texts(assertion: Assertion) -> Assertion:
    """Return an assertion whose texts are marked: they may be those of rows."""
    return replace(
        assertion,
        has_text_of_rows=not is_of_numbers(assertion.actual or ""),
        has_text_of_author=not is_of_numbers(assertion.expected),
    )


def _own(assertion: Any) -> Assertion:
    """Return an assertion of OpenLineage's client as one of ours; older clients have fewer fields."""
    if isinstance(assertion, Assertion):
        return assertion
    text: dict[str, Any] = {
        name: getattr(assertion, name, None) or "" for name in ("column", "expected", "description")
    }
    return Assertion(
        assertion=assertion.assertion,
        success=assertion.success,
        name=getattr(assertion, "name", None) or assertion.assertion,
        check_type=assertion.assertion,
        severity=getattr(assertion, "severity", None) or ERROR,
        actual=getattr(assertion, "actual", None),
        content=getattr(assertion, "content", None) or "",
        params={
            name: value
            for name, value in (getattr(assertion, "params", None) or {}).items()
            if isinstance(value, (bool, int, float))
        },
        dialect=None,
        **text,
    )


def _on_violation(on_violation: str, broken_to: str | None) -> str:
    """Return what happens to rows that break a rule: they are dropped if they have a place of their own."""
    if on_violation not in (KEEP, DROP, FAIL):
        raise ValueError(f"on_violation is {on_violation!r}; it must be 'keep', 'drop' or 'fail'.")
    if broken_to is None:
        return on_violation
    if on_violation == FAIL:
        raise ValueError("broken_to is for rows that are left out: it cannot be combined with 'fail'.")
    return DROP


def _checks(
    columns: Mapping[str, Mapping[str, Any]],
    rows: Mapping[str, Any],
    severity: str,
    rules: Mapping[str, _Rule] | None = None,
) -> list[Check]:
    """Return the checks; those of columns are about the rows that break none of the rules."""
    chosen = (lambda functions: _all(functions, rules)) if rules else None
    return [
        *column_checks(columns, severity=severity, chosen=chosen),
        *row_checks(rows, severity=severity, accept_none=True),
    ]


def _validate(key: str, measure: Measure) -> None:
    if measure.is_distinct:
        raise ValueError(
            f"{key}: Spark cannot count distinct values during a write. Add 'approximate': 0.02, and limits "
            "with a margin, or use SparkColumnCheckOperator or SparkTableCheckOperator."
        )
    if measure.is_of_schema:
        raise ValueError(
            f"{key}: a write may change the columns of a frame after check(). Compare df.schema, or use "
            "SparkTableCheckOperator."
        )
    if measure.rows is not None:
        raise ValueError(f"{key}: Spark cannot measure this during a write. Use an operator of checks.")


def _refuse_shares(rows: Mapping[str, Any]) -> None:
    for name, given in rows.items():
        if isinstance(given, Mapping) and AT_LEAST in given:
            raise ValueError(
                f"{name}: on_violation='fail' stops at the first row that breaks a rule, so {AT_LEAST} has "
                "no meaning. Use 'keep' or 'drop'."
            )


def _present(df: Any, observation: str, checks: list[Check], names: Mapping[str, str]) -> list[Check]:
    """Return the checks without those that may be skipped because the frame lacks their columns."""

    def is_absent(check: Check) -> bool:
        absent = check.absent(names)
        if not absent:
            return False
        try:
            observed(df, observation, check.measures(names))
        except ValueError as error:
            return any(condition in str(error) for condition in conditions_of(absent))
        return False

    return [check for check in checks if not is_absent(check)]


def _rules(checks: list[Check], where: Mapping[str, tuple[str, int]]) -> dict[str, _Rule]:
    """Return the rules for each row, by their names."""
    forms = {key: Measured(form=form) for key, (_, form) in where.items()}
    return {name: rule for each in checks for name, rule in each.rules(forms).items()}


def _filtered(frame: Any, rules: Mapping[str, _Rule], *, stops: bool) -> Any:
    """Return a frame without the rows that break a rule, or one that stops at the first of them."""
    functions = functions_of(frame)
    if not rules or not stops:
        return frame.where(_all(functions, rules)) if rules else frame
    for name, rule in rules.items():
        stop = functions.raise_error(functions.lit(f"A row breaks the rule {name}."))
        passes = functions.when(rule(functions), functions.lit(True))
        frame = frame.where(passes.otherwise(stop.cast("boolean")))
    return frame


def _warned(rows: Mapping[str, Any], rules: Mapping[str, _Rule]) -> dict[str, Any]:
    """Return the checks with severity `warn` for the rules whose rows are dropped."""
    return {
        name: {**({"check_statement": given} if isinstance(given, str) else given), "severity": WARN}
        if name in rules
        else given
        for name, given in rows.items()
    }


def _all(functions: Any, rules: Mapping[str, _Rule]) -> Any:
    conditions = [rule(functions) for rule in rules.values()]
    result = conditions[0]
    for condition in conditions[1:]:
        result = result & condition
    return result
