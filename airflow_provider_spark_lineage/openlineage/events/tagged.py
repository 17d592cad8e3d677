"""Finds the facets `tags` of datasets, which catalogs write, in events of any producer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.model import Event
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of, object_at, objects


def tag_facets_of(event: Event) -> Iterator[tuple[Id, Mapping[str, Any]]]:
    """Yield each dataset of an event that has the facet, with the facet."""
    document = event.document
    for datasets in (document.get("inputs"), document.get("outputs"), [document.get("dataset")]):
        for dataset in objects(datasets):
            facet = object_at(dataset, "facets", "tags")
            if facet:
                yield id_of(dataset), facet
