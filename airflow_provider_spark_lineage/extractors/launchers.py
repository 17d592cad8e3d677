"""Lineage of operators that launch Spark by another system: a shell, Livy, Kubernetes, clouds.

    [openlineage]
    extractors = airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor

It adds to what an operator reports without us; an operator that does not launch Spark reports only its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow.providers.openlineage.extractors.base import BaseExtractor, OperatorLineage

from airflow_provider_spark_lineage.extractors.resumption import first_start, trigger_event
from airflow_provider_spark_lineage.launch.table import LAUNCHERS, launch_of

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.launch.application import Launch
    from airflow_provider_spark_lineage.task.task_lineage import TaskLineage


class LauncherExtractor(BaseExtractor):
    """Answers the OpenLineage provider for the operators of `launch.table`."""

    @classmethod
    def get_operator_classnames(cls) -> list[str]:
        """Return the class names of the operators that use this extractor."""
        return list(LAUNCHERS)

    def _execute_extraction(self) -> OperatorLineage:
        return self._with_ours("extract", self._planned)

    def extract_on_complete(self, task_instance: Any) -> OperatorLineage:
        """Return the lineage from the applications' records, else from their texts, with a gap."""
        from airflow_provider_spark_lineage.task.provider import is_skipped

        return self._ended("extract_on_complete", task_instance, failed=is_skipped(task_instance))

    def extract_on_failure(self, task_instance: Any) -> OperatorLineage:
        """Return the lineage from the applications' records; texts do not say what a failed task did."""
        return self._ended("extract_on_failure", task_instance, failed=True)

    def _ended(self, method: str, task_instance: Any, *, failed: bool) -> OperatorLineage:
        def ours(launch: Launch) -> OperatorLineage:
            return _task_lineage(launch, task_instance).operator_lineage(failed=failed)

        return self._with_ours(method, ours, task_instance, failed=failed)

    @staticmethod
    def _planned(launch: Launch) -> OperatorLineage:
        """Return the datasets of applications that have not run, if their texts name all of them."""
        from airflow_provider_spark_lineage.facets.datasets import input_datasets, output_datasets
        from airflow_provider_spark_lineage.launch.texts import planned_of
        from airflow_provider_spark_lineage.submitted.planned import certain

        lineage, unread = planned_of(launch.applications)
        if lineage is None or unread or launch.problems or not certain(lineage):
            return OperatorLineage()
        return OperatorLineage(inputs=input_datasets(lineage), outputs=output_datasets(lineage))

    def _with_ours(
        self, method: str, ours: Callable[[Launch], OperatorLineage], *arguments: Any, failed: bool = False
    ) -> OperatorLineage:
        """Return the operator's own lineage with the lineage of its launch added."""
        from airflow_provider_spark_lineage.guard import harmless

        own, is_own = self._own(method, *arguments)
        with harmless("the Spark applications that this task launches could not be reported"):
            launch = self._launch(*arguments) if self._is_active() else None
            if launch is not None:
                from airflow_provider_spark_lineage import conf
                from airflow_provider_spark_lineage.launch.facets import launch_facets
                from airflow_provider_spark_lineage.task.annotation import annotated

                added = ours(launch)
                added.run_facets = {
                    **launch_facets(launch, with_arguments=conf.sql_text() == "full"),
                    **added.run_facets,
                }
                lineage = _merged(own, added) if is_own else added
                return annotated(lineage, self.operator, *arguments, failed=failed)
        return own

    def _launch(self, *arguments: Any) -> Launch | None:
        """Return the launch of the operator; of a command that has run, with the arguments that it had."""
        if arguments:
            from airflow_provider_spark_lineage.task.task_lineage import lineage_of

            lineage = lineage_of(arguments[0])
            if lineage is not None and lineage.launch is not None and lineage.launch.applications:
                return lineage.launch
        return launch_of(self.operator, trigger_event(*arguments))

    def _is_active(self) -> bool:
        from airflow_provider_spark_lineage import conf
        from airflow_provider_spark_lineage.task.selection import is_selected

        return not conf.disabled() and is_selected(self.operator.dag_id, self.operator.task_id)

    def _own(self, method: str, *arguments: Any) -> tuple[OperatorLineage, bool]:
        """Return the result without this extractor, and whether another extractor or the operator gave it."""
        extractor = _extractor_without_ours(self.operator)
        if extractor is None:
            return OperatorLineage(run_facets=_unknown_source(self.operator)), False
        extractor.source_code_enabled = getattr(self, "source_code_enabled", True)
        return getattr(extractor, method)(*arguments) or OperatorLineage(), True


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


def _task_lineage(launch: Launch, task_instance: Any) -> TaskLineage:
    """Return the lineage of a task that has ended.

    Runs in the provider's forked child, so it reads only memory and files.
    """
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.launch.collector import Launched
    from airflow_provider_spark_lineage.task.task_lineage import TaskLineage, lineage_of

    lineage = lineage_of(task_instance)
    if lineage is None:
        run_id = str(getattr(task_instance, "run_id", None) or "")
        lineage = TaskLineage(Launched(launch, conf.records(), first_start(task_instance), run_id=run_id))
        lineage.finish()
    return lineage


def _merged(own: OperatorLineage, added: OperatorLineage) -> OperatorLineage:
    """Return both lineages as one; the operator's own wins if both have a dataset or a facet."""
    from airflow_provider_spark_lineage.task.annotation import joined

    return OperatorLineage(
        inputs=joined(own.inputs, added.inputs),
        outputs=joined(own.outputs, added.outputs),
        run_facets={**added.run_facets, **own.run_facets},
        job_facets={**added.job_facets, **own.job_facets},
    )
