"""Tags of columns in the events of any producer: facets `tags` of datasets, as a catalog writes them.

The newest event that has the facet says all tags of its dataset. A tag counts under its key (`personal`), and
under key and value (`classification:personal`), unless its value says no.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.model import Event
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of, object_at, objects, text

_NO = frozenset({"false", "no", "none", "0"})


class EventTag(NamedTuple):
    """A tag that an event gives to a column, or to all columns of a dataset if `field` is empty."""

    tag: str
    dataset: Id
    field: str


def tags_in(events: Iterable[Event], aliases: Mapping[Id, Id]) -> tuple[EventTag, ...]:
    """Return the tags of the newest facet of each dataset; `aliases` leads from other names to datasets.

    >>> facets = {"tags": {"tags": [{"key": "pii", "value": "email", "field": "mail"}]}}
    >>> event = Event({"dataset": {"namespace": "file", "name": "/crm", "facets": facets}})
    >>> [tag.tag for tag in tags_in([event], {})]
    ['pii', 'pii:email']
    """
    newest: dict[Id, tuple[int, Mapping[str, Any]]] = {}
    for event in events:
        for dataset in _datasets(event.document):
            facet = object_at(dataset, "facets", "tags")
            if facet:
                dataset_id = aliases.get(id_of(dataset), id_of(dataset))
                time = event.time_ns or 0
                if dataset_id not in newest or newest[dataset_id][0] <= time:
                    newest[dataset_id] = time, facet
    return tuple(
        EventTag(name, dataset, text(tag.get("field")))
        for dataset, (_, facet) in newest.items()
        for tag in objects(facet.get("tags"))
        for name in _names(tag)
    )


def by_tag(tags: Iterable[EventTag]) -> Mapping[str, Mapping[Id, frozenset[str]]]:
    """Return for each tag the columns that have it, by dataset; an empty name means all columns."""
    columns: dict[str, dict[Id, set[str]]] = defaultdict(lambda: defaultdict(set))
    for each in tags:
        columns[each.tag][each.dataset].add(each.field)
    return {
        tag: {dataset: frozenset(fields) for dataset, fields in datasets.items()}
        for tag, datasets in columns.items()
    }


def _datasets(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from objects(document.get("inputs"))
    yield from objects(document.get("outputs"))
    yield from objects([document.get("dataset")])


def _names(tag: Mapping[str, Any]) -> Iterator[str]:
    key, value = text(tag.get("key")), text(tag.get("value"))
    if key and value.strip().lower() not in _NO:
        yield key
        if value:
            yield f"{key}:{value}"
