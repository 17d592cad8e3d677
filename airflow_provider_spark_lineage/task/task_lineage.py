"""The lineage of the task that this process runs: shared by operators, extractors, plugin and run facets."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.guard import alarm_paused, harmless

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Context

    from airflow_provider_spark_lineage.lineage.model import Lineage
    from airflow_provider_spark_lineage.runs.pipeline import Run
    from airflow_provider_spark_lineage.task.collectors import Collector
    from airflow_provider_spark_lineage.task.hook_reports import Reported
    from airflow_provider_spark_lineage.task.sender import Sender

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
                from airflow_provider_spark_lineage.task.assets import add_asset_events

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
            lineage = self.run.lineage
            if lineage:
                _send(lineage, task_instance)

    def _stop(self, task_instance: Any) -> None:
        with harmless("what this task had done when it was told to stop could not be sent"):
            from airflow_provider_spark_lineage.lineage.model import Gap

            # Only for this event: a task that continues may have everything reported in the end.
            problems = self._collector.drain(KILL_DRAIN_SECONDS)
            lineage = self._collector.run(problems).lineage
            reason = "the task was told to stop: what it did from then on is not in this event"
            _send(replace(lineage, gaps=(*lineage.gaps, Gap("task", reason))), task_instance)

    def operator_lineage(self, *, failed: bool = False) -> OperatorLineage:
        """Return new OpenLineage objects: the provider's redactor changes them.

        A task that did all of its work has what its text says, with a gap, where what ran is not known.
        """
        from airflow.providers.openlineage.extractors import OperatorLineage

        from airflow_provider_spark_lineage.task.rendering import rendered

        with harmless("the lineage of this task could not be written as OpenLineage"):
            from airflow_provider_spark_lineage.lineage.model import Gap

            lineage, planned = self.run.lineage, self._collector.planned
            if planned is not None:
                if not failed:
                    lineage = replace(planned, gaps=(*lineage.gaps, *planned.gaps))
                elif not (lineage or lineage.gaps):
                    lineage = replace(lineage, gaps=(Gap("task", ENDED_EARLY),))
            return rendered(lineage)
        return OperatorLineage()


def _send(lineage: Lineage, task_instance: Any) -> None:
    """Send what a task has done so far, with what Airflow says of the task in all of its events."""
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.facets.events import EventFacets, interim_event
    from airflow_provider_spark_lineage.task.provider import emit, facets_of_start, identity_of

    facets = EventFacets({}, {})
    with harmless("an event of this task does not have what Airflow says of the task"):
        facets = facets_of_start(task_instance)
    identity = identity_of(task_instance)
    emit(interim_event(lineage, identity, facets, dataset_edges_per_field=conf.repeat_dataset_edges()))


def _within(seconds: float, function: Callable[..., None], *arguments: Any) -> None:
    """Call a function on a thread of its own, and wait until it has ended, for a limited time."""
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    with alarm_paused():
        thread.start()
        thread.join(seconds)


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
        from airflow_provider_spark_lineage.task.provider import emit, identity_of, is_active

        if not is_active(task_instance):
            return None
        from airflow_provider_spark_lineage import conf
        from airflow_provider_spark_lineage.task.collectors import collector_of
        from airflow_provider_spark_lineage.task.sender import Sender

        sender = None
        if conf.execution_events():
            with harmless("events of single executions cannot be sent"):
                sender = Sender(identity_of(task_instance), emit, per_field=conf.repeat_dataset_edges())
        collector = collector_of(task_instance, sender.put if sender else None)
        if sender is not None:
            sender.silenced = lambda: collector.agent_configured
        from airflow_provider_spark_lineage.task.hook_reports import reported_so_far

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


def key_of(task_instance: Any) -> tuple[Any, ...]:
    """Return what tells one try of a task instance from all others."""
    return (
        task_instance.dag_id,
        task_instance.task_id,
        task_instance.run_id,
        task_instance.map_index,
        task_instance.try_number,
    )
