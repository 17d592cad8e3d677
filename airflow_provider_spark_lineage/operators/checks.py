"""Airflow's operators that check data, on Spark: one changed import line moves a DAG.

    from airflow_provider_spark_lineage.operators.checks import (
        SparkColumnCheckOperator as SQLColumnCheckOperator,
    )

Arguments, messages and `check_results` are Airflow's. The checks of a table are one query. What they find is
in the task's OpenLineage event, at the dataset that they read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowException
from airflow.providers.common.sql.operators.sql import (
    SQLCheckOperator,
    SQLColumnCheckOperator,
    SQLIntervalCheckOperator,
    SQLTableCheckOperator,
    SQLThresholdCheckOperator,
    SQLValueCheckOperator,
)

from airflow_provider_spark_lineage.airflow.checks.findings import passed_sentence
from airflow_provider_spark_lineage.airflow.checks.null_values import (
    null_in_threshold,
    null_metrics,
    nulls_in_interval,
)
from airflow_provider_spark_lineage.airflow.checks.spark_session import WITHHELD
from airflow_provider_spark_lineage.operators.check_bases import FrameCheck, StatementCheck
from airflow_provider_spark_lineage.spark.checks.aggregates import of_column, of_column_check
from airflow_provider_spark_lineage.spark.checks.assertion import ERROR
from airflow_provider_spark_lineage.spark.checks.checks import failed, query_of
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.freshness import moment_of_run
from airflow_provider_spark_lineage.spark.checks.row_checks import of_row_check, row_checks

if TYPE_CHECKING:
    from airflow.sdk import Context


class SparkColumnCheckOperator(FrameCheck, SQLColumnCheckOperator):
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


class SparkTableCheckOperator(FrameCheck, SQLTableCheckOperator):
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


class SparkCheckOperator(StatementCheck, SQLCheckOperator):
    """Airflow's `SQLCheckOperator` on Spark: all values of a query's first row must be true.

    Takes its arguments, and `config_kwargs` and `severity`, as the three operators below.
    """

    def __init__(
        self, *, severity: str = ERROR, config_kwargs: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(config_kwargs, severity)


class SparkValueCheckOperator(StatementCheck, SQLValueCheckOperator):
    """Airflow's `SQLValueCheckOperator` on Spark: a query's first row must have the expected value."""

    def __init__(
        self, *, severity: str = ERROR, config_kwargs: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(config_kwargs, severity)


class SparkThresholdCheckOperator(StatementCheck, SQLThresholdCheckOperator):
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


class SparkIntervalCheckOperator(StatementCheck, SQLIntervalCheckOperator):
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
