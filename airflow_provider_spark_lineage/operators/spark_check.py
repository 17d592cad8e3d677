"""`@task.spark_check`: a function returns frames, and the task checks them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.decorators.pyspark import _PySparkDecoratedOperator
from airflow.providers.common.compat.sdk import AirflowException, TaskDecorator, task_decorator_factory

from airflow_provider_spark_lineage.airflow.checks.findings import (
    ReportsFindings,
    log_findings,
    passed_sentence,
)
from airflow_provider_spark_lineage.operators.pyspark import _PassesKnownArguments
from airflow_provider_spark_lineage.spark.checks.assertion import ERROR, Assertion, Findings, with_parts
from airflow_provider_spark_lineage.spark.checks.checks import failed, run
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.freshness import moment_of_run
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks

if TYPE_CHECKING:
    import datetime

    from airflow.sdk import Context


class _ChecksFrames(_PassesKnownArguments):
    """Checks the frames that the function returns, while the session is open."""

    column_mapping: Mapping[str, Mapping[str, Any]]
    checks: Mapping[str, Any]
    severity: str
    report_findings: Callable[[Findings], None]
    _data_interval_end: datetime.datetime | None = None

    def execute_callable(self) -> None:
        """Call the function, check its frames, and fail if a check failed."""
        returned = super().execute_callable()
        assertions: list[Assertion] = []
        frames = returned if isinstance(returned, Mapping) else {"": returned}
        for name, frame in frames.items():
            if not hasattr(frame, "sparkSession"):
                raise TypeError(
                    f"{self.task_id}: the function must return a DataFrame, or a dict of them by name; it"
                    f" returned {type(frame).__name__}."
                )
            findings = self._checked(frame, str(name))
            self.report_findings(findings)
            assertions += findings.assertions
        log_findings(self.log, assertions)
        if failures := failed(assertions):
            lines = "".join(map(_line, failures))
            raise AirflowException(f"Test failed.\nThe following tests have failed:\n{lines}")
        self.log.info("%s", passed_sentence(assertions))

    def _checked(self, frame: Any, name: str) -> Findings:
        checks = [
            *column_checks(
                self.column_mapping, severity=self.severity, moment=moment_of_run(self._data_interval_end)
            ),
            *row_checks(self.checks, severity=self.severity),
        ]
        findings = run(frame, checks)
        findings = replace(findings, assertions=with_parts(findings.assertions))
        if not name:
            return findings
        named = tuple(replace(each, name=f"{name}.{each.name}") for each in findings.assertions)
        return replace(findings, assertions=named)


def _line(assertion: Assertion) -> str:
    if assertion.not_evaluated:
        return f"\t{assertion.name}: {assertion.not_evaluated}\n"
    # Texts of rows and literals of the author stay out of the exception, which is in the event.
    return f"\t{assertion.sentence}\n"


class _SparkCheckDecoratedOperator(ReportsFindings, _PySparkDecoratedOperator, _ChecksFrames):
    """Operator of `@task.spark_check`."""

    custom_operator_name = "@task.spark_check"

    def __init__(
        self,
        *,
        column_mapping: Mapping[str, Mapping[str, Any]] | None = None,
        checks: Mapping[str, Any] | None = None,
        severity: str = ERROR,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.column_mapping = column_mapping or {}
        self.checks = checks or {}
        self.severity = severity
        if not (self.column_mapping or self.checks):
            raise ValueError(f"{self.task_id}: give column_mapping or checks: what shall be checked?")
        column_checks(self.column_mapping, severity=severity)
        row_checks(self.checks, severity=severity)

    def execute(self, context: Context) -> Any:
        """Call the function and check its frames, ages against the time of this run."""
        self._data_interval_end = context.get("data_interval_end")
        return super().execute(context)


def spark_check_task(python_callable: Callable[..., Any] | None = None, **kwargs: Any) -> TaskDecorator:
    """Turn a function that returns a frame, or frames by name, into a task that checks them.

    Takes the arguments of `@task.pyspark`, and `column_mapping`, `checks` and `severity` as
    `operators.checks` has them.

    >>> @task.spark_check(column_mapping={"id": {"null_check": {"equal_to": 0}}})  # doctest: +SKIP
    ... def orders(spark):
    ...     return spark.table("orders").where("day = current_date()")
    """
    return task_decorator_factory(
        python_callable=python_callable,
        multiple_outputs=False,
        decorated_operator_class=_SparkCheckDecoratedOperator,
        **kwargs,
    )
