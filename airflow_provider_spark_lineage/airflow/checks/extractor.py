"""Results of Airflow's own operators that check data: what their reports leave out.

    [openlineage]
    extractors = airflow_provider_spark_lineage.extractors.checks.SqlCheckExtractor

The operators of `airflow.providers.common.sql` that check data report their results themselves since 2.0.
Their reports stay. This extractor adds assertions for all consumers, and inputs that have no name otherwise.
"""

from __future__ import annotations

from typing import Any, ClassVar

from airflow.providers.openlineage.extractors.base import BaseExtractor, DefaultExtractor, OperatorLineage

from airflow_provider_spark_lineage.airflow.known_operators import CHECKS
from airflow_provider_spark_lineage.spark import harmless


class SqlCheckExtractor(BaseExtractor):
    """Answers the OpenLineage provider for Airflow's own operators that check data.

    An extractor of your own for these operators is one line; it is asked first:

    >>> class MyChecks(SqlCheckExtractor):  # doctest: +SKIP
    ...     base = MyExtractor
    """

    base: ClassVar[type[BaseExtractor]] = DefaultExtractor
    """Extractor whose report is extended; the default asks the operator's own methods."""

    @classmethod
    def get_operator_classnames(cls) -> list[str]:
        """Return the class names of the operators that use this extractor."""
        return list(CHECKS)

    def _execute_extraction(self) -> OperatorLineage:
        return self._answer("extract")

    def extract_on_complete(self, task_instance: Any) -> OperatorLineage:
        """Return the operator's own report, and the results of its checks."""
        return self._answer("extract_on_complete", task_instance)

    def extract_on_failure(self, task_instance: Any) -> OperatorLineage:
        """Return the same: the results are there before a failed check fails its task."""
        return self._answer("extract_on_failure", task_instance, has_failed=True)

    def _answer(self, method: str, task_instance: Any = None, *, has_failed: bool = False) -> OperatorLineage:
        own = self._own(method, *([] if task_instance is None else [task_instance]))
        lineage = own or OperatorLineage()
        with harmless("the results of checks are not complete in the event of this task"):
            if not self._is_active():
                return lineage
            from airflow_provider_spark_lineage.airflow.checks.checked_tables import (
                checked_tables,
                tables_at_start,
            )
            from airflow_provider_spark_lineage.airflow.checks.results import findings_of
            from airflow_provider_spark_lineage.airflow.task.answers import answer, reported
            from airflow_provider_spark_lineage.airflow.task.provider import is_skipped, send_valid_json
            from airflow_provider_spark_lineage.airflow.task.report import TaskReport
            from airflow_provider_spark_lineage.airflow.task.starts import start_of
            from airflow_provider_spark_lineage.spark import Lineage, Run

            send_valid_json()
            failed = has_failed or is_skipped(task_instance)
            findings = () if task_instance is None else findings_of(self.operator, has_failed=failed)
            # Without an own report, the connection is not known, and asking for it again would not help.
            # A table without any result may not exist: a backend would create it.
            adds_inputs = own is not None and not (own.inputs or own.outputs)
            adds_inputs = adds_inputs and not any(each.is_skipped for each in findings)
            tables = None
            if adds_inputs:
                with harmless("the tables that this task checks have no names"):
                    tables_of = tables_at_start if task_instance is None else checked_tables
                    tables = tables_of(self.operator)
            if task_instance is None:
                started = TaskReport(planned=tables)
                return start_of(started, self.operator, lineage) if adds_inputs else lineage
            report = TaskReport(Run(tables or Lineage()), findings)
            if adds_inputs:
                return answer(report, self.operator, task_instance, has_failed=has_failed, own=lineage)
            return reported(report, failed=failed, own=lineage)
        return lineage

    def _is_active(self) -> bool:
        from airflow_provider_spark_lineage.airflow import conf
        from airflow_provider_spark_lineage.airflow.task.selection import is_selected

        return not conf.disabled() and is_selected(self.operator.dag_id, self.operator.task_id)

    def _own(self, method: str, *arguments: Any) -> OperatorLineage | None:
        """Return the report without this extractor."""
        with harmless("the operator's own report of this task failed"):
            extractor = self.base(self.operator)
            extractor.source_code_enabled = getattr(self, "source_code_enabled", True)
            report: OperatorLineage | None = getattr(extractor, method)(*arguments)
            return report
        return None
