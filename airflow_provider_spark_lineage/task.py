"""What an Airflow task does with its lineage: shared by operators, extractors, plugin and run facets.

A collector starts and ends in the task's process. The OpenLineage provider asks for the lineage afterwards
in a forked child, without a JVM and a network, so everything is read from what the collector stored.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.capture.guard import alarm_paused, harmless

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.providers.openlineage.plugins.adapter import OpenLineageAdapter
    from airflow.sdk import Context

    from airflow_provider_spark_lineage.collectors import Collector
    from airflow_provider_spark_lineage.facets.events import RunIdentity
    from airflow_provider_spark_lineage.hook_reports import Reported
    from airflow_provider_spark_lineage.lineage.model import Lineage
    from airflow_provider_spark_lineage.pipeline import Run
    from airflow_provider_spark_lineage.sender import Sender

ENDED_EARLY = "what ran before the task ended is not known: its text says only what was going to run"

KILL_DRAIN_SECONDS = 2.0
KILL_TIMEOUT_SECONDS = 4.0
"""How long stopping a task may take: Airflow kills it five seconds after `on_kill`."""


class TaskLineage:
    """The lineage of one try of one task instance."""

    def __init__(
        self, collector: Collector, sender: Sender | None = None, *, emit_timeout_seconds: float = 10.0
    ) -> None:
        self._collector = collector
        self._sender = sender
        self._emit_timeout_seconds = emit_timeout_seconds
        self._is_finished = False
        self.hooks_before: Reported | None = None
        """What hooks had reported in this process before the task began."""

    @property
    def run(self) -> Run:
        """What the task did on Spark; empty when it did nothing."""
        return self._collector.run()

    def finish(self) -> None:
        """Stop capturing, and wait until the events of executions are sent."""
        with alarm_paused(), harmless("the lineage of this task could not be worked out"):
            self._collector.finish()
            self._is_finished = True
            if self._sender is not None:
                self._sender.finish(self._emit_timeout_seconds)

    def succeed(self, context: Context) -> None:
        """Have Airflow record events of the assets that were written, where the user wants them.

        Call it after `finish`, in a task that has not failed, with the context of its `execute`.
        """
        with harmless("Airflow does not get the assets that this task wrote"):
            from airflow_provider_spark_lineage import conf

            if conf.asset_events():
                from airflow_provider_spark_lineage.assets import add_asset_events

                add_asset_events(context, self.run.lineage)

    def stop(self, task_instance: Any) -> None:
        """Send what the task has done so far, because its process may be killed next.

        Runs in a signal handler, which may have interrupted a call to the JVM: the connection of this thread
        is busy then, so another thread, with a connection of its own, does the work. A task that has
        finished capturing reports everything in its final event.
        """
        if not self._is_finished:
            _within(KILL_TIMEOUT_SECONDS, self._stop, task_instance)

    def pause(self, task_instance: Any) -> None:
        """Send what a task has done that goes on later, in another process; `finish` comes before."""
        _within(self._emit_timeout_seconds, self._pause, task_instance)

    def _pause(self, task_instance: Any) -> None:
        with harmless("what this task had done when it was deferred could not be sent"):
            from airflow_provider_spark_lineage.facets.events import interim_event

            lineage = self.run.lineage
            if lineage:
                _emit(interim_event(lineage, _identity(task_instance)))

    def _stop(self, task_instance: Any) -> None:
        with harmless("what this task had done when it was told to stop could not be sent"):
            from airflow_provider_spark_lineage.facets.events import interim_event
            from airflow_provider_spark_lineage.lineage.model import Gap

            # Only for this event: a task that continues may have everything reported in the end.
            problems = self._collector.drain(KILL_DRAIN_SECONDS)
            lineage = self._collector.run(problems).lineage
            reason = "the task was told to stop: what it did from then on is not in this event"
            stopped = replace(lineage, gaps=(*lineage.gaps, Gap("task", reason)))
            _emit(interim_event(stopped, _identity(task_instance)))

    def operator_lineage(self, *, failed: bool = False) -> OperatorLineage:
        """Return new OpenLineage objects: the provider's redactor changes them.

        A task that did all of its work has what its text says, with a gap, where what ran is not known.
        """
        from airflow.providers.openlineage.extractors import OperatorLineage

        with harmless("the lineage of this task could not be written as OpenLineage"):
            from airflow_provider_spark_lineage.lineage.model import Gap

            lineage, planned = self.run.lineage, self._collector.planned
            if planned is not None:
                if not failed:
                    lineage = replace(planned, gaps=(*lineage.gaps, *planned.gaps))
                elif not (lineage or lineage.gaps):
                    lineage = replace(lineage, gaps=(Gap("task", ENDED_EARLY),))
            return _operator_lineage(lineage)
        return OperatorLineage()


def _within(seconds: float, function: Callable[..., None], *arguments: Any) -> None:
    """Call a function on a thread of its own, and wait until it has ended, for a limited time."""
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    with alarm_paused():
        thread.start()
        thread.join(seconds)


def planned_operator_lineage(operator: Any) -> OperatorLineage:
    """Return the datasets of an operator's job that has not run, where its text names all of them."""
    from airflow.providers.openlineage.extractors import OperatorLineage

    with harmless("what this task is going to read and write could not be worked out"):
        from airflow_provider_spark_lineage.submitted.planned import certain

        lineage = _planned(operator)
        if lineage is not None and certain(lineage):
            from airflow_provider_spark_lineage.facets.datasets import input_datasets, output_datasets

            return OperatorLineage(inputs=input_datasets(lineage), outputs=output_datasets(lineage))
    return OperatorLineage()


SWITCHED_OFF = (
    "nothing is captured of operators that are not of this package: set [spark_lineage] auto_capture to True"
)
NOT_CAPTURED = "auto-capture did not start in this task: the task's log may say why"


def uncaptured_operator_lineage(operator: Any, *, failed: bool) -> OperatorLineage:
    """Return what the text says of a job that has run, with a gap that says why no more is known.

    Empty where the user wants nothing.
    """
    from airflow.providers.openlineage.extractors import OperatorLineage

    with harmless("what this task read and wrote could not be worked out"):
        from airflow_provider_spark_lineage import conf
        from airflow_provider_spark_lineage.extractors.selection import is_selected
        from airflow_provider_spark_lineage.lineage.model import Gap, Lineage

        if not conf.disabled() and is_selected(operator.dag_id, operator.task_id):
            gap = Gap("task", NOT_CAPTURED if conf.auto_capture() else SWITCHED_OFF)
            planned = None if failed else _planned(operator)
            lineage = Lineage() if planned is None else planned
            return _operator_lineage(replace(lineage, gaps=(gap, *lineage.gaps)))
    return OperatorLineage()


def _planned(operator: Any) -> Lineage | None:
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.extractors.operators import driver_of
    from airflow_provider_spark_lineage.submitted.planned import planned_of

    if conf.disabled():
        return None
    return planned_of(operator, driver_of(type(operator), conf.extra_operators()))


def operator_lineage(
    lineage: Lineage, operator: Any, task_instance: Any = None, *, failed: bool = False
) -> OperatorLineage:
    """Return a lineage as what an extractor returns, with what the task's author and its hooks say.

    `task_instance` is what the provider gave to `extract_on_complete` or `extract_on_failure`; None at START.
    """
    from airflow_provider_spark_lineage.annotation import annotated

    return annotated(_operator_lineage(lineage), operator, task_instance, failed=failed)


def _operator_lineage(lineage: Lineage) -> OperatorLineage:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.facets.datasets import input_datasets, output_datasets
    from airflow_provider_spark_lineage.facets.jobs import lineage_job_facets
    from airflow_provider_spark_lineage.facets.runs import lineage_run_facets

    return OperatorLineage(
        inputs=input_datasets(lineage),
        outputs=output_datasets(lineage, dataset_edges_per_field=conf.repeat_dataset_edges()),
        run_facets=lineage_run_facets(lineage),
        job_facets=lineage_job_facets(lineage),
    )


_latest: tuple[tuple[Any, ...], TaskLineage] | None = None
"""The task that this process runs, or ran last: `dag.test()` runs several in one process."""


def start_capture(task_instance: Any, hooks_before: Reported | None = None) -> TaskLineage | None:
    """Start capturing for a task instance; None when no event would carry the lineage.

    `hooks_before` is what hooks had reported when the task began, where that was earlier.
    """
    global _latest  # noqa: PLW0603  extractors and run facets have only the task instance to find it by
    if _latest is not None:
        # That task ended without a call of `finish`: Airflow 3.0 has no hook for a task that skipped itself.
        _latest[1].finish()
    _latest = None
    with harmless("capture could not be started"):
        if not is_active(task_instance):
            return None
        from airflow_provider_spark_lineage import conf
        from airflow_provider_spark_lineage.collectors import collector_of
        from airflow_provider_spark_lineage.sender import Sender

        sender = None
        if conf.execution_events():
            with harmless("events of single executions cannot be sent"):
                sender = Sender(_identity(task_instance), _emit, per_field=conf.repeat_dataset_edges())
        collector = collector_of(task_instance, sender.put if sender else None)
        if sender is not None:
            sender.silenced = lambda: collector.agent_configured
        from airflow_provider_spark_lineage.hook_reports import reported_so_far

        before = reported_so_far() if hooks_before is None else hooks_before
        collector.start()
        lineage = TaskLineage(collector, sender, emit_timeout_seconds=conf.emit_timeout_seconds())
        lineage.hooks_before = before
        _latest = (key_of(task_instance), lineage)
        return _latest[1]
    return None


def lineage_of(task_instance: Any) -> TaskLineage | None:
    """Return what was captured for a task instance in this process; None if nothing was."""
    if _latest is not None and _latest[0] == key_of(task_instance):
        return _latest[1]
    return None


def is_skipped(task_instance: Any) -> bool:
    """Return whether a task ended by skipping itself: OpenLineage calls that COMPLETE.

    As of one that failed, nobody knows how much of its work it did.
    """
    return bool(getattr(task_instance, "state", None) == "skipped")


def is_active(task_instance: Any) -> bool:
    """Return whether an event of this task will be sent, with its operator's lineage.

    The provider's options decide; a task without events sends none of its executions either.
    """
    from airflow.providers.openlineage import conf as openlineage_conf

    from airflow_provider_spark_lineage import conf

    if conf.disabled() or openlineage_conf.is_disabled():
        return False
    policy = emission_policy(task_instance)
    if policy is not None:
        return bool(policy.emit and policy.extract_operator_metadata)
    from airflow.providers.openlineage.utils.utils import is_operator_disabled, is_selective_lineage_enabled

    task = task_instance.task
    return not is_operator_disabled(task) and is_selective_lineage_enabled(task)


def emission_policy(task_instance: Any) -> Any:
    """Return the provider's `EmissionPolicy` of a task.

    None for providers before 2.19, which have two options instead.
    """
    try:
        from airflow.providers.openlineage.utils.emission_policy import resolve_task_emission_policy
    except ImportError:
        return None
    with warnings.catch_warnings():
        # The provider warns of deprecated options itself when it reads them.
        warnings.simplefilter("ignore", DeprecationWarning)
        return resolve_task_emission_policy(
            operator=task_instance.task, dag_id=task_instance.dag_id, task_id=task_instance.task_id
        )


def key_of(task_instance: Any) -> tuple[Any, ...]:
    """Return what tells one try of a task instance from all others."""
    return (
        task_instance.dag_id,
        task_instance.task_id,
        task_instance.run_id,
        task_instance.map_index,
        task_instance.try_number,
    )


def _identity(task_instance: Any) -> RunIdentity:
    """Return the identity of a task's run in OpenLineage, with that of its root run."""
    from airflow.providers.openlineage.plugins import macros

    from airflow_provider_spark_lineage.facets.events import RunIdentity

    root = RunIdentity(
        run_id=macros.lineage_root_run_id(task_instance),
        namespace=macros.lineage_root_job_namespace(task_instance),
        job=macros.lineage_root_job_name(task_instance),
    )
    return RunIdentity(
        run_id=macros.lineage_run_id(task_instance),
        namespace=macros.lineage_job_namespace(),
        job=macros.lineage_job_name(task_instance),
        root=root,
    )


def _emit(event: Any) -> None:
    _adapter().emit(event)


@cache
def _adapter() -> OpenLineageAdapter:
    """Return the adapter that sends events from this process.

    Not the listener's: that one sends in forked children, which would inherit a client whose connections are
    in use here, or whose sending thread does not exist in the child.
    """
    from airflow.providers.openlineage.plugins.adapter import OpenLineageAdapter

    return OpenLineageAdapter()
