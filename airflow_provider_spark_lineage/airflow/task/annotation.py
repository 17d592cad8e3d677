"""Adds a task's `inlets`, `outlets` and the datasets of its hooks to the lineage of Spark.

OpenLineage's provider adds them only if the operator or extractor reports no dataset. If ours reports one,
they are added here, converted by the provider's own code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import attrs

from airflow_provider_spark_lineage.spark.guard import harmless

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
        from airflow_provider_spark_lineage.spark.facets.jobs import with_entries
        from airflow_provider_spark_lineage.spark.facets.stated import is_stated

        inlets = list(_converted(getattr(operator, INLETS, None) or ()))
        outlets = list(_converted(getattr(operator, OUTLETS, None) or ()))
        if task_instance is not None and not failed:
            outlets += _resolved_outlets(task_instance)
        reads = joined(ours.inputs, inlets, by=INLETS)
        # A failed task may not have written its stated outlets.
        writes = joined(ours.outputs, outlets, by=OUTLETS, adds=not failed)
        # The possible sources of a stated output are all inputs except the output itself.
        sources = [
            (output, [read for read in reads if set(_names(output)).isdisjoint(_names(read))])
            for output in writes
            if is_stated(output)
        ]
        job_facets = with_entries(ours.job_facets, sources)
        if task_instance is not None and hooks:
            from airflow_provider_spark_lineage.airflow.task.hook_reports import hook_datasets
            from airflow_provider_spark_lineage.airflow.task.process import TASK

            report = TASK.report_of(task_instance)
            read_by_hooks, written_by_hooks = hook_datasets(
                task_instance, failed=failed, before=report.hooks_before if report else None
            )
            reads, writes = joined(reads, read_by_hooks), joined(writes, written_by_hooks)
        ours.inputs, ours.outputs, ours.job_facets = reads, writes, job_facets
    return ours


def joined(ours: Iterable[Any], others: Iterable[Any], *, by: str = "", adds: bool = True) -> list[Any]:
    """Return OpenLineage datasets, each once: a dataset of both is ours, with facets of the other added.

    `by` is the argument (`inlets`) that names the others. A dataset that is only there gets a facet with
    `by`; it is left out if `adds` is false.
    """
    result = [*ours]
    places: dict[tuple[str, str], int] = {}
    # Two datasets may share a name: a table of a catalog has its files' name as a symlink. Own names first.
    for names in (lambda dataset: [_key(dataset)], _names):
        for index, dataset in enumerate(result):
            for name in names(dataset):
                places.setdefault(name, index)
    for dataset in others:
        index = places.get(_key(dataset), len(result))
        if index < len(result):
            result[index] = _completed(result[index], dataset)
        elif adds:
            places[_key(dataset)] = index
            result.append(_stated(dataset, by) if by else dataset)
    return result


def _converted(entities: Iterable[Any]) -> Iterator[Any]:
    """Yield entities as OpenLineage datasets; aliases and references to assets are left out."""
    from airflow.providers.common.compat.openlineage.utils.utils import translate_airflow_asset
    from airflow.providers.openlineage.extractors.manager import ExtractorManager
    from airflow.sdk import Asset

    for entity in entities:
        with harmless(f"{type(entity).__name__} in inlets or outlets is not in the lineage of this task"):
            dataset = ExtractorManager.convert_to_ol_dataset(entity)
            if dataset is None and isinstance(entity, Asset):  # 2.13, for example, converts no asset.
                dataset = translate_airflow_asset(entity, None)
            if dataset is not None:
                yield dataset


def _resolved_outlets(task_instance: Any) -> list[Any]:
    """Return the assets that the task's code added to aliases."""
    from airflow.providers.common.compat.openlineage.utils.utils import translate_airflow_asset

    try:
        from airflow.providers.openlineage.utils.utils import get_runtime_outlet_assets
    except ImportError:  # 2.9, for example, reports no such assets.
        return []
    # Includes the assets that `assets.py` added to the task's own alias; Spark's lineage has them, too.
    assets = (asset for asset, _ in get_runtime_outlet_assets(task_instance))
    return [dataset for asset in assets if (dataset := translate_airflow_asset(asset, None)) is not None]


def _completed(dataset: Any, other: Any) -> Any:
    """Return a copy of a dataset, with missing facets added from another one."""
    kinds = [kind for kind in ("facets", "inputFacets", "outputFacets") if hasattr(dataset, kind)]
    both = {kind: (getattr(other, kind, None) or {}) | (getattr(dataset, kind) or {}) for kind in kinds}
    return attrs.evolve(dataset, **both)


def _names(dataset: Any) -> Iterator[tuple[str, str]]:
    """Yield all names of a dataset: its own, and its names in Spark's catalog."""
    yield _key(dataset)
    symlinks = (dataset.facets or {}).get("symlinks")
    if symlinks is not None:
        yield from map(_key, symlinks.identifiers)


def _key(named: Any) -> tuple[str, str]:
    """Return the form of a name that is compared.

    The provider turns `file:///in/a` into `file://` and `in/a`, and does not decode `assets.asset_uri`.
    """
    name = named.name.replace("%3F", "?").replace("%23", "#")
    return named.namespace.rstrip(":/"), name.strip("/")


def _stated(dataset: Any, by: str) -> Any:
    """Return a copy of a dataset with the facet `sparkLineage_stated`."""
    from airflow_provider_spark_lineage.spark.facets.stated import stated_facet

    return attrs.evolve(dataset, facets={**(dataset.facets or {}), **stated_facet(by)})
