"""Mixin of this package's operators: capture while the task runs, and the result as OpenLineage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Context

    from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage


class ReportsLineage:
    """Captures while `execute` runs, and returns the result to the OpenLineage provider."""

    _task_lineage: TaskLineage | None = None
    _task_instance: Any = None

    def execute(self, context: Context) -> Any:
        """Run the operator's own `execute`, captured if an event of the task will be sent."""
        with self.capture_lineage(context):
            return super().execute(context)  # type: ignore[misc]

    @contextmanager
    def capture_lineage(self, context: Context) -> Iterator[None]:
        """Capture Spark inside the block; for an `execute` of your own, put all of its work into it."""
        from airflow_provider_spark_lineage.airflow.task.ends import pausing, succeeding
        from airflow_provider_spark_lineage.airflow.task.task_lineage import start_capture

        self._task_instance = task_instance = context["ti"]
        self._task_lineage = lineage = start_capture(task_instance)
        if lineage is None:
            yield
            return
        with pausing(lambda: lineage.pause(task_instance)), succeeding(lambda: lineage.succeed(context)):
            try:
                yield
            finally:
                lineage.stop()
        _raise_failed_checks(lineage)
        lineage.succeed(context)

    def on_kill(self) -> None:
        """Run the operator's `on_kill`, and send the lineage so far: the process may be killed next."""
        try:
            super().on_kill()  # type: ignore[misc]
        finally:
            if self._task_lineage is not None:
                self._task_lineage.on_kill(self._task_instance)

    def get_openlineage_facets_on_start(self) -> OperatorLineage:
        """Return the datasets named in a submitted job's text; for a function, they are not known yet."""
        from airflow_provider_spark_lineage.airflow.task.starts import answer_at_start

        return answer_at_start(self)

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage:
        """Return the datasets that the task read and wrote."""
        return self._result(task_instance, has_failed=False)

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> OperatorLineage:
        """Return the inputs so far, the finished writes, and Spark's errors."""
        return self._result(task_instance, has_failed=True)

    def _result(self, task_instance: Any, *, has_failed: bool) -> OperatorLineage:
        from airflow_provider_spark_lineage.airflow.task.answers import answer

        report = self._task_lineage.report if self._task_lineage is not None else None
        return answer(report, self, task_instance, has_failed=has_failed)


def _raise_failed_checks(lineage: TaskLineage) -> None:
    """Fail the task if a check of a frame that it wrote failed, see `checks.check`."""
    from airflow.providers.common.compat.sdk import AirflowException

    failed = (assertion for each in lineage.in_flight for assertion in each.failed_in_flight)
    sentences = dict.fromkeys(assertion.sentence for assertion in failed)
    if sentences:
        raise AirflowException("Checks of written data failed: " + "; ".join(sentences))
