"""A policy as a task of a DAG: `LineagePolicyOperator` checks the tasks before it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowException, BaseOperator

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.policy.reading import read_policy
from airflow_provider_spark_lineage.openlineage.policy.texts import lines_of, summary_of
from airflow_provider_spark_lineage.spark.checks.aggregates import validate_severity
from airflow_provider_spark_lineage.spark.checks.assertion import ERROR

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Context

    from airflow_provider_spark_lineage.openlineage.policy.findings import PolicyReport
    from airflow_provider_spark_lineage.openlineage.policy.rules import Policy


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
        gate = _gate()
        task_ids = sorted(self.get_flat_relative_ids(upstream=True))
        stored = gate.stored_before(context["ti"], task_ids)
        self.log.info("Tasks without lineage: %s", ", ".join(stored.without) or "none")
        report = self._report = gate.checked(self._policy, stored)
        text = "\n".join(lines_of(report))
        if not report.ok and self.severity == ERROR:
            raise AirflowException(f"{self._policy.source}\n{text}")
        for line in filter(None, text.splitlines()):
            self.log.info("%s", line)
        if not report.ok:
            self.log.warning("%s The severity is warn, so the task does not fail.", summary_of(report))

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
        answer: OperatorLineage = _gate().answer_of(
            self._report, self.severity, self, task_instance, has_failed=has_failed
        )
        return answer


def _gate() -> Any:
    """Return the module that does the work; Airflow parses DAG files without it, and without numpy."""
    with extra("graph"):
        from airflow_provider_spark_lineage.airflow.task import policy_gate
    return policy_gate
