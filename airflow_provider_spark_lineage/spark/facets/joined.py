"""OpenLineage datasets of two reports as one: each once, and those that only the author of a task states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from airflow_provider_spark_lineage.spark.facets.jobs import with_entries
from airflow_provider_spark_lineage.spark.facets.stated import is_stated, stated_facet


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


def with_stated_sources(job_facets: dict[str, Any], reads: list[Any], writes: list[Any]) -> dict[str, Any]:
    """Return job facets with the possible sources of outputs that were not captured.

    These are all inputs except the output itself.
    """
    sources = [
        (output, [read for read in reads if set(_names(output)).isdisjoint(_names(read))])
        for output in writes
        if is_stated(output)
    ]
    return with_entries(job_facets, sources)


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

    Airflow's provider turns `file:///in/a` into `file://` and `in/a`, and does not decode URIs of assets.
    """
    name = named.name.replace("%3F", "?").replace("%23", "#")
    return named.namespace.rstrip(":/"), name.strip("/")


def _stated(dataset: Any, by: str) -> Any:
    """Return a copy of a dataset with the facet `sparkLineage_stated`."""
    return attrs.evolve(dataset, facets={**(dataset.facets or {}), **stated_facet(by)})
