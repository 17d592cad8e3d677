"""A policy as a task: checks the stored lineage of other tasks, and reports the result in the task's event.

Only `operators.lineage_policy` imports this module, because it reads events like any consumer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow.providers.common.compat.sdk import AirflowException
from airflow.providers.openlineage.extractors import OperatorLineage

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.task.answers import answer
from airflow_provider_spark_lineage.airflow.task.report import TaskReport
from airflow_provider_spark_lineage.airflow.task.stored_events import StoredEvents, events_of_tasks
from airflow_provider_spark_lineage.openlineage.policy.checking import check_documents
from airflow_provider_spark_lineage.openlineage.policy.findings import PolicyFinding, PolicyReport
from airflow_provider_spark_lineage.openlineage.policy.rules import Policy
from airflow_provider_spark_lineage.openlineage.policy.texts import path_of
from airflow_provider_spark_lineage.spark import Assertion, Findings, Lineage, Run

NO_STORE = (
    "`[spark_lineage] store` is none, so tasks store no lineage that could be checked: set it to xcom, or to"
    " a URI that all workers can read"
)


def stored_before(task_instance: Any, task_ids: Sequence[str]) -> StoredEvents:
    """Return what tasks before the gate stored; raise AirflowException if that cannot be checked."""
    if conf.store() == "none":
        raise AirflowException(f"{NO_STORE}.")
    stored = events_of_tasks(task_instance, task_ids)
    if stored.problems:
        raise AirflowException(f"stored lineage cannot be read: {'; '.join(stored.problems)}")
    if not stored.events:
        raise AirflowException(
            f"no task before this one stored lineage ({', '.join(task_ids) or 'there are none'}), so nothing"
            " can be checked: put it downstream of tasks that use Spark, and look at the tab Lineage."
        )
    return stored


def checked(policy: Policy, stored: StoredEvents) -> PolicyReport:
    """Return the result of a policy for what tasks stored."""
    return check_documents(policy, stored.events)


def answer_of(
    report: PolicyReport | None, severity: str, task: Any, task_instance: Any, *, has_failed: bool
) -> OperatorLineage:
    """Return the result as OpenLineage objects: the datasets of the rules, each with its assertions."""
    findings = findings_of(report, severity) if report is not None else ()
    datasets = (each.output for each in findings if each.output is not None)
    task_report = TaskReport(Run(Lineage.of_reads(datasets)), findings=findings)
    return answer(task_report, task, task_instance, has_failed=has_failed)


def findings_of(report: PolicyReport, severity: str = Assertion.severity) -> tuple[Findings, ...]:
    """Return the result of a policy as results of checks: of each dataset, one for each of its rules.

    A rule that is broken has one for each column that breaks it.
    """
    broken: dict[tuple[str, tuple[str, str]], list[PolicyFinding]] = {}
    for finding in report.failures:
        broken.setdefault((finding.rule, finding.dataset), []).append(finding)
    by_dataset: dict[tuple[str, str], list[Assertion]] = {}
    for rule, dataset in report.checked:
        results = by_dataset.setdefault(dataset, [])
        failures = broken.get((rule, dataset), [])
        if not failures:
            results.append(_assertion(rule, severity))
        results += [_assertion(rule, severity, finding) for finding in failures]
    return tuple(
        Findings(tuple(assertions), output=dataset, is_reported=True)
        for dataset, assertions in by_dataset.items()
    )


def _assertion(rule: str, severity: str, finding: PolicyFinding | None = None) -> Assertion:
    return Assertion(
        assertion=rule,
        success=finding is None,
        name=rule,
        check_type="lineage_policy",
        column=(finding.field or "") if finding is not None else "",
        severity=severity,
        actual=finding.reason if finding is not None else None,
        description=path_of(finding) if finding is not None else "",
    )
