"""Auto-capture of one task: starts its capture, and has OpenLineage's provider report the result.

No extractor needs to be configured: the operator gets the methods that the provider looks for. If the
provider has its own extractor, as for Python functions, our result is added to the extractor's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.airflow.known_operators import COMMAND, PYTHON
from airflow_provider_spark_lineage.airflow.plugins.launched import (
    CommandArrival,
    awaits_command,
    may_launch,
    report_launches,
)
from airflow_provider_spark_lineage.airflow.task.hook_reports import Reported, reported_so_far
from airflow_provider_spark_lineage.airflow.task.selection import is_selected
from airflow_provider_spark_lineage.spark import Arrival, harmless

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage
    from airflow_provider_spark_lineage.spark import NewContexts


_FOR_JAVA_AGENT = ("spark_inject_parent_job_info", "spark_inject_transport_info")
"""Options of Airflow, the only ones for Python functions: their operators have no such arguments."""


class CapturedTask:
    """A task that runs in this process.

    `driver` is the kind of its Spark driver; `is_named` is true if `extra_operators` has its operator.
    """

    def __init__(self, task_instance: Any, driver: str, *, is_named: bool) -> None:
        self.task_instance = task_instance
        self._task = task_instance.task
        self._is_named = is_named
        self._lineage: TaskLineage | None = None
        self._hooks_before: Reported | None = None
        self._new_contexts: NewContexts | None = None
        self._arrival: Arrival | CommandArrival | None = None
        if driver == PYTHON:
            self._arrival = Arrival(self._start)
        elif driver == COMMAND and awaits_command(self._task):
            self._arrival = CommandArrival(self._task, self._start_command)

    def start(self) -> None:
        """Start capturing; for a Python function, when it creates its first session.

        If the command is not known yet, start when it is, and only if it may call Spark.
        """
        if not is_selected(self.task_instance.dag_id, self.task_instance.task_id):
            return
        _succeed_after_execute(self._task, self._succeed)
        if self._arrival is not None:
            self._hooks_before = reported_so_far()
            if isinstance(self._arrival, Arrival):
                self._add_properties()
            self._arrival.arm()
        else:
            self._start()

    def stop(self) -> None:
        """Stop capturing; the provider reads the result later."""
        if self._arrival is not None:
            # The command did not pass through the hook: the operator may have run it in another way.
            is_waiting = isinstance(self._arrival, CommandArrival) and self._arrival.is_armed
            self._arrival.disarm()
            if is_waiting and may_launch(self._task):
                report_launches(self.task_instance)
        if self._lineage is not None:
            self._lineage.stop()
        if self._new_contexts is not None:
            self._new_contexts.disarm()

    def pause(self) -> None:
        """Stop capturing a task that continues later, and send its lineage, as the provider does not."""
        self.stop()
        if self._lineage is not None:
            self._lineage.pause(self.task_instance)

    def _succeed(self, context: Any) -> None:
        """Stop capturing a task that has succeeded, and have Airflow record its asset events."""
        with harmless("Airflow does not get the assets that this task wrote"):
            self.stop()
            if self._lineage is not None:
                self._lineage.succeed(context)

    def _add_properties(self) -> None:
        """Have a new Spark context get the properties of OpenLineage's Java agent.

        Capture does so, too, but it starts when the first context has been created.
        """
        with harmless("OpenLineage's Java agent cannot be told the task of its application"):
            from airflow.providers.openlineage import conf

            # Airflow's options first: a task without Spark imports next to nothing of this package.
            if not any(getattr(conf, option, bool)() for option in _FOR_JAVA_AGENT):
                return
            from airflow_provider_spark_lineage.airflow.task.java_agent import properties_for_java_agent

            added = properties_for_java_agent(self.task_instance)
            if added is not None:
                from airflow_provider_spark_lineage.spark import NewContexts

                self._new_contexts = NewContexts(added)
                self._new_contexts.arm()

    def _start_command(self) -> None:
        from airflow_provider_spark_lineage.airflow import conf

        report_launches(self.task_instance)
        if conf.auto_capture_commands():
            self._start()

    def _start(self) -> None:
        from airflow_provider_spark_lineage.airflow.task.provider import is_active
        from airflow_provider_spark_lineage.airflow.task.task_lineage import start_capture

        report = self._report_by() if is_active(self.task_instance) else None
        if report is None:
            return
        self._lineage = lineage = start_capture(self.task_instance, self._hooks_before)
        if lineage is not None:
            _stop_on_kill(self._task, lineage, self.task_instance)
            report(lineage)

    def _report_by(self) -> Callable[[TaskLineage], None] | None:
        """Return the function that passes the lineage to the provider; None if another extractor is used."""
        from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

        from airflow_provider_spark_lineage.airflow.extractors.launchers import LauncherExtractor
        from airflow_provider_spark_lineage.airflow.extractors.spark import SparkExtractor
        from airflow_provider_spark_lineage.airflow.plugins.added import add_to_provider

        manager = get_openlineage_listener().extractor_manager
        extractor = manager.get_extractor_class(self._task)
        if extractor is None:
            return self._answer if self._arrival is None else add_to_provider
        if issubclass(extractor, (SparkExtractor, LauncherExtractor)):
            return lambda _: None  # Our extractor asks for the lineage.
        has_methods = extractor is manager.default_extractor
        is_providers = extractor.__module__.startswith("airflow.providers.openlineage.") and not has_methods
        return add_to_provider if is_providers or self._is_named else None

    def _answer(self, lineage: TaskLineage) -> None:
        """Give the operator the methods that the provider calls."""
        from airflow_provider_spark_lineage.airflow.task.answers import answer
        from airflow_provider_spark_lineage.airflow.task.starts import answer_at_start

        task = self._task

        # Functions, because a copy of the task must not copy the lineage.
        def on_end(has_failed: bool) -> Callable[[Any], OperatorLineage]:
            return lambda task_instance: answer(lineage.report, task, task_instance, has_failed=has_failed)

        task.get_openlineage_facets_on_start = lambda: answer_at_start(task)
        task.get_openlineage_facets_on_complete = on_end(False)
        task.get_openlineage_facets_on_failure = on_end(True)


def _succeed_after_execute(task: Any, succeed: Callable[[Any], None]) -> None:
    """Have `succeed` called with the context after a task's own work, if `asset_events` is set.

    A listener is called too late for assets. So these methods are replaced: `post_execute`, the last one;
    `execute`, for a task that succeeds by an exception; and `resume_execution`, its counterpart after a
    deferral.
    """
    from airflow_provider_spark_lineage.airflow import conf

    if not conf.asset_events():
        return
    from airflow_provider_spark_lineage.airflow.task.ends import succeeding

    execute, resume_execution, post_execute = task.execute, task.resume_execution, task.post_execute

    def replaced_execute(context: Any, *args: Any, **kwargs: Any) -> Any:
        with succeeding(lambda: succeed(context)):
            return execute(context, *args, **kwargs)

    def replaced_resume_execution(next_method: str, next_kwargs: dict[str, Any] | None, context: Any) -> Any:
        with succeeding(lambda: succeed(context)):
            return resume_execution(next_method, next_kwargs, context)

    def replaced(context: Any, *result: Any) -> Any:
        returned = post_execute(context, *result)
        succeed(context)
        return returned

    def replaced_generator(context: Any, *result: Any) -> Any:
        returned = yield from post_execute(context, *result)
        succeed(context)
        return returned

    task.execute, task.resume_execution = replaced_execute, replaced_resume_execution
    # If `post_execute` is a generator, Airflow runs it to its end.
    task.post_execute = replaced_generator if inspect.isgeneratorfunction(post_execute) else replaced


def _stop_on_kill(task: Any, lineage: TaskLineage, task_instance: Any) -> None:
    """Replace a task's `on_kill` by one that also sends the lineage so far."""
    on_kill = task.on_kill

    def stop() -> None:
        try:
            on_kill()
        finally:
            lineage.on_kill(task_instance)

    task.on_kill = stop
