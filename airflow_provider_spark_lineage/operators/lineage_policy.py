"""A policy as a task of a DAG: `LineagePolicyOperator` checks what the tasks before it did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowException, BaseOperator

from airflow_provider_spark_lineage.openlineage.policy.reading import read_policy
from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.spark.checks.aggregates import validate_severity
from airflow_provider_spark_lineage.spark.checks.assertion import ERROR, Assertion, Findings

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Context

    from airflow_provider_spark_lineage.openlineage.policy.findings import PolicyFinding, PolicyReport
    from airflow_provider_spark_lineage.openlineage.policy.rules import Policy

NO_STORE = (
    "`[spark_lineage] store` is none, so tasks store no lineage that could be checked: set it to xcom, or to"
    " a URI that all workers can read"
)


class LineagePolicyOperator(BaseOperator):
    """Checks a policy against the lineage that the tasks before it in this DAG run stored.

    Put it between the tasks that make data and the one that publishes them. It needs the extra `graph`. Its
    result is in its OpenLineage event, as assertions at the datasets.

    :param policy: a policy in YAML; a relative path begins at the folder of the DAG's file. A mistake in it
        fails when the DAG is parsed.
    :param severity: `error` fails the task if a rule is broken; `warn` only logs it.

    >>> LineagePolicyOperator(task_id="gate", policy="policy.yaml")  # doctest: +SKIP
    """

    def __init__(self, *, policy: str | Path, severity: str = ERROR, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        validate_severity(self.task_id, severity)
        self.policy = policy
        self.severity = severity
        self._policy: Policy = read_policy(self._place)
        self._report: PolicyReport | None = None

    @property
    def _place(self) -> Path:
        path = Path(self.policy)
        if path.is_absolute() or not self.has_dag():
            return path
        beside = Path(self.dag.fileloc).parent / path
        return beside if beside.exists() else path

    def execute(self, context: Context) -> None:
        """Check the policy, and raise AirflowException if a rule is broken."""
        from airflow_provider_spark_lineage.openlineage.policy.texts import lines_of, summary_of

        report = self._report = self._check(context["ti"])
        text = "\n".join(lines_of(report))
        if not report.ok and self.severity == ERROR:
            raise AirflowException(f"{self._policy.source}\n{text}")
        for line in filter(None, text.splitlines()):
            self.log.info("%s", line)
        if not report.ok:
            self.log.warning("%s The severity is warn, so the task does not fail.", summary_of(report))

    def _check(self, task_instance: Any) -> PolicyReport:
        from airflow_provider_spark_lineage.airflow import conf
        from airflow_provider_spark_lineage.airflow.task.stored_events import events_of_tasks
        from airflow_provider_spark_lineage.errors import extra

        with extra("graph"):
            from airflow_provider_spark_lineage.openlineage.policy.checking import check_events

        if conf.store() == "none":
            raise AirflowException(f"{self.task_id}: {NO_STORE}.")
        task_ids = sorted(self.get_flat_relative_ids(upstream=True))
        stored = events_of_tasks(task_instance, task_ids)
        if stored.problems:
            raise AirflowException(
                f"{self.task_id}: stored lineage cannot be read: {'; '.join(stored.problems)}"
            )
        if not stored.events:
            before = ", ".join(task_ids) or "there are none"
            raise AirflowException(
                f"{self.task_id}: no task before this one stored lineage ({before}), so nothing can be"
                " checked: put it downstream of tasks that use Spark, and look at the tab Lineage."
            )
        self.log.info(
            "Checking the lineage of %s; without lineage: %s",
            counted(len(task_ids) - len(stored.without), "task"),
            ", ".join(stored.without) or "none",
        )
        return check_events(self._policy, stored.events)

    def get_openlineage_facets_on_start(self) -> OperatorLineage:
        """Return nothing: the datasets are known after the check."""
        from airflow.providers.openlineage.extractors import OperatorLineage

        return OperatorLineage()

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage:
        """Return the datasets of the rules, each with its results."""
        return self._result(task_instance, has_failed=False)

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> OperatorLineage:
        """Return the same: a broken rule fails the task after the check."""
        return self._result(task_instance, has_failed=True)

    def _result(self, task_instance: Any, *, has_failed: bool) -> OperatorLineage:
        from airflow_provider_spark_lineage.airflow.task.answers import answer
        from airflow_provider_spark_lineage.airflow.task.report import TaskReport
        from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Input, Lineage
        from airflow_provider_spark_lineage.spark.runs.run import Run
        from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

        findings = findings_of(self._report, self.severity) if self._report is not None else ()
        datasets = (each.output for each in findings if each.output is not None)
        inputs = tuple(Input(Dataset(Identity(DatasetId(*dataset)))) for dataset in datasets)
        report = TaskReport(Run(Lineage(inputs=inputs)), findings=findings)
        return answer(report, self, task_instance, has_failed=has_failed)


def findings_of(report: PolicyReport, severity: str = ERROR) -> tuple[Findings, ...]:
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
    from airflow_provider_spark_lineage.openlineage.policy.texts import path_of

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
