"""Lineage of operators that launch Spark by another system: a shell, Livy, Kubernetes, clouds.

    [openlineage]
    extractors = airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor

It adds to what an operator reports without us; an operator that does not launch Spark reports only its own.
An extractor replaces everything that the provider reports without it (the result of the built-in extractor,
of the operator's own methods, the datasets of hooks), so that is asked for first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from airflow.providers.openlineage.extractors.base import BaseExtractor, OperatorLineage

from airflow_provider_spark_lineage.airflow.launch.table import LAUNCHERS, launch_of
from airflow_provider_spark_lineage.spark import harmless

if TYPE_CHECKING:
    from datetime import datetime

    from airflow_provider_spark_lineage.airflow.launch.application import Launch
    from airflow_provider_spark_lineage.airflow.task.report import TaskReport


class LauncherExtractor(BaseExtractor):
    """Answers the OpenLineage provider for the operators of `launch.table`."""

    @classmethod
    def get_operator_classnames(cls) -> list[str]:
        """Return the class names of the operators that use this extractor."""
        return list(LAUNCHERS)

    def _execute_extraction(self) -> OperatorLineage:
        return self._answer("extract")

    def extract_on_complete(self, task_instance: Any) -> OperatorLineage:
        """Return the lineage from the applications' records, else from their texts, with a gap."""
        return self._answer("extract_on_complete", task_instance)

    def extract_on_failure(self, task_instance: Any) -> OperatorLineage:
        """Return the lineage from the applications' records; texts do not tell how far a failed task came."""
        return self._answer("extract_on_failure", task_instance, has_failed=True)

    def _answer(self, method: str, task_instance: Any = None, *, has_failed: bool = False) -> OperatorLineage:
        """Return the operator's own lineage with the lineage of its launch added."""
        own, is_own = self._own(method, *([] if task_instance is None else [task_instance]))
        with harmless("the Spark applications that this task launches could not be reported"):
            launch = self._launch(task_instance) if self._is_active() else None
            if launch is not None:
                from airflow_provider_spark_lineage.airflow.task.answers import answer
                from airflow_provider_spark_lineage.airflow.task.starts import start_of

                base = own if is_own else None
                if task_instance is None:
                    from airflow_provider_spark_lineage.airflow.extractors.launch_start import planned_report

                    return start_of(planned_report(launch), self.operator, base)
                report = _report_of(launch, task_instance)
                return answer(report, self.operator, task_instance, has_failed=has_failed, own=base)
        return own

    def _launch(self, task_instance: Any) -> Launch | None:
        """Return the launch of the operator; of a command that has run, with the arguments that it had."""
        from airflow_provider_spark_lineage.airflow.task.process import TASK

        report = TASK.report_of(task_instance) if task_instance is not None else None
        if report is not None and report.launch is not None and report.launch.applications:
            return report.launch
        launch = launch_of(self.operator, trigger_event(task_instance))
        if launch is None:
            return None
        from airflow_provider_spark_lineage.airflow.extractors.launch_start import with_cure

        return with_cure(launch)

    def _is_active(self) -> bool:
        from airflow_provider_spark_lineage.airflow import conf
        from airflow_provider_spark_lineage.airflow.task.selection import is_selected

        return not conf.disabled() and is_selected(self.operator.dag_id, self.operator.task_id)

    def _own(self, method: str, *arguments: Any) -> tuple[OperatorLineage, bool]:
        """Return the result without this extractor, and whether another extractor or the operator gave it."""
        extractor = _extractor_without_ours(self.operator)
        if extractor is None:
            return OperatorLineage(run_facets=_unknown_source(self.operator)), False
        extractor.source_code_enabled = getattr(self, "source_code_enabled", True)
        return getattr(extractor, method)(*arguments) or OperatorLineage(), True


def prepare_end() -> None:
    """Import what reads and stores the lineage at the end of a task, while its start is reported.

    The end waits a second for the store, and on a busy machine these imports alone take as long. The
    provider's processes, which report start and end, find the modules already there.
    """
    with harmless("the viewer may not show the lineage of this task"):
        from airflow_provider_spark_lineage.airflow.task.store import prepare

        for name in _AT_THE_END:
            import_module(f"airflow_provider_spark_lineage.airflow.{name}")
        prepare()


_AT_THE_END = (
    "extractors.launch_start",
    "launch.collector",
    "launch.facets",
    "launch.shell.applications",
    "launch.shell.operators",
    "launch.shell.options",
    "launch.shell.script",
    "launch.planned_applications",
    "task.answers",
    "task.provider",
    "task.report",
    "task.run_facets",
    "task.selection",
    "task.task_lineage",
)


def launched_report(task_instance: Any) -> TaskReport | None:
    """Return the report of a task that has launched Spark applications, in the task's own process.

    None if it launched none, or if the provider does not ask this extractor.
    """
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.airflow.task.provider import is_active

    if not is_active(task_instance):
        return None
    kind = get_openlineage_listener().extractor_manager.get_extractor_class(task_instance.task)
    if kind is None or not issubclass(kind, LauncherExtractor):
        return None
    extractor = kind(task_instance.task)
    launch = extractor._launch(task_instance) if extractor._is_active() else None
    return _report_of(launch, task_instance) if launch is not None else None


def _extractor_without_ours(operator: Any) -> Any:
    """Return the provider's own extractor of an operator; None if it has none."""
    from airflow.providers.openlineage.extractors.base import DefaultExtractor
    from airflow.providers.openlineage.extractors.bash import BashExtractor

    if operator.task_type in BashExtractor.get_operator_classnames():
        return BashExtractor(operator)
    names = ("get_openlineage_facets_on_start", "get_openlineage_facets_on_complete")
    has_method = any(callable(getattr(operator, name, None)) for name in names)
    return DefaultExtractor(operator) if has_method else None


def _unknown_source(operator: Any) -> dict[str, Any]:
    """Return the provider's facet for an operator without extractor; empty if hooks reported datasets."""
    from airflow.providers.openlineage.utils.utils import get_unknown_source_attribute_run_facet

    return {} if _has_hook_lineage() else get_unknown_source_attribute_run_facet(task=operator)


def _has_hook_lineage() -> bool:
    """Return whether the provider will use datasets of hooks in the event of this task."""
    from airflow.providers.common.compat.openlineage.utils.utils import translate_airflow_asset
    from airflow.providers.openlineage.extractors import manager

    is_created = getattr(manager, "_is_hook_lineage_collector_created", None)
    if is_created is not None and not is_created():
        return False
    from airflow.providers.common.compat.lineage.hook import get_hook_lineage_collector

    collector = get_hook_lineage_collector()
    if not getattr(collector, "has_collected", False):
        return False
    collected = collector.collected_assets
    assets = (*collected.inputs, *collected.outputs)
    return any(translate_airflow_asset(each.asset, each.context) is not None for each in assets)


def _report_of(launch: Launch, task_instance: Any) -> TaskReport:
    """Return the report of a task that has ended.

    Runs in the provider's forked child, so it reads only memory and files.
    """
    from airflow_provider_spark_lineage.airflow import conf
    from airflow_provider_spark_lineage.airflow.launch.collector import Launched
    from airflow_provider_spark_lineage.airflow.task.process import TASK
    from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage

    report = TASK.report_of(task_instance)
    if report is None:
        run_id = str(getattr(task_instance, "run_id", None) or "")
        lineage = TaskLineage(Launched(launch, conf.records(), first_start(task_instance), run_id=run_id))
        lineage.stop()
        return lineage.report
    return report if report.launch == launch else replace(report, launch=launch, measured=None)


# A task that deferred itself is resumed in another process, by a new operator without the attributes that
# `execute` had set. Airflow passes the event of the trigger to that process; it is read from memory, because
# a forked child may not ask the supervisor.


def trigger_event(task_instance: Any = None) -> Mapping[str, Any]:
    """Return the event of a task's trigger; empty if the task did not defer itself."""
    given = getattr(_context(task_instance), "next_kwargs", None)
    if given:
        with harmless("the event of this task's trigger could not be read"):
            event = _decoded(given).get("event")
            return event if isinstance(event, Mapping) else {}
    return {}


def first_start(task_instance: Any) -> datetime | None:
    """Return the start of a try, which is before the start of the process that resumes it."""
    start: datetime | None = getattr(_context(task_instance), "start_date", None)
    return start or getattr(task_instance, "start_date", None)


def _context(task_instance: Any) -> Any:
    """Return the context that Airflow's server sends to the process of a try."""
    return getattr(task_instance, "_ti_context_from_server", None)


def _decoded(given: Any) -> Mapping[str, Any]:
    """Return the arguments of the method that resumes a task, in either of Airflow's two encodings."""
    try:
        from airflow.sdk.serde import deserialize

        arguments = deserialize(given)
    # The encoding of older Airflow, also for a task that was deferred before an upgrade.
    except (ImportError, KeyError, AttributeError, TypeError):
        from airflow.serialization.serialized_objects import BaseSerialization

        arguments = BaseSerialization.deserialize(given)
    return arguments if isinstance(arguments, Mapping) else {}
