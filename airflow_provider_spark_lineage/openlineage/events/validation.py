"""Checks an OpenLineage event against the JSON schemas that the event names.

No network is used: the schemas are files of this package. They define the OpenLineage spec (names, types,
required keys) in the versions that the client emits, and the facets of this package. An unknown schema is a
problem, not a pass. Airflow's own facets name only the base schema of the spec, so their content is not
checked. Needs `jsonschema-rs`, from the extra `testing`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.openlineage.events.shapes import object_at

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, Registry

_KIND = re.compile(r"(Run|Job|InputDataset|OutputDataset|Dataset)Facet$")

_DEFINITIONS = "/$defs/"

_LEFT_OUT = tuple(f"{_DEFINITIONS}{name}" for name in ("JobEvent", "DatasetEvent", "StaticDataset"))
"""Definitions of the spec that our copy leaves out, because no run emits them."""

UNKNOWN = "no schema known for "
"""Start of a problem with an unknown schema: another producer's, or another version."""


def problems_of(event: object) -> list[str]:
    """Return every problem of one event as `path: problem`; empty for a valid event.

    >>> problems_of({"eventType": "DONE"})[0]
    'event.schemaURL: is missing, so there is nothing to check the event by'
    """
    if not isinstance(event, dict):
        return ["event: is not a JSON object"]
    problems = list(_event_problems(event))
    for group in _facet_groups(event):
        for key, facet in group.facets.items():
            if isinstance(facet, dict) and isinstance(facet.get("_schemaURL"), str):
                problems += _facet_problems(group, key, facet)
    return problems


class _FacetGroup(NamedTuple):
    """An object whose values are facets, and the kind of facet that is allowed there."""

    path: str
    kind: str
    facets: Mapping[str, Any]


def _event_problems(event: Mapping[str, Any]) -> Iterator[str]:
    url = event.get("schemaURL")
    if not isinstance(url, str):
        yield "event.schemaURL: is missing, so there is nothing to check the event by"
    elif (validator := _validator(url)) is None:
        yield f"event.schemaURL: {_no_schema(url)}"
    else:
        yield from _errors(validator, event, "event")


def _facet_groups(event: Mapping[str, Any]) -> Iterator[_FacetGroup]:
    parent = object_at(event, "run", "facets", "parent")
    for path, run_and_job in (
        ("", event),
        ("run.facets.parent.", parent),
        ("run.facets.parent.root.", object_at(parent, "root")),
    ):
        yield _FacetGroup(f"{path}run.facets", "Run", object_at(run_and_job, "run", "facets"))
        yield _FacetGroup(f"{path}job.facets", "Job", object_at(run_and_job, "job", "facets"))
    for side, kind in (("inputs", "Input"), ("outputs", "Output")):
        datasets = event.get(side)
        for number, dataset in enumerate(datasets if isinstance(datasets, list) else ()):
            path = f"{side}[{number}]"
            yield _FacetGroup(f"{path}.facets", "Dataset", object_at(dataset, "facets"))
            key = f"{kind.lower()}Facets"
            yield _FacetGroup(f"{path}.{key}", f"{kind}Dataset", object_at(dataset, key))


def _facet_problems(group: _FacetGroup, key: str, facet: Mapping[str, Any]) -> Iterator[str]:
    path, url = f"{group.path}.{key}", facet["_schemaURL"]
    document, _, pointer = url.partition("#")
    base = f"{_DEFINITIONS}{group.kind}Facet"
    if not pointer and document in _documents() and base in _pointers(document):
        yield f"{path}: names {document}, which has several definitions; append `#{base}`"
        return
    name = pointer.rpartition("/")[2] or document.rpartition("/")[2].removesuffix(".json")
    validator = _validator(f"{document}#{pointer or f'{_DEFINITIONS}{name}'}")
    if validator is None:
        yield f"{path}: {_no_schema(url)}"
        return
    yield from _errors(validator, facet, path)
    kinds = _kinds(document, name)
    if kinds and group.kind not in kinds:
        yield f"{path}: {name} does not belong among the {group.kind.lower()} facets"
    keys = _documents()[document].get("properties", {})
    if keys and key not in keys:
        yield f"{path}: {name} belongs under the key {' or '.join(keys)}"


def _kinds(document: str, name: str) -> set[str]:
    """Return the kinds of facets among which a facet may be, by its name and by its base in the schema.

    They are the same except for `DataQualityAssertionsDatasetFacet`: its base is `InputDatasetFacet`, and
    Airflow and dbt write it among the facets of the dataset.
    """
    parts = object_at(_documents()[document], "$defs", name).get("allOf") or []
    names = [name, *(part.get("$ref", "").rpartition("/")[2] for part in parts)]
    return {kind[1] for kind in map(_KIND.search, names) if kind}


def _no_schema(url: str) -> str:
    document, _, pointer = url.partition("#")
    if document not in _documents() or pointer in _LEFT_OUT:
        return f"{UNKNOWN}{url}"
    return f"names `#{pointer}`, but {document} has no definition with that name"


def _errors(validator: Draft202012Validator, value: object, path: str) -> Iterator[str]:
    try:
        if validator.is_valid(value):
            return
        for error in validator.iter_errors(value):
            at = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
            yield f"{path}{at}: {error.message}"
    except ValueError as error:  # for example half of a surrogate pair, or nesting deeper than 255 levels
        yield f"{path}: cannot be checked ({error})"


@lru_cache(maxsize=4096)
def _validator(url: str) -> Draft202012Validator | None:
    document, _, pointer = url.partition("#")
    if document not in _documents() or (pointer and pointer not in _pointers(document)):
        return None
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(
        {"$ref": url}, registry=_registry(), validate_formats=True, formats={"uri": _is_uri}, offline=True
    )


@cache
def _registry() -> Registry:
    from jsonschema_rs import Registry

    return Registry(list(_documents().items()))


@cache
def _documents() -> Mapping[str, Any]:
    """Return all schemas of this package by their `$id`."""
    package = resources.files("airflow_provider_spark_lineage")
    parts = [
        part for floor in package.iterdir() if floor.is_dir() for part in floor.iterdir() if part.is_dir()
    ]
    folders = [folder for part in parts for folder in part.iterdir() if folder.name == "schemas"]
    files = [file for folder in folders for file in folder.iterdir()]
    schemas = [json.loads(file.read_text("utf-8")) for file in files if file.name.endswith(".json")]
    return {schema["$id"]: schema for schema in schemas}


def _pointers(document: str) -> list[str]:
    return [f"{_DEFINITIONS}{name}" for name in _documents()[document]["$defs"]]


@lru_cache(maxsize=4096)
def _is_uri(text: str) -> bool:
    """Accept URIs that producers emit, but RFC 3986 forbids: a scheme alone (`file`), braces, umlauts."""
    if re.fullmatch(r"[a-z][a-z0-9+.-]*", text):
        return True
    try:
        return bool(urlsplit(text).scheme) and not re.search(r"\s", text)
    except ValueError:
        return False
