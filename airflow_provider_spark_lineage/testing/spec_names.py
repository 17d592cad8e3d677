"""The names that the OpenLineage spec has: where one may be absent, a misspelt one always is.

Facets of other producers have any name; only one that is close to a known one is taken for a typing error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any

from airflow_provider_spark_lineage.testing.composite import Where, accepts_absence
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
_HOLDERS = frozenset({"exact", "optional", "unordered", "at_least"})
_NEAR = 0.8
"""Of how much two names have in common: `schemma` and `schema`, not `spark_version` and `version`."""


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
    for name, value in facets.items():
        if accepts_absence(value) and name not in known_facets():
            by_lower = {known.lower(): known for known in known_facets()}
            close = get_close_matches(name.lower(), by_lower, n=1, cutoff=_NEAR)
            if close:
                yield (*path, name), f"did you mean `{by_lower[close[0]]}`?"


def _objects(value: Any, path: Where) -> Iterator[tuple[Where, Mapping[str, Any]]]:
    """The objects that are a value, or elements of it, also where a matcher holds them."""
    if isinstance(value, Matcher) and value.name in _HOLDERS:
        yield from _objects(value.argument, path)
    elif isinstance(value, Mapping):
        yield path, value
    elif isinstance(value, list):
        for position, element in enumerate(value):
            yield from _objects(element, (*path, position))


@cache
def known_facets() -> frozenset[str]:
    """The names that the schemas in this package give to facets, and those of Airflow's own."""
    package = resources.files("airflow_provider_spark_lineage")
    files = [file for folder in _SCHEMA_FOLDERS for file in package.joinpath(folder).iterdir()]
    schemas = [json.loads(file.read_text("utf-8")) for file in files if file.name.endswith("Facet.json")]
    return frozenset(AIRFLOW_FACETS).union(*(schema.get("properties", ()) for schema in schemas))
