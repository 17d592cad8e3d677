"""Parts of a JSON document by their expected type; a value of another type is treated as absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Id = tuple[str, str]
"""Namespace and name of a dataset."""

_MAPPINGS = (dict, Mapping)
"""`isinstance` is much faster for dict than for the abstract class."""


def object_at(value: Any, *path: str) -> Mapping[str, Any]:
    """Return the object at a path of keys below a value; an empty object if there is none."""
    for part in path:
        value = value.get(part) if isinstance(value, _MAPPINGS) else None
    return value if isinstance(value, _MAPPINGS) else {}


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list."""
    return [item for item in value if isinstance(item, _MAPPINGS)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return the value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def id_of(value: Mapping[str, Any]) -> Id:
    """Return the id of a dataset, or of what refers to one."""
    # Without `text`, because it is called for each of millions of edges.
    namespace, name = value.get("namespace"), value.get("name")
    return namespace if isinstance(namespace, str) else "", name if isinstance(name, str) else ""
