"""Extractor for all operators of Airflow's Spark provider, and for `[spark_lineage] extra_operators`.

Set `[openlineage] extractors = airflow_provider_spark_lineage.extractors.SparkExtractor`. With
`[spark_lineage] auto_capture` it reports what Spark did; without, the planned lineage from a job's text.
Auto-capture also works without this extractor.
"""

from __future__ import annotations

from typing import Any

from airflow.providers.openlineage.extractors.base import BaseExtractor, OperatorLineage

from airflow_provider_spark_lineage.airflow.known_operators import COMMAND, DRIVERS, PYTHON
from airflow_provider_spark_lineage.spark import harmless


class SparkExtractor(BaseExtractor):
    """Answers the OpenLineage provider for operators that report nothing themselves.

    The provider calls it in a forked child, which can reach neither the JVM nor Airflow's supervisor: it
    reads the report that the task's process stored, and the text of the job.
    """

    @classmethod
    def get_operator_classnames(cls) -> list[str]:
        """Return the class names of the operators that use this extractor."""
        # `PythonOperator` keeps the provider's own extractor; shell commands have `LauncherExtractor`.
        names = [name for name, driver in DRIVERS.items() if driver not in ("", PYTHON, COMMAND)]
        with harmless("[spark_lineage] extra_operators could not be read"):
            from airflow_provider_spark_lineage.airflow import conf

            extra = conf.extra_operators()
            names += [name.rpartition(".")[2] for name, kind in extra.items() if kind != PYTHON]
        return list(dict.fromkeys(names))

    def _execute_extraction(self) -> OperatorLineage:
        """Return the datasets named in the job's text: nothing has run yet."""
        from airflow_provider_spark_lineage.airflow.task.selection import is_selected
        from airflow_provider_spark_lineage.airflow.task.starts import answer_at_start

        with harmless("the planned lineage of this task could not be computed"):
            if is_selected(self.operator.dag_id, self.operator.task_id):
                return answer_at_start(self.operator)
        return OperatorLineage()

    def extract_on_complete(self, task_instance: Any) -> OperatorLineage:
        """Return the datasets that the task read and wrote."""
        return self._result(task_instance, has_failed=False)

    def extract_on_failure(self, task_instance: Any) -> OperatorLineage:
        """Return the inputs so far, the finished writes, and Spark's errors."""
        return self._result(task_instance, has_failed=True)

    def _result(self, task_instance: Any, *, has_failed: bool) -> OperatorLineage:
        from airflow_provider_spark_lineage.airflow.task.answers import answer, uncaptured
        from airflow_provider_spark_lineage.airflow.task.process import TASK

        report = TASK.report_of(task_instance) or uncaptured(self.operator)
        return answer(report, self.operator, task_instance, has_failed=has_failed)
