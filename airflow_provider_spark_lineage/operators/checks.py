"""Airflow's operators that check data, on Spark: one changed import line moves a DAG.

    from airflow_provider_spark_lineage.operators.checks import (
        SparkColumnCheckOperator as SQLColumnCheckOperator,
    )

Arguments, messages and `check_results` are Airflow's. The checks of a table are one query. What they find is
in the task's OpenLineage event, at the dataset that they read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowException
from airflow.providers.common.sql.operators import sql as common_sql
from airflow.providers.common.sql.operators.sql import (
    SQLCheckOperator,
    SQLColumnCheckOperator,
    SQLIntervalCheckOperator,
    SQLTableCheckOperator,
    SQLThresholdCheckOperator,
    SQLValueCheckOperator,
)

from airflow_provider_spark_lineage.airflow.checks.findings import log_findings, passed_sentence
from airflow_provider_spark_lineage.airflow.checks.null_values import (
    null_in_threshold,
    null_metrics,
    nulls_in_interval,
)
from airflow_provider_spark_lineage.airflow.checks.spark_session import WITHHELD, ChecksOnSpark
from airflow_provider_spark_lineage.airflow.task.reporting import ReportsLineage
from airflow_provider_spark_lineage.spark.checks.aggregates import (
    of_column,
    of_column_check,
    validate_severity,
)
from airflow_provider_spark_lineage.spark.checks.assertion import ERROR, WARN, Assertion, Findings, with_parts
from airflow_provider_spark_lineage.spark.checks.checks import Check, failed, query_of, run, samples, skipped
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.evaluated import EvaluatedChecks
from airflow_provider_spark_lineage.spark.checks.freshness import moment_of_run
from airflow_provider_spark_lineage.spark.checks.measuring import condition_of
from airflow_provider_spark_lineage.spark.checks.row_checks import of_row_check, row_checks
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


class _StatementCheck(_Check):
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


class _FrameCheck(_Check):
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


class SparkColumnCheckOperator(_FrameCheck, SQLColumnCheckOperator):
    """Airflow's `SQLColumnCheckOperator` on Spark, with more checks.

    Takes the arguments of `airflow.providers.common.sql.operators.sql.SQLColumnCheckOperator`, and
    `config_kwargs` of `PySparkOperator`; `path` with `format`, or `query`, instead of `table`; `severity`,
    `error` or `warn`, of the checks that name none; `samples`, the number of rows that the log shows of each
    broken rule.

    >>> SparkColumnCheckOperator(  # doctest: +SKIP
    ...     task_id="check",
    ...     table="orders",
    ...     column_mapping={"id": {"null_check": {"equal_to": 0}, "unique_check": {"equal_to": 0}}},
    ... )
    """

    template_fields: Sequence[str] = (
        "column_mapping",
        "path",
        "query",
        *SQLColumnCheckOperator.template_fields,
    )

    def __init__(
        self,
        *,
        table: str | None = None,
        column_mapping: dict[str, dict[str, Any]],
        path: str | None = None,
        format: str | None = None,  # noqa: A002  Spark's name
        query: str | None = None,
        severity: str = ERROR,
        samples: int = 0,
        config_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        column_mapping = {
            # A copy of each, because the results go into them: one may be given to several checks.
            column: {check: dict(given) for check, given in of_column(column, checks).items()}
            for column, checks in column_mapping.items()
        }
        super().__init__(table=table, column_mapping=column_mapping, **kwargs)
        self._set_up(config_kwargs, severity)
        self._set_source(table, path, format, query, samples)
        self.sql = query_of(column_checks(self.column_mapping), self._source, self.partition_clause or "")

    def _column_mapping_validation(self, check: str, check_values: Any) -> None:
        of_column_check(check, check_values)

    def _generate_sql_query(self, column: str, checks: Any) -> str:
        return ""  # One query of ours has all columns.

    def _check(self, context: Context) -> None:
        given = [
            (column, check, values)
            for column, checks in self.column_mapping.items()
            for check, values in checks.items()
        ]
        assertions = self._find(
            column_checks(
                self.column_mapping,
                severity=self.severity,
                accept_none=self.accept_none,
                moment=moment_of_run(context.get("data_interval_end")),
            )
        )
        for (_, _, values), assertion in zip(given, assertions, strict=True):
            # Airflow's facets show the mapping: no text of a row.
            values["result"] = WITHHELD if assertion.has_text_of_rows else assertion.value
            values["success"] = assertion.success
        records = [(column, check, values["result"]) for column, check, values in given]
        self.log.info("Record: %s", records)
        if failed(assertions):
            tests = "".join(
                f"Column: {column}\n\tCheck: {check},\n\tCheck Values: {values}\n"
                for (column, check, values), assertion in zip(given, assertions, strict=True)
                if assertion.fails_task
            )
            self._raise_exception(
                f"Test failed.\nResults:\n{records!s}\nThe following tests have failed:\n{tests}"
            )
        self.log.info("%s", passed_sentence(assertions))


class SparkTableCheckOperator(_FrameCheck, SQLTableCheckOperator):
    """Airflow's `SQLTableCheckOperator` on Spark.

    Takes the arguments of `airflow.providers.common.sql.operators.sql.SQLTableCheckOperator`, and those that
    `SparkColumnCheckOperator` adds.

    >>> SparkTableCheckOperator(  # doctest: +SKIP
    ...     task_id="check", table="orders", checks={"positive": {"check_statement": "amount >= 0"}}
    ... )
    """

    template_fields: Sequence[str] = ("checks", "path", "query", *SQLTableCheckOperator.template_fields)

    def __init__(
        self,
        *,
        table: str | None = None,
        checks: dict[str, dict[str, Any]],
        path: str | None = None,
        format: str | None = None,  # noqa: A002  Spark's name
        query: str | None = None,
        severity: str = ERROR,
        samples: int = 0,
        config_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        checks = {name: dict(of_row_check(name, given)) for name, given in checks.items()}
        super().__init__(table=table, checks=checks, **kwargs)
        self._set_up(config_kwargs, severity)
        self._set_source(table, path, format, query, samples)
        self.sql = query_of(row_checks(self.checks), self._source, self.partition_clause or "")

    def _generate_sql_query(self) -> str:
        return ""  # One query of ours has all checks.

    def _check(self, context: Context) -> None:
        assertions = self._find(row_checks(self.checks, severity=self.severity, accept_none=self.accept_none))
        for values, assertion in zip(self.checks.values(), assertions, strict=True):
            values["result"], values["success"] = str(assertion.value), assertion.success
        records = [(name, assertion.value) for name, assertion in zip(self.checks, assertions, strict=True)]
        self.log.info("Record:\n%s", records)
        if failed(assertions):
            tests = [
                f"\tCheck: {name},\n\tCheck Values: {values}\n"
                for (name, values), assertion in zip(self.checks.items(), assertions, strict=True)
                if assertion.fails_task
            ]
            self._raise_exception(
                f"Test failed.\nQuery:\n{self.sql}\nResults:\n{records!s}\n"
                f"The following tests have failed:\n{', '.join(tests)}"
            )
        self.log.info("%s", passed_sentence(assertions))


class SparkCheckOperator(_StatementCheck, SQLCheckOperator):
    """Airflow's `SQLCheckOperator` on Spark: all values of a query's first row must be true.

    Takes its arguments, and `config_kwargs` and `severity`, as the three operators below.
    """

    def __init__(
        self, *, severity: str = ERROR, config_kwargs: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(config_kwargs, severity)


class SparkValueCheckOperator(_StatementCheck, SQLValueCheckOperator):
    """Airflow's `SQLValueCheckOperator` on Spark: a query's first row must have the expected value."""

    def __init__(
        self, *, severity: str = ERROR, config_kwargs: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(config_kwargs, severity)


class SparkThresholdCheckOperator(_StatementCheck, SQLThresholdCheckOperator):
    """Airflow's `SQLThresholdCheckOperator` on Spark: a query's value must be between two thresholds."""

    def __init__(
        self, *, severity: str = ERROR, config_kwargs: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(config_kwargs, severity)

    def _compare(self, context: Context) -> None:
        try:
            super()._compare(context)
        except TypeError:
            sentence, self.check_results = null_in_threshold(self, self._firsts)
            if not sentence:
                raise
            failure = sentence
        else:
            return
        self._raise_exception(failure)


class SparkIntervalCheckOperator(_StatementCheck, SQLIntervalCheckOperator):
    """Airflow's `SQLIntervalCheckOperator` on Spark: metrics of a day against those of a day before."""

    metrics_sorted: list[str]

    def __init__(
        self, *, severity: str = ERROR, config_kwargs: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(config_kwargs, severity)

    def _compare(self, context: Context) -> None:
        hook, metrics = self.get_db_hook(), self.metrics_sorted
        rows = {sql: hook.get_first(sql) for sql in (self.sql2, self.sql1)}
        nulls = null_metrics(self, [*filter(None, rows.values())])
        if not nulls or not all(rows.values()):
            super()._compare(context)
            return
        # Airflow compares the other metrics.
        places = [at for at, metric in enumerate(metrics) if metric not in nulls]
        self._firsts.update({sql: tuple(row[at] for at in places) for sql, row in rows.items()})
        self.metrics_sorted = [metrics[at] for at in places]
        sentences = [f"{metric} is NULL" for metric in nulls]
        try:
            if places:
                super()._compare(context)
        except AirflowException as error:
            sentences.append(str(error))
        finally:
            self.metrics_sorted = metrics
        self.check_results = [*(self.check_results or ()), *nulls_in_interval(self, nulls)]
        self._raise_exception("; ".join(sentences))
