"""Parts of a JSON document by the shape that they should have: what has another shape counts as absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def object_at(value: Any, *path: str) -> Mapping[str, Any]:
    """Return the object at a path of keys below a value; an empty one where there is none."""
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return a text; an empty one where there is none."""
    return value if isinstance(value, str) else ""
