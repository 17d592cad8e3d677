"""Says what is wrong with an OpenLineage event, by the JSON schemas that it names itself.

No network: the schemas lie in this package. They hold the facts of the OpenLineage spec (names,
types, what is required) for the versions that the client emits, and those of our own facets.
Airflow's are read from its installed provider. A schema that is not known is a problem, not a pass.
Needs `jsonschema`, the extra `testing`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from difflib import get_close_matches
from functools import cache, lru_cache, partial
from importlib import metadata, resources
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.events.quick_checks import Check, QuickChecks
from airflow_provider_spark_lineage.events.spelling import misspelt

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, FormatChecker
    from referencing import Registry

_SCHEMA_FOLDERS = ("events/schemas", "facets/schemas")
_KIND = re.compile(r"(Run|Job|InputDataset|OutputDataset|Dataset)Facet$")
_AIRFLOW_PROVIDER = "apache-airflow-providers-openlineage"

# Seen with Airflow 3.3 and provider 2.20: Airflow's events break these rules of Airflow's own schemas,
# for every user and with nothing that a DAG author could do. Delete a row once its provider is past.
_AIRFLOW_FAULTS = (
    ("TaskInstance", "required", "pool"),
    ("DAG", "required", "start_date"),
    ("Task", "properties", "retry_exponential_backoff"),
)
"""Definition in the schema, keyword, and what is taken out of it."""

_DEFINITIONS = "/$defs/"

_LEFT_OUT = tuple(f"{_DEFINITIONS}{name}" for name in ("JobEvent", "DatasetEvent", "StaticDataset"))
"""What the spec defines beside `RunEvent` and is not among our schemas, because no run emits it."""

SPEC = "https://openlineage.io/spec/"

UNKNOWN = "no schema known for "
"""What a problem begins with where there is nothing to check by; the URL follows.

It may well exist: another producer's, or of a version of the spec that this package has no copy of.
"""


def problems_of(event: object) -> list[str]:
    """Every problem of one event as `path: what is wrong`; empty for a valid event.

    >>> problems_of({"eventType": "DONE"})[0]
    'event.schemaURL: is missing, so there is nothing to check the event by'
    """
    if not isinstance(event, Mapping):
        return ["event: is not a JSON object"]
    return [*_event_problems(event), *(p for place in _places(event) for p in _place_problems(place))]


@lru_cache(maxsize=4096)
def _file_name(url: str) -> str:
    return url.partition("#")[0].rpartition("/")[2]


class _Place(NamedTuple):
    """An object whose values are facets, and which kind of facet belongs there."""

    path: str
    kind: str
    facets: Mapping[str, Any]


def _event_problems(event: Mapping[str, Any]) -> Iterator[str]:
    url = event.get("schemaURL")
    if not isinstance(url, str):
        yield "event.schemaURL: is missing, so there is nothing to check the event by"
    elif (validator := _validator(url)) is None:
        yield f"event.schemaURL: {_nothing_to_check_by(url)}"
    else:
        yield from _errors(validator, event, "event")


def _places(event: Mapping[str, Any]) -> Iterator[_Place]:
    parent = _inside(event, "run", "facets", "parent")
    for path, run_and_job in (
        ("", event),
        ("run.facets.parent.", parent),
        ("run.facets.parent.root.", _inside(parent, "root")),
    ):
        yield _Place(f"{path}run.facets", "Run", _inside(run_and_job, "run", "facets"))
        yield _Place(f"{path}job.facets", "Job", _inside(run_and_job, "job", "facets"))
    for side, own in (("inputs", "Input"), ("outputs", "Output")):
        datasets = event.get(side)
        for number, dataset in enumerate(datasets if isinstance(datasets, list) else ()):
            path = f"{side}[{number}]"
            yield _Place(f"{path}.facets", "Dataset", _inside(dataset, "facets"))
            key = f"{own.lower()}Facets"
            yield _Place(f"{path}.{key}", f"{own}Dataset", _inside(dataset, key))


_OBJECT = (dict, Mapping)
"""Python looks for the first at once and for the second in a registry."""


def _inside(value: object, *keys: str) -> Mapping[str, Any]:
    """The object under the keys, empty if there is none: what is missing is the event schema's matter."""
    for key in keys:
        value = value.get(key) if isinstance(value, _OBJECT) else None
    return value if isinstance(value, _OBJECT) else {}


def _place_problems(place: _Place) -> Iterator[str]:
    for key, facet in place.facets.items():
        if isinstance(facet, _OBJECT) and isinstance(facet.get("_schemaURL"), str):
            yield from _facet_problems(place, key, facet)


def _facet_problems(place: _Place, key: str, facet: Mapping[str, Any]) -> Iterator[str]:
    path, url = f"{place.path}.{key}", facet["_schemaURL"]
    document, _, pointer = url.partition("#")
    base = f"{_DEFINITIONS}{place.kind}Facet"
    if not pointer and document in _documents() and base in _pointers(document):
        yield f"{path}: names {document}, which defines many things; append `#{base}`"
        return
    name = pointer.rpartition("/")[2] or _file_name(url).removesuffix(".json")
    validator = _validator(f"{document}#{pointer or f'{_DEFINITIONS}{name}'}")
    if validator is None:
        yield f"{path}: {_nothing_to_check_by(url)}"
        return
    yield from _errors(validator, facet, path)
    kind = _KIND.search(name)
    if kind and kind.group(1) != place.kind:
        yield f"{path}: {name} does not belong among the {place.kind.lower()} facets"
    keys = _documents()[document].get("properties", {})
    if keys and key not in keys:
        yield f"{path}: {name} belongs under the key {' or '.join(keys)}"
    # Airflow names only the base schema in its own facets; which file describes one follows from its key.
    airflow = _airflow_validators().get((place.kind, key)) if name == f"{place.kind}Facet" else None
    if airflow is not None:
        yield from _errors(airflow, {key: facet}, place.path)


def _nothing_to_check_by(url: str) -> str:
    """A document that is not known may say what it likes, but its name, or one in ours, may be misspelt."""
    document, _, pointer = url.partition("#")
    meant = _file_meant(_file_name(url)) if url.startswith(SPEC) else None
    if meant is not None:
        return f"names {url}, which nothing is known of; did you mean `{meant}`?"
    if document not in _documents() or pointer in _LEFT_OUT:
        return f"{UNKNOWN}{url}"
    close = get_close_matches(pointer, _pointers(document), n=1, cutoff=0.4)
    hint = f"; did you mean `#{close[0]}`?" if close else ""
    return f"names `#{pointer}`, and {document} defines nothing of that name{hint}"


@lru_cache(maxsize=4096)
def _file_meant(name: str) -> str | None:
    """The file of the spec whose name is misspelt like this; newer clients and other agents know more."""
    return misspelt(name, map(_file_name, _documents()))


def _pointers(document: str) -> list[str]:
    return [f"{_DEFINITIONS}{name}" for name in _documents()[document]["$defs"]]


class _Schema(NamedTuple):
    """One schema, ready to be asked: quickly whether, and at leisure what is wrong."""

    validator: Draft202012Validator
    is_valid: Check | None


def _errors(schema: _Schema, value: object, path: str) -> Iterator[str]:
    if schema.is_valid is not None and schema.is_valid(value):
        return
    for error in schema.validator.iter_errors(value):
        at = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
        yield f"{path}{at}: {error.message}"


@cache
def _validator(url: str) -> _Schema | None:
    from jsonschema import Draft202012Validator

    document, _, pointer = url.partition("#")
    if document not in _documents() or (pointer and pointer not in _pointers(document)):
        return None
    validator = Draft202012Validator({"$ref": url}, registry=_registry(), format_checker=_formats())
    return _Schema(validator, QuickChecks(_documents(), _FORMATS)(url))


@cache
def _registry() -> Registry[Any]:
    from referencing import Registry, Resource

    return Registry().with_resources(
        (url, Resource.from_contents(schema)) for url, schema in _documents().items()
    )


@cache
def _documents() -> Mapping[str, Any]:
    """All schemas that this package knows, by their `$id`."""
    package = resources.files("airflow_provider_spark_lineage")
    folders = [package.joinpath(folder) for folder in _SCHEMA_FOLDERS]
    files = [file for folder in folders for file in folder.iterdir()]
    schemas = [json.loads(file.read_text("utf-8")) for file in files if file.name.endswith(".json")]
    return {schema["$id"]: schema for schema in schemas}


@cache
def _airflow_validators() -> Mapping[tuple[str, str], _Schema]:
    """Airflow's own facets by kind and key; empty without its provider, which is then not checked.

    The files are found through the distribution, because importing the provider starts Airflow.
    """
    from jsonschema import Draft202012Validator

    try:
        files = metadata.files(_AIRFLOW_PROVIDER) or []
    except metadata.PackageNotFoundError:
        return {}
    validators = {}
    for file in files:
        kind = _KIND.search(file.stem)
        if file.suffix != ".json" or file.parent.name != "facets" or kind is None:
            continue
        schema = _without_faults(json.loads(file.read_text("utf-8")))
        validator = Draft202012Validator(schema, registry=_registry(), format_checker=_formats())
        is_valid = QuickChecks({**_documents(), "": schema}, _FORMATS)("")
        for key in schema.get("properties", {}):
            validators[kind.group(1), key] = _Schema(validator, is_valid)
    return validators


def _without_faults(schema: dict[str, Any]) -> dict[str, Any]:
    for definition, keyword, fault in _AIRFLOW_FAULTS:
        rules = schema.get("$defs", {}).get(definition, {}).get(keyword, ())
        if isinstance(rules, dict):
            rules.pop(fault, None)
        elif fault in rules:
            rules.remove(fault)
    return schema


@cache
def _formats() -> FormatChecker:
    """The three formats that OpenLineage uses, without the packages that jsonschema wants for two of them."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, is_valid in _FORMATS.items():
        checker.checks(name)(partial(_is_no_text_or, is_valid))
    return checker


def _is_no_text_or(is_valid: Callable[[str], bool], value: object) -> bool:
    return not isinstance(value, str) or is_valid(value)


# Producers, schemas and times of runs come again and again.
@lru_cache(maxsize=4096)
def _is_uri(value: str) -> bool:
    # OpenLineage's producers write a namespace that is a scheme alone, such as `file`, without a colon.
    if _SCHEME.fullmatch(value):
        return True
    try:
        return bool(urlsplit(value).scheme) and not re.search(r"\s", value)
    except ValueError:
        return False


@lru_cache(maxsize=4096)
def _is_instant(value: str) -> bool:
    # Until 3.11 `fromisoformat` knows neither `Z` nor fractions of other than 3 or 6 digits.
    value = re.sub(r"[zZ]$", "+00:00", value)
    value = re.sub(r"\.(\d+)", lambda match: "." + match.group(1)[:6].ljust(6, "0"), value)
    try:
        return value[10:11] in {"T", "t"} and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date-time": _is_instant,
    "uri": _is_uri,
    "uuid": _is_uuid,
}
