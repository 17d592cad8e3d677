"""The names that the OpenLineage spec has: where one may be absent, a misspelt one always is.

Facets of other producers have any name, and any keys; only what is close to a known one is taken for a typing
error, and not even that where the file speaks of the known one beside it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from airflow_provider_spark_lineage.events.spelling import misspelt
from airflow_provider_spark_lineage.testing.composite import WITH_OF, Where, accepts_absence
from airflow_provider_spark_lineage.testing.matchers import Matcher, nearest

SPEC_KEYS: Mapping[str, tuple[str, ...]] = {
    "run": ("runId", "facets"),
    "job": ("namespace", "name", "facets"),
    "dataset": ("namespace", "name", "facets"),
    "inputs": ("namespace", "name", "facets", "inputFacets"),
    "outputs": ("namespace", "name", "facets", "outputFacets"),
}
"""All keys that the spec has in these parts of an event."""

FACETS = ("facets", "inputFacets", "outputFacets")

AIRFLOW_FACETS = ("airflow", "airflowDagRun", "airflowDebug", "airflowState")

_SCHEMA_FOLDERS = ("events/schemas", "facets/schemas")
_HOLDERS = frozenset({"exact", "optional", "unordered", "at_least", "one_of"})


def misspelt_absences(document: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    """Where an expected event says of a name that it may be absent that was hardly meant, and the help."""
    for part, known in SPEC_KEYS.items():
        for path, element in _objects(document.get(part), (part,)):
            for name, value in element.items():
                if name not in known and accepts_absence(value):
                    yield (*path, name), nearest(name, known)
            for facets in FACETS:
                for inner, held in _objects(element.get(facets), (*path, facets)):
                    yield from _misspelt_facets(held, inner)


def _misspelt_facets(facets: Mapping[str, Any], path: Where) -> Iterator[tuple[Where, str]]:
    yield from _misspelt(facets, known_facets().keys(), path)
    for name, value in facets.items():
        for inner, facet in _objects(value, (*path, name)) if known_facets().get(name) else ():
            yield from _misspelt(facet, known_facets()[name], inner)


def _misspelt(found: Mapping[str, Any], known: Collection[str], path: Where) -> Iterator[tuple[Where, str]]:
    for name, value in found.items():
        meant = misspelt(name, known) if accepts_absence(value) else None
        if meant is not None and meant not in found:
            yield (
                (*path, name),
                f"did you mean `{meant}`? If not, say of that as well that it may be there:"
                f" `{meant}: !optional {{$match: any}}`",
            )


def _objects(value: Any, path: Where) -> Iterator[tuple[Where, Mapping[str, Any]]]:
    """The objects that are a value, or elements of it, also where a matcher holds them."""
    if isinstance(value, Matcher) and value.name in WITH_OF and isinstance(value.argument, Mapping):
        yield from _objects(value.argument.get("of"), (*path, "of"))
    elif isinstance(value, Matcher) and value.name in _HOLDERS:
        yield from _objects(value.argument, path)
    elif isinstance(value, Mapping):
        yield path, value
    elif isinstance(value, list):
        for position, element in enumerate(value):
            yield from _objects(element, (*path, position))


@cache
def known_facets() -> Mapping[str, frozenset[str]]:
    """The names that the schemas in this package give to facets, and those of Airflow's own.

    Each with the keys that its facet may have; with none where that is not known.
    """
    package = resources.files("airflow_provider_spark_lineage")
    files = [file for folder in _SCHEMA_FOLDERS for file in package.joinpath(folder).iterdir()]
    found: dict[str, frozenset[str]] = dict.fromkeys(AIRFLOW_FACETS, frozenset())
    for file in files:
        if file.name.endswith("Facet.json"):
            schema = json.loads(file.read_text("utf-8"))
            # A facet may be of datasets and of jobs, in two files.
            for name, value in schema.get("properties", {}).items():
                definition = value.get("$ref", "").rpartition("/")[2]
                keys = _keys_of(schema["$defs"].get(definition, {}))
                found[name] = found.get(name, frozenset()) | keys
    return found


def _keys_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The keys that a definition has itself, without those of every facet."""
    parts = (schema, *schema.get("allOf", ()))
    return frozenset(key for part in parts for key in part.get("properties", ()))
