"""Bases of the operators that check data: by a statement of the user, or by a query of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowException
from airflow.providers.common.sql.operators import sql as common_sql

from airflow_provider_spark_lineage.airflow.checks.findings import log_findings
from airflow_provider_spark_lineage.airflow.checks.spark_session import ChecksOnSpark
from airflow_provider_spark_lineage.airflow.task.reporting import ReportsLineage
from airflow_provider_spark_lineage.spark.checks.aggregates import validate_severity
from airflow_provider_spark_lineage.spark.checks.assertion import WARN, Assertion, Findings, with_parts
from airflow_provider_spark_lineage.spark.checks.checks import Check, run, samples, skipped
from airflow_provider_spark_lineage.spark.checks.evaluated import EvaluatedChecks
from airflow_provider_spark_lineage.spark.checks.measuring import condition_of
from airflow_provider_spark_lineage.spark.guard import harmless

if TYPE_CHECKING:
    from airflow.sdk import Context


MAX_SAMPLES = 20
"""Limit of the rows that are shown of a broken rule."""

MAX_SAMPLE_LENGTH = 100
"""Limit of the letters of a value that is shown."""


class _Check(ChecksOnSpark):
    """A check with the arguments of all operators here."""

    def _set_up(self, config_kwargs: dict[str, Any] | None, severity: str) -> None:
        validate_severity(self.task_id, severity)
        self.config_kwargs = config_kwargs or {}
        self.severity = severity


class StatementCheck(_Check):
    """A check whose SQL is the user's: Airflow's own code runs it.

    Each operator has an `__init__` of its own, because Airflow wraps only those.
    """

    def _check(self, context: Context) -> Any:
        hook = self._spark_hook
        try:
            self._compare(context)
        except Exception as error:
            findings = self._found(hook, error)
            self.report_findings(findings)
            has_result = not any(each.not_evaluated for each in findings.assertions)
            if self.severity == WARN and has_result and isinstance(error, AirflowException):
                self.log.warning("Check %s failed, with severity warn: %s", self.task_id, error)
                return None
            raise
        self.report_findings(self._found(hook))
        return None

    def _compare(self, context: Context) -> None:
        """Run Airflow's own check."""
        super(ReportsLineage, self).execute(context)

    @property
    def _firsts(self) -> dict[str, tuple[Any, ...] | None]:
        """The first rows of the queries so far."""
        return self._spark_hook.firsts if self._spark_hook is not None else {}

    def _found(self, hook: Any, error: BaseException | None = None) -> Findings:
        results = getattr(self, "check_results", None) or []
        for result in results:
            result.severity = self.severity
        assertions = [EvaluatedChecks.printed(result, has_text_of_rows=hook.has_text) for result in results]
        if not assertions:
            # An older common-sql, or it raised before it had a result.
            is_result = error is None or isinstance(error, AirflowException)
            problem = "" if is_result or error is None else condition_of(error)
            sql = self.sql
            assertions = [
                Assertion(
                    assertion=self.task_id,
                    success=error is None,
                    name=self.task_id,
                    check_type="custom_sql",
                    severity=self.severity,
                    content=sql if isinstance(sql, str) else ";\n".join(sql),
                    not_evaluated=problem,
                )
            ]
        is_skipped = any(each.not_evaluated for each in assertions)
        return Findings(tuple(assertions), is_statement=True, is_skipped=is_skipped)


def _table_of(spark: Any, table: str) -> str:
    """Return the full name of a table; empty for a view, which has rows of its own."""
    with harmless("the full name of the checked table is not known"):
        known = spark.catalog.getTable(table)
        if known.tableType in ("VIEW", "TEMPORARY"):
            return ""
        return ".".join((*(known.namespace or ()), known.name))
    return table


def shown_row(values: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the beginnings of a row's values, as a log shows them; NULL is None, not a text.

    >>> shown_row({"id": 1, "name": None})
    {'id': '1', 'name': None}
    """
    return {
        column: None if value is None else str(value)[:MAX_SAMPLE_LENGTH] for column, value in values.items()
    }


class FrameCheck(_Check):
    """Checks of a table, of files, or of a query: one query of ours."""

    path: str | None
    format: str | None
    query: str | None

    samples: int

    def _set_source(
        self,
        table: str | None,
        path: str | None,
        file_format: str | None,
        query: str | None,
        samples: int,
    ) -> None:
        if sum(map(bool, (table, path, query))) != 1:
            raise ValueError(f"{self.task_id}: give one of table, path and query: what shall be checked?")
        if bool(path) != bool(file_format):
            raise ValueError(
                f"{self.task_id}: path and format belong together, for example format='parquet'."
            )
        if not (isinstance(samples, int) and 0 <= samples <= MAX_SAMPLES):
            raise ValueError(f"{self.task_id}: samples must be a number from 0 to {MAX_SAMPLES}.")
        self.samples = samples
        self.path, self.format, self.query = path, file_format, query

    @property
    def _source(self) -> str:
        """The text after FROM, for people."""
        if self.query:
            return f"({self.query})"
        return f"{self.format}.`{self.path}`" if self.path else str(self.table)

    def _frame(self) -> Any:
        if self.query:
            return self._spark.sql(self.query)
        if self.path:
            return self._spark.read.format(self.format).load(self.path)
        return self._spark.table(self.table)

    def _find(self, checks: Sequence[Check]) -> tuple[Assertion, ...]:
        clause = self.partition_clause or ""
        of_dataset = "" if self.query else self.path or self.table or ""
        try:
            frame = self._frame()
            _ = frame.columns  # On Connect, a missing table is noticed now.
            if not (self.query or self.path):
                of_dataset = _table_of(self._spark, of_dataset)
            findings = run(frame, checks, clause=clause, of_dataset=of_dataset)
        except Exception as error:
            self.report_findings(skipped(checks, condition_of(error), clause=clause, of_dataset=of_dataset))
            raise
        whole = replace(findings, assertions=with_parts(findings.assertions))
        self.report_findings(whole)
        log_findings(self.log, findings.assertions)
        self._set_check_results(whole.assertions)
        if self.samples:
            with harmless("rows that break the checks are not in the log"):
                self._log_samples(frame, checks, findings.assertions, clause)
        return findings.assertions

    def _log_samples(
        self, frame: Any, checks: Sequence[Check], assertions: Sequence[Assertion], clause: str
    ) -> None:
        for name, rows in samples(frame, checks, assertions, self.samples, clause=clause):
            self.log.info("Rows that break %s: %s", name, [shown_row(row.asDict()) for row in rows])

    def _set_check_results(self, assertions: Sequence[Assertion]) -> None:
        """Set the results as Airflow's operators do; common-sql 1 has none."""
        kind = getattr(common_sql, "SQLCheckResult", None)
        if kind is None:
            return
        self.check_results = [
            kind(
                name=each.name,
                check_type=each.check_type,
                success=each.success,
                severity=each.severity,
                column=each.column or None,
                table=self.table,
                expected=each.expected,
                actual=each.actual,
                content=each.content,
                description=each.description or None,
                params={**each.params, **each.clauses},
            )
            for each in assertions
            if not each.is_skipped
        ]
