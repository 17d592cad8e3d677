"""Tags of columns in the events of any producer: facets `tags` of datasets, as a catalog writes them.

The newest event that has the facet says all tags of its dataset. A tag counts under its key (`personal`), and
under key and value (`classification:personal`), unless its value says no.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.model import Event
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, objects, text
from airflow_provider_spark_lineage.openlineage.events.tagged import tag_facets_of

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
    facets = ((event.time_ns or 0, *facet) for event in events for facet in tag_facets_of(event))
    return tags_of_facets(facets, aliases)


def tags_of_facets(
    facets: Iterable[tuple[int, Id, Mapping[str, Any]]], aliases: Mapping[Id, Id]
) -> tuple[EventTag, ...]:
    """Return the same for facets, each with its time and its dataset; of equal times the later one counts."""
    newest: dict[Id, tuple[int, Mapping[str, Any]]] = {}
    for time, name, facet in facets:
        dataset = aliases.get(name, name)
        if dataset not in newest or newest[dataset][0] <= time:
            newest[dataset] = time, facet
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


def _names(tag: Mapping[str, Any]) -> Iterator[str]:
    key, value = text(tag.get("key")), text(tag.get("value"))
    if key and value.strip().lower() not in _NO:
        yield key
        if value:
            yield f"{key}:{value}"
