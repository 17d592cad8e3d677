"""Adds a task's `inlets`, `outlets` and the datasets of its hooks to the lineage of Spark.

OpenLineage's provider adds them only if the operator or extractor reports no dataset. If ours reports one,
they are added here, converted by the provider's own code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.openlineage.utils.utils import translate_airflow_asset
from airflow.providers.openlineage.extractors.manager import ExtractorManager
from airflow.sdk import Asset

from airflow_provider_spark_lineage.airflow.task.hook_reports import hook_datasets
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark import EventParts, harmless

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

INLETS = "inlets"
OUTLETS = "outlets"


def annotated(
    ours: OperatorLineage,
    operator: Any,
    task_instance: Any = None,
    *,
    failed: bool = False,
    hooks: bool = True,
) -> OperatorLineage:
    """Return our lineage with the datasets of inlets, outlets and hooks, by the arguments of `answer`.

    A lineage without datasets is not changed: the provider adds them itself.
    """
    if not (ours.inputs or ours.outputs):
        return ours
    with harmless("inlets, outlets and the datasets of hooks could not be added to the lineage of this task"):
        inlets = list(_converted(getattr(operator, INLETS, None) or ()))
        outlets = list(_converted(getattr(operator, OUTLETS, None) or ()))
        if task_instance is not None and not failed:
            outlets += _resolved_outlets(task_instance)
        # A failed task may not have written its stated outlets.
        parts = EventParts.of_report(ours).with_stated(
            inlets, outlets, (INLETS, OUTLETS), adds_outlets=not failed
        )
        if task_instance is not None and hooks:
            report = TASK.report_of(task_instance)
            datasets = hook_datasets(
                task_instance, failed=failed, before=report.hooks_before if report else None
            )
            parts = parts.merged(EventParts(*datasets))
        ours.inputs, ours.outputs, ours.job_facets = parts.inputs, parts.outputs, {**parts.job_facets}
    return ours


def _converted(entities: Iterable[Any]) -> Iterator[Any]:
    """Yield entities as OpenLineage datasets; aliases and references to assets are left out."""
    for entity in entities:
        with harmless(f"{type(entity).__name__} in inlets or outlets is not in the lineage of this task"):
            dataset = ExtractorManager.convert_to_ol_dataset(entity)
            if dataset is None and isinstance(entity, Asset):  # 2.13, for example, converts no asset.
                dataset = translate_airflow_asset(entity, None)
            if dataset is not None:
                yield dataset


def _resolved_outlets(task_instance: Any) -> list[Any]:
    """Return the assets that the task's code added to aliases."""
    try:
        from airflow.providers.openlineage.utils.utils import get_runtime_outlet_assets
    except ImportError:  # 2.9, for example, reports no such assets.
        return []
    # Includes the assets that `assets.py` added to the task's own alias; Spark's lineage has them, too.
    assets = (asset for asset, _ in get_runtime_outlet_assets(task_instance))
    return [dataset for asset in assets if (dataset := translate_airflow_asset(asset, None)) is not None]
