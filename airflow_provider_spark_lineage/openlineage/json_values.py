"""Values of an event in a form that JSON has, whoever's facet they are in.

Python's `json` writes NaN and infinity as bare words, which are not JSON: a backend may refuse the event.
Works on plain values and on the objects of OpenLineage's client, which are left as they are if possible.
"""

from __future__ import annotations

import copy
import datetime
import math
import uuid
from collections.abc import Hashable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, cast

_TEXTS = {math.inf: "Infinity", -math.inf: "-Infinity"}

_VALID = frozenset({type(None), bool, str, int})
"""Types of most values of an event, which need no look."""

_OF_CLIENT = (Enum, datetime.date, uuid.UUID)
"""Types that OpenLineage's client writes as text by itself."""


def json_value(value: Any) -> Any:
    """Return a value that `json` and OpenLineage's client write as valid JSON: the same one if it is that.

    A number that JSON does not have becomes its text; in a field of an OpenLineage object that is for
    numbers, it is left out. A decimal becomes its text, too. What has no form in JSON becomes the text that
    the client writes for it.

    >>> json_value({"ratio": float("nan"), "bounds": [1.5, float("-inf")], "price": Decimal("1.20")})
    {'ratio': 'NaN', 'bounds': [1.5, '-Infinity'], 'price': '1.20'}
    """
    return _converted(value, takes_text=True)


def _converted(value: Any, *, takes_text: bool) -> Any:
    if value is None or isinstance(value, (bool, str, int, *_OF_CLIENT)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _text(value) if takes_text else None
    if isinstance(value, Decimal):
        return _decimal(value, takes_text=takes_text)
    if isinstance(value, Mapping):
        return _mapping(value, takes_text=takes_text)
    if isinstance(value, (list, tuple)):
        items = [_converted(item, takes_text=takes_text) for item in value]
        is_same = isinstance(value, list) and all(new is old for new, old in zip(items, value, strict=True))
        return value if is_same else items
    if hasattr(type(value), "__attrs_attrs__"):
        return _object(value)
    if type(value).__module__ == "numpy" and not getattr(value, "shape", True):
        return _converted(value.item(), takes_text=takes_text)
    return f"<<non-serializable: {type(value).__qualname__}>>"


def _text(number: float) -> str:
    return _TEXTS.get(number, "NaN")


def _decimal(value: Decimal, *, takes_text: bool) -> Any:
    if not value.is_finite():
        # A signaling NaN has no float.
        return (_text(math.nan if value.is_nan() else float(value))) if takes_text else None
    return str(value) if takes_text else float(value)


def _mapping(value: Mapping[Any, Any], *, takes_text: bool) -> Any:
    items = {
        key if isinstance(key, str) else str(key): _converted(item, takes_text=takes_text)
        for key, item in value.items()
    }
    if isinstance(value, dict) and items.keys() == value.keys():
        return value if all(items[key] is value[key] for key in items) else items
    return items


def _object(value: Any) -> Any:
    changed = {}
    for name, takes_text in _fields(cast("Hashable", type(value))):
        old = getattr(value, name, None)
        if type(old) in _VALID:
            continue
        new = _converted(old, takes_text=takes_text)
        if new is not old:
            changed[name] = new
    if not changed:
        return value
    result = copy.copy(value)
    for name, new in changed.items():
        object.__setattr__(result, name, new)
    return result


@cache
def _fields(kind: Any) -> tuple[tuple[str, bool], ...]:
    """Return the names of an object's fields, each with whether a text may be in it."""
    return tuple(_fields_of(kind))


def _fields_of(kind: Any) -> Iterator[tuple[str, bool]]:
    for attribute in kind.__attrs_attrs__:
        # The type of a field may be its text: `float | None`.
        yield attribute.name, "float" not in str(attribute.type)
