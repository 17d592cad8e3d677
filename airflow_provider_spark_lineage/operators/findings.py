"""Mixin of operators that check data: what the checks found is in the log and in the task's event."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.operators.reporting import ReportsLineage
from airflow_provider_spark_lineage.spark.checks.assertion import WARN, Assertion, Findings
from airflow_provider_spark_lineage.spark.guard import harmless

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage


class ReportsFindings(ReportsLineage):
    """Adds the results of checks to the datasets of the task's event."""

    _findings: tuple[Findings, ...] = ()

    def _result(self, task_instance: Any, *, has_failed: bool) -> OperatorLineage:
        result = super()._result(task_instance, has_failed=has_failed)
        if self._task_lineage is None:
            return result
        with harmless("the results of checks are not in the event of this task"):
            from airflow_provider_spark_lineage.airflow.task.check_results import add_results

            add_results(result, self._findings)
        return result


def passed_sentence(assertions: Iterable[Assertion]) -> str:
    """Return the last line of a log whose checks did not fail the task."""
    warnings = sum(not (each.success or each.is_skipped) and each.severity == WARN for each in assertions)
    if not warnings:
        return "All checks passed"
    return f"All checks with severity error passed; {counted(warnings, 'warning')}"


def log_findings(log: logging.Logger, assertions: Iterable[Assertion]) -> None:
    """Write a line for each check that has no result, and for each that failed and does not fail the task."""
    for each in assertions:
        if each.is_skipped:
            log.info("Check %s is skipped: %s is absent", each.name, each.params.get("absent"))
        elif each.not_evaluated:
            log.warning("Check %s could not be evaluated: %s", each.name, each.not_evaluated)
        elif not each.success and each.severity == WARN:
            log.warning(
                "Check %s failed, with severity warn: expected %s, found %s",
                each.name,
                each.expected,
                each.actual,
            )
