"""What an Airflow task does with captured lineage: shared by operators, extractors, plugin and run facets.

Capture starts and ends in the task's process. Everything that the OpenLineage provider asks for
afterwards is read from what was captured: in a forked child, without a JVM and without a network.
"""

from __future__ import annotations

import logging
import threading
import warnings
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.capture.guard import harmless

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.captured import Captured
    from airflow_provider_spark_lineage.pipeline import Run

log = logging.getLogger(__name__)

EMIT_TIMEOUT_SECONDS = 10.0
"""How long the events of a task's executions may take to be sent, as the provider allows for its own."""


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
            try:
                self._captured.finish()
                run = self._captured.run()
                from airflow_provider_spark_lineage import conf

                if run.lineage and conf.execution_events() and not self._captured.agent_configured:
                    _send_execution_events(self._captured, task_instance)
            finally:
                self.discard()

    def abandon(self) -> None:
        """Let go of Spark, and send nothing."""
        with harmless("capture of an earlier task could not be ended"):
            self._captured.finish()
            self.discard()

    def discard(self) -> None:
        """Leave no records behind; the lineage that was worked out stays.

        Airflow ends a task's process without Python's own clean-up, so nobody else removes them.
        """
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
    if _latest is not None:
        # Whoever ended that task did not tell us: Airflow 3.0 has no hook for a task that skipped itself.
        _latest[1].abandon()
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
    """Say whether an event of this task will be sent, and with what its operator knows.

    The provider decides; a task that it is told to keep silent about sends no event of an execution either.
    """
    from airflow.providers.openlineage import conf as openlineage_conf

    from airflow_provider_spark_lineage import conf

    if conf.disabled() or openlineage_conf.is_disabled():
        return False
    task = task_instance.task
    try:
        from airflow.providers.openlineage.utils.emission_policy import resolve_task_emission_policy
    except ImportError:  # Providers before 2.19 have two options instead of a policy.
        from airflow.providers.openlineage.utils.utils import (
            is_operator_disabled,
            is_selective_lineage_enabled,
        )

        return not is_operator_disabled(task) and is_selective_lineage_enabled(task)
    with warnings.catch_warnings():
        # What it says of deprecated options, the provider says itself when it asks.
        warnings.simplefilter("ignore", DeprecationWarning)
        policy = resolve_task_emission_policy(
            operator=task, dag_id=task_instance.dag_id, task_id=task_instance.task_id
        )
    return bool(policy.emit and policy.extract_operator_metadata)


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

    A backend that hangs must not hold the task: after the timeout no further event is sent.
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
    given_up = threading.Event()

    def send() -> None:
        with harmless("events of single executions could not be sent"):
            for event in events:
                if given_up.is_set():
                    return
                adapter.emit(event)

    sender = threading.Thread(target=send, name="spark-lineage-events", daemon=True)
    sender.start()
    sender.join(EMIT_TIMEOUT_SECONDS)
    if sender.is_alive():
        # The provider forks next, and a child inherits every lock that a thread of its parent holds.
        given_up.set()
        log.warning(
            "Spark lineage: after %d s not all events of single executions were sent; the rest is left out.",
            EMIT_TIMEOUT_SECONDS,
        )
