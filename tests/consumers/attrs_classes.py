"""OpenLineage's Python classes made from the JSON of an event: the client itself only writes JSON."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
from openlineage.client import event_v2, generated
from openlineage.client.generated.base import BaseFacet

_SET_BY_THE_CLASS = {"_schemaURL", "schemaURL"}


class UnreadableError(Exception):
    """A part of an event that the client's classes do not have."""


def read(event: dict[str, Any]) -> event_v2.RunEvent:
    """Return an event as the client's own class; raise where a key, a type or a value is not the class's."""
    made: event_v2.RunEvent = _made(event_v2.RunEvent, event, "event")
    return made


def _made(kind: Any, value: Any, path: str) -> Any:
    """Return a value as an object of a class or of another type."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _made_of_union([each for each in get_args(kind) if each is not NoneType], value, path)
    if origin is list:
        return [_made(get_args(kind)[0], each, f"{path}[{number}]") for number, each in enumerate(value)]
    if origin is dict:
        return {key: _made(get_args(kind)[1], each, f"{path}.{key}") for key, each in value.items()}
    if inspect.isclass(kind) and issubclass(kind, BaseFacet):
        # Facets of Airflow and of this package have no class in the client.
        kind = _facets().get(value["_schemaURL"].rpartition("/")[2])
        return value if kind is None else _made_class(kind, value, path)
    if attrs.has(kind):
        return _made_class(kind, value, path)
    if kind is not Any and inspect.isclass(kind) and not isinstance(value, kind):
        return kind(value)  # an enumeration, or an integer for a number
    return value


def _made_of_union(kinds: list[Any], value: Any, path: str) -> Any:
    if value is None:
        return None
    problems = []
    for kind in kinds:
        try:
            return _made(kind, value, path)
        except (UnreadableError, TypeError, ValueError) as error:
            problems.append(str(error))
    raise UnreadableError(f"{path}: {'; '.join(problems)}")


def _made_class(kind: Any, value: dict[str, Any], path: str) -> Any:
    hints, fields = _hints(kind), _fields(kind)
    unknown = value.keys() - fields.keys()
    if unknown:
        raise UnreadableError(f"{path}: {kind.__name__} has no {', '.join(sorted(unknown))}")
    given = {
        fields[key].alias: _made(hints.get(key, Any), each, f"{path}.{key}")
        for key, each in value.items()
        if key not in _SET_BY_THE_CLASS
    }
    made = kind(**given)
    for key in _SET_BY_THE_CLASS & value.keys():
        if getattr(made, key) != value[key]:
            raise UnreadableError(f"{path}.{key}: {value[key]}, but {kind.__name__} is {getattr(made, key)}")
    return made


_hints = cache(get_type_hints)


@cache
def _fields(kind: Any) -> dict[str, Any]:
    return {field.name: field for field in attrs.fields(kind)}


@cache
def _facets() -> dict[str, Any]:
    """Return the client's classes of facets by their names."""
    modules = [
        importlib.import_module(f"{generated.__name__}.{module.name}")
        for module in pkgutil.iter_modules(generated.__path__)
    ]
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if inspect.isclass(kind) and issubclass(kind, BaseFacet) and kind.__module__ == module.__name__
        if not name.endswith("BaseFacet") and kind.__mro__[1] is not BaseFacet
    }
