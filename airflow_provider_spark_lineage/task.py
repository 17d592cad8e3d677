"""What an Airflow task does with captured lineage: shared by operators, extractors, plugin and run facets.

Capture starts and ends in the task's process. Everything that the OpenLineage provider asks for
afterwards is read from what was captured: in a forked child, without a JVM and without a network.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.capture.guard import harmless

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.captured import Captured
    from airflow_provider_spark_lineage.pipeline import Run

log = logging.getLogger(__name__)

EMIT_TIMEOUT_SECONDS = 10.0
"""How long a task waits for the events of its executions to be sent, as the provider does for its own."""


class TaskLineage:
    """The lineage of one try of one task instance."""

    def __init__(self, captured: Captured) -> None:
        self._captured = captured

    @property
    def run(self) -> Run:
        """What the task did on Spark; empty when it did nothing."""
        return self._captured.run()

    def finish(self, task_instance: Any) -> None:
        """Let go of Spark, work the lineage out, and send the events of single executions."""
        with harmless("the lineage of this task could not be worked out"):
            self._captured.finish()
            run = self._captured.run()
            from airflow_provider_spark_lineage import conf

            if run.lineage and conf.execution_events() and not self._captured.agent_configured:
                _send_execution_events(self._captured, task_instance)
            self._captured.discard()

    def operator_lineage(self) -> OperatorLineage:
        """Return fresh OpenLineage objects: the provider's redactor changes what it is given."""
        from airflow.providers.openlineage.extractors import OperatorLineage

        with harmless("the lineage of this task could not be written as OpenLineage"):
            from airflow_provider_spark_lineage import conf
            from airflow_provider_spark_lineage.facets.datasets import input_datasets, output_datasets
            from airflow_provider_spark_lineage.facets.jobs import lineage_job_facets
            from airflow_provider_spark_lineage.facets.runs import lineage_run_facets

            lineage = self.run.lineage
            return OperatorLineage(
                inputs=input_datasets(lineage),
                outputs=output_datasets(lineage, dataset_edges_per_field=conf.repeat_dataset_edges()),
                run_facets=lineage_run_facets(lineage),
                job_facets=lineage_job_facets(lineage),
            )
        return OperatorLineage()


_latest: tuple[tuple[Any, ...], TaskLineage] | None = None
"""The task that this process runs, or ran last: a task process runs one, `dag.test()` one after another."""


def start_capture(task_instance: Any) -> TaskLineage | None:
    """Start capturing for a task instance; None when no event would carry the lineage."""
    global _latest  # noqa: PLW0603  extractors and run facets get nothing but the task instance to find it by
    _latest = None
    with harmless("capture could not be started"):
        if not is_active(task_instance):
            return None
        from airflow_provider_spark_lineage import conf
        from airflow_provider_spark_lineage.captured import Captured

        captured = Captured(
            drain_timeout_seconds=conf.drain_timeout_seconds(), max_plan_bytes=conf.max_plan_bytes()
        )
        captured.start()
        _latest = (_key(task_instance), TaskLineage(captured))
        return _latest[1]
    return None


def lineage_of(task_instance: Any) -> TaskLineage | None:
    """Return what was captured for a task instance in this process; None if nothing was."""
    if _latest is not None and _latest[0] == _key(task_instance):
        return _latest[1]
    return None


def is_active(task_instance: Any) -> bool:
    """Say whether lineage is wanted: both `[openlineage]` and `[spark_lineage]` on, for this operator too."""
    from airflow.providers.openlineage import conf as openlineage_conf

    from airflow_provider_spark_lineage import conf

    if conf.disabled() or openlineage_conf.is_disabled():
        return False
    task = task_instance.task
    return f"{type(task).__module__}.{type(task).__name__}" not in openlineage_conf.disabled_operators()


def _key(task_instance: Any) -> tuple[Any, ...]:
    return (
        task_instance.dag_id,
        task_instance.task_id,
        task_instance.run_id,
        task_instance.map_index,
        task_instance.try_number,
    )


def _send_execution_events(captured: Captured, task_instance: Any) -> None:
    """Emit a START and an end event for each execution, as child runs of the task.

    A backend that hangs must not hold the task: after the timeout the rest is sent beside it.
    """
    from airflow.providers.openlineage.plugins import macros
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.facets.events import RunIdentity, execution_events
    from airflow_provider_spark_lineage.pipeline import execution_events_of

    root = RunIdentity(
        run_id=macros.lineage_root_run_id(task_instance),
        namespace=macros.lineage_root_job_namespace(task_instance),
        job=macros.lineage_root_job_name(task_instance),
    )
    parent = RunIdentity(
        run_id=macros.lineage_run_id(task_instance),
        namespace=macros.lineage_job_namespace(),
        job=macros.lineage_job_name(task_instance),
        root=root,
    )
    events = execution_events(
        execution_events_of(captured.executions()),
        parent,
        application_id=captured.run().applications[0].id,
        dataset_edges_per_field=conf.repeat_dataset_edges(),
    )
    adapter = get_openlineage_listener().adapter

    def send() -> None:
        with harmless("events of single executions could not be sent"):
            for event in events:
                adapter.emit(event)

    sender = threading.Thread(target=send, name="spark-lineage-events", daemon=True)
    sender.start()
    sender.join(EMIT_TIMEOUT_SECONDS)
    if sender.is_alive():
        log.warning("Spark lineage: sending the events of single executions takes long; not waiting for it.")
