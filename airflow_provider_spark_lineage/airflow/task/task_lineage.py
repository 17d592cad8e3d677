"""Lineage of one try of a task, from the start of its capture until its events are sent."""

from __future__ import annotations

import copy
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.airflow.task.hook_reports import Reported, reported_so_far
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark.gaps import of_tasks
from airflow_provider_spark_lineage.spark.guard import alarm_paused, harmless, within

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Context

    from airflow_provider_spark_lineage.airflow.launch.application import Launch
    from airflow_provider_spark_lineage.airflow.task.progress import Progress
    from airflow_provider_spark_lineage.airflow.task.sender import Sender
    from airflow_provider_spark_lineage.spark.checks.assertion import Findings
    from airflow_provider_spark_lineage.spark.facets.size import Content
    from airflow_provider_spark_lineage.spark.lineage.model import Lineage
    from airflow_provider_spark_lineage.spark.runs.collector import Collector
    from airflow_provider_spark_lineage.spark.runs.pipeline import Run

KILL_DRAIN_SECONDS = 2.0
KILL_TIMEOUT_SECONDS = 4.0
"""Limits for the work in `on_kill`: Airflow kills the task five seconds later."""


class TaskLineage:
    """Lineage of one try of one task instance."""

    def __init__(
        self,
        collector: Collector,
        sender: Sender | None = None,
        emit_timeout_seconds: float = 5.0,
        hooks_before: Reported | None = None,
    ) -> None:
        self._collector = collector
        self._sender = sender
        self._emit_timeout_seconds = emit_timeout_seconds
        self._is_stopped = False
        self._progress: Progress | None = None
        self._fitted: tuple[Run, Lineage | None, tuple[bool, bool, int | None], Content] | None = None
        """The last result of `_content`, after what it depends on."""
        self.hooks_before = hooks_before
        """Numbers of hooks' reports in this process before the task began."""
        self.is_added = False
        """True if the result of the provider's own extractor is extended by this lineage."""

    @property
    def run(self) -> Run:
        """Executions and lineage of the task on Spark; empty if it did nothing."""
        return self._collector.run()

    @property
    def launch(self) -> Launch | None:
        """Applications that another system ran for the task; None if its collector does not know them."""
        launch: Launch | None = getattr(self._collector, "launch", None)
        return launch

    @property
    def is_empty(self) -> bool:
        """True if Spark did nothing for the task, as far as it is known; everything after `stop`."""
        run, planned = self.run, self._collector.planned
        did = run.executions or run.lineage or run.lineage.gaps or self.findings
        return not (did or planned is not None or self.launch)

    @property
    def findings(self) -> tuple[Findings, ...]:
        """Findings of the checks of written frames; everything after `stop`."""
        return self._collector.findings

    def start_progress(self, task_instance: Any) -> None:
        """Send RUNNING events until `stop`, if an option asks for them."""
        from airflow_provider_spark_lineage.airflow.task.progress import start_progress

        self._progress = start_progress(self, task_instance)

    def progress(self) -> Run | None:
        """Return the run so far, as its own events name it; None if nothing is known yet."""
        run = self._collector.progress()
        return replace(run, lineage=self._of_task(run.lineage)) if run is not None else None

    def stop(self) -> None:
        """Stop capturing, and wait until the events of executions are sent."""
        with alarm_paused(), harmless("the lineage of this task could not be computed"):
            waits_until = time.monotonic() + self._emit_timeout_seconds
            if self._progress is not None:
                self._progress.end(self._emit_timeout_seconds)
            emit_timeout_seconds = max(waits_until - time.monotonic(), 0)
            self._collector.stop()
            self._is_stopped = True
            if self._sender is not None:
                self._sender.end_streams(self._collector.run().stream_runs)
                self._sender.stop(emit_timeout_seconds)
            # Facet methods run in a forked child that is killed after a time: measure the event before.
            self._content(failed=False)

    def succeed(self, context: Context) -> None:
        """Have Airflow record events of the written assets, if `[spark_lineage] asset_events` is set.

        Call it after `stop`, if the task has not failed, with the context of its `execute`.
        """
        with harmless("Airflow does not get the assets that this task wrote"):
            from airflow_provider_spark_lineage.airflow import conf

            if conf.asset_events():
                from airflow_provider_spark_lineage.airflow.task.assets import add_asset_events

                add_asset_events(context, self.run.lineage)

    def on_kill(self, task_instance: Any) -> None:
        """Send the lineage so far, because the process may be killed next.

        Runs in a signal handler, which may have interrupted a call to the JVM: then the connection of this
        thread is busy, so another thread with its own connection does the work. After `stop`, nothing is
        sent: the final event has everything. The same holds after `execution_timeout`, for which Airflow
        calls this, too: with auto-capture that is before `stop`, with an operator of this package after it.
        """
        if not (self._is_stopped or _has_timed_out()):
            within(KILL_TIMEOUT_SECONDS, self._report_so_far, task_instance)

    def pause(self, task_instance: Any) -> None:
        """Send the lineage so far of a task that continues later in another process; call `stop` before."""
        within(self._emit_timeout_seconds, self._pause, task_instance)

    def _pause(self, task_instance: Any) -> None:
        with harmless("the lineage of this task before it deferred itself could not be sent"):
            if lineage := self.run.lineage:
                _send(self._of_task(lineage), task_instance, whole=lineage)

    def _report_so_far(self, task_instance: Any) -> None:
        with harmless("the lineage of this task before it was stopped could not be sent"):
            from airflow_provider_spark_lineage.spark.lineage.model import Gap

            if self._progress is not None:
                self._progress.end()

            # Problems of this event only: if the task continues, its final event may be complete.
            problems = self._collector.drain(KILL_DRAIN_SECONDS)
            lineage = self._collector.run(problems).lineage
            lineage = replace(lineage, gaps=(*lineage.gaps, Gap("task", of_tasks.STOPPED())))
            _send(self._of_task(lineage), task_instance, whole=lineage)

    def _of_task(self, lineage: Lineage) -> Lineage:
        """Return the lineage of the task's own events; its executions may have events with their datasets."""
        return replace(lineage, inputs=(), outputs=()) if self._leaves_datasets else lineage

    @property
    def _leaves_datasets(self) -> bool:
        from airflow_provider_spark_lineage.airflow import conf

        return self._sender is not None and self._sender.sends_all and not conf.task_datasets()

    def reported(self, failed: bool = False) -> Run:
        """Return the run with the lineage that its end event has."""
        return replace(self.run, lineage=self._content(failed).lineage)

    def _content(self, failed: bool, *, whole: bool = False, max_bytes: int | None = None) -> Content:
        """Return the lineage that the end event can hold; measuring it takes long, so it is kept.

        `whole` and `max_bytes` are for what is stored: with all datasets, in so many bytes.
        """
        run, planned = self.run, self._collector.planned
        failed = failed and planned is not None
        whole = whole or not self._leaves_datasets
        limits, known = (failed, whole, max_bytes), self._fitted
        if known is None or known[0] is not run or known[1] is not planned or known[2] != limits:
            lineage = run.lineage if whole else self._of_task(run.lineage)
            content = self._content_of(replace(run, lineage=lineage), planned, failed, max_bytes)
            self._fitted = known = (run, planned, limits, content)
        return known[3]

    def _content_of(self, run: Run, planned: Lineage | None, failed: bool, max_bytes: int | None) -> Content:
        """Return the lineage of a run that an event can hold.

        If nothing was captured of a task that has not failed, it is the planned lineage, with a gap.
        """
        from airflow_provider_spark_lineage.airflow import conf
        from airflow_provider_spark_lineage.airflow.task.answers import content_of
        from airflow_provider_spark_lineage.airflow.task.run_facets import fitting_run_facets
        from airflow_provider_spark_lineage.spark.facets.size import size_of
        from airflow_provider_spark_lineage.spark.facets.size_of_run import fitting_findings, size_of_findings
        from airflow_provider_spark_lineage.spark.lineage.model import Gap

        lineage = run.lineage
        if planned is not None:
            if not failed:
                lineage = replace(planned, gaps=(*lineage.gaps, *planned.gaps))
            elif not (lineage or lineage.gaps):
                lineage = replace(lineage, gaps=(Gap("task", of_tasks.ENDED_EARLY()),))
        facets, lineage = fitting_run_facets(replace(run, lineage=lineage), max_bytes)
        limit = conf.max_event_bytes() if max_bytes is None else max_bytes
        results, _ = fitting_findings(self.findings, conf.sql_text(), limit)
        used = size_of(facets) + size_of_findings(results, conf.sql_text())
        return content_of(lineage, used, max_bytes)

    def operator_lineage(
        self, failed: bool = False, *, whole: bool = False, max_bytes: int | None = None
    ) -> OperatorLineage:
        """Return new OpenLineage objects on each call, because the provider's redactor modifies them.

        `whole` and `max_bytes` are for what is stored: with all datasets, in so many bytes.
        """
        from airflow.providers.openlineage.extractors import OperatorLineage

        with harmless("the lineage of this task could not be converted to OpenLineage"):
            from airflow_provider_spark_lineage.airflow.task.answers import (
                rendered,
                with_findings,
                with_run_facets,
            )

            content = self._content(failed, whole=whole, max_bytes=max_bytes)
            run = replace(self.run, lineage=content.lineage)
            answer = with_run_facets(rendered(content), run, max_bytes)
            return with_findings(answer, self.findings, max_bytes)
        return OperatorLineage()


def _has_timed_out() -> bool:
    """Return whether the caller is handling Airflow's exception for `execution_timeout`."""
    return type(sys.exc_info()[1]).__name__ == "AirflowTaskTimeout"


def _send(lineage: Lineage, task_instance: Any, *, whole: Lineage) -> None:
    """Send an interim event with a lineage, and with Airflow's facets of all events of the task.

    `whole` is stored for the viewer.
    """
    from airflow_provider_spark_lineage.airflow.task.answers import content_of
    from airflow_provider_spark_lineage.airflow.task.provider import (
        emit,
        facets_of_start,
        identity_of,
        wait_until_sent,
    )
    from airflow_provider_spark_lineage.airflow.task.stored_lineage import store
    from airflow_provider_spark_lineage.spark.facets.events import EventFacets, interim_event

    facets = EventFacets({}, {})
    with harmless("an event of this task does not have Airflow's facets"):
        facets = facets_of_start(task_instance)
    identity = identity_of(task_instance)
    content = content_of(lineage)
    per_field = content.repeats_dataset_edges
    unsent = copy.deepcopy(facets)
    emit(interim_event(content.lineage, identity, facets, dataset_edges_per_field=per_field))

    def to_store(max_bytes: int | None) -> Any:
        return interim_event(content_of(whole, max_bytes=max_bytes).lineage, identity, copy.deepcopy(unsent))

    store(task_instance, to_store)
    # The process may end next. Not longer than a signal handler may take.
    wait_until_sent(KILL_TIMEOUT_SECONDS)


def start_capture(task_instance: Any, hooks_before: Reported | None = None) -> TaskLineage | None:
    """Start capturing for a task instance; return None if no event would have the lineage.

    `hooks_before` has the numbers of hooks' reports from when the task began, if that was earlier.
    """
    if TASK.lineage is not None:
        # It ended without `stop`: Airflow 3.0 has no hook for a task that skipped itself.
        TASK.lineage.stop()
    TASK.lineage = None
    with harmless("capture could not be started"):
        from airflow_provider_spark_lineage.airflow.task.provider import (
            emit,
            identity_of,
            is_active,
            wait_until_sent,
            warn_of_unknown_run_facets,
        )

        if not is_active(task_instance):
            return None
        with harmless("the names of `custom_run_facets` could not be checked"):
            warn_of_unknown_run_facets()
        from airflow_provider_spark_lineage.airflow import conf
        from airflow_provider_spark_lineage.airflow.task.collectors import collector_of
        from airflow_provider_spark_lineage.airflow.task.java_agent import (
            left_to_java_agent,
            properties_for_java_agent,
        )
        from airflow_provider_spark_lineage.airflow.task.sender import Sender
        from airflow_provider_spark_lineage.airflow.task.stored_lineage import prepare

        sender = None
        which = conf.execution_events()
        if which != "none":
            with harmless("events of single executions cannot be sent"):
                sender = Sender(
                    identity_of(task_instance),
                    emit,
                    per_field=conf.repeat_dataset_edges(),
                    max_event_bytes=conf.max_event_bytes(),
                    which=which,
                    start_outputs=conf.start_outputs(),
                    progress_interval_seconds=conf.progress_interval_seconds(),
                    wait_until_sent=wait_until_sent,
                )
        collector = collector_of(task_instance, sender)
        if sender is not None:
            collector.on_stream_end = sender.end_streams
            sender.silenced = left_to_java_agent(collector)
        with harmless("OpenLineage's Java agent cannot be told the task of its application"):
            collector.added_properties = properties_for_java_agent(task_instance)
        before = reported_so_far() if hooks_before is None else hooks_before
        collector.start()
        lineage = TaskLineage(collector, sender, conf.emit_timeout_seconds(), before)
        TASK.set_lineage(task_instance, lineage)
        prepare()
        lineage.start_progress(task_instance)
        return lineage
    return None
