"""Mixin of operators that check data: results are in the log and in the task's event."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from airflow_provider_spark_lineage.airflow.task.reporting import ReportsLineage
from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.spark import Assertion, Findings


class ReportsFindings(ReportsLineage):
    """Adds the results of checks to the datasets of the task's event."""

    def report_findings(self, findings: Findings) -> None:
        """Add the results of one frame, or of one statement, to the task's report."""
        if self._task_lineage is not None:
            self._task_lineage.add_findings([findings])


def passed_sentence(assertions: Iterable[Assertion]) -> str:
    """Return the last line of a log whose checks did not fail the task."""
    warnings = sum(not (each.success or each.is_skipped) and each.is_warning for each in assertions)
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
        elif not each.success and each.is_warning:
            log.warning(
                "Check %s failed, with severity warn: expected %s, found %s",
                each.name,
                each.expected,
                each.actual,
            )
