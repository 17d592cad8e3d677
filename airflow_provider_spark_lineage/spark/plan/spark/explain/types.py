"""Spark's data types, from the simple strings that plans print to the JSON that `plan.spark.tree` reads.

A type that the text does not tell is an object of its own, `unknown()`: columns that are copies of each other
share it, and a field that is read from it makes it a struct with the fields that were read so far.
"""

from __future__ import annotations

import re
from typing import Any

from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError
from airflow_provider_spark_lineage.spark.plan.spark.tree import element

_ATOMIC = re.compile(
    r"(?:bigint|int|smallint|tinyint|double|float|boolean|binary|date|timestamp_ntz|timestamp_ltz|timestamp"
    r"|void|variant|decimal\(\d+,\s*-?\d+\)|(?:var)?char\(\d+\)|time\(\d\)|string(?: collate \w+)?"
    r"|interval (?:year|month|day|hour|minute|second)(?: to (?:month|hour|minute|second))?|interval"
    r"|geography\([^()]*\)|geometry\([^()]*\))(?![\w(])"
)

Type = Any
"""A type as `TreeNode.toJSON` writes it, with Spark's simple strings for atomic types."""


def unknown() -> Type:
    """Return a type that is completely unknown so far."""
    return {"type": "unknown", "fields": []}


def whole() -> Type:
    """Return the type of a value whose fields, if any, all come from the whole value."""
    return {"type": "unknown", "whole": True}


def closed() -> Type:
    """Return a type whose fields cannot be told apart by their names."""
    return {"type": "unknown"}


def is_whole(kind: Type) -> bool:
    """Return whether the fields of a value, or of its elements, all come from the whole value."""
    kind = element(kind)
    return isinstance(kind, dict) and "whole" in kind


def is_known(kind: Type) -> bool:
    """Return whether a type is known, at least at its outermost level."""
    return isinstance(kind, str) or (kind.get("type") != "unknown" and not kind.get("partial"))


def read_type(text: str, position: int = 0) -> tuple[Type, int]:
    """Read the type at a position; return it with the position after it.

    >>> read_type("array<string collate UTF8_BINARY>")
    ({'type': 'array', 'elementType': 'string'}, 33)
    """
    match = _ATOMIC.match(text, position)
    if match:
        # The default collation: Spark 4.3 names it for results of functions in Python of Spark Connect.
        return match[0].removesuffix(" collate UTF8_BINARY"), match.end()
    if text.startswith("array<", position):
        of_elements, position = read_type(text, position + 6)
        return {"type": "array", "elementType": of_elements}, _behind(text, position, ">")
    if text.startswith("map<", position):
        key, position = read_type(text, position + 4)
        value, position = read_type(text, _behind(text, position, ","))
        return {"type": "map", "keyType": key, "valueType": value}, _behind(text, position, ">")
    if not text.startswith("struct<", position):
        raise UnreadablePlanError(f"no type at character {position}")
    position += 7
    fields: list[dict[str, Any]] = []
    while not text.startswith(">", position):
        if fields:
            position = _behind(text, position, ",")
        colon = text.find(":", position)
        if colon < 0:
            raise UnreadablePlanError("a struct without an end")
        name = text[position:colon]
        kind, position = read_type(text, colon + 1)
        fields.append({"name": name, "type": kind})
    return {"type": "struct", "fields": fields}, position + 1


def _behind(text: str, position: int, expected: str) -> int:
    if not text.startswith(expected, position):
        raise UnreadablePlanError(f"no {expected!r} in a type")
    return position + len(expected)


def whole_type(text: str) -> Type | None:
    """Return the type of a text; None if the whole text is not a type."""
    try:
        kind, end = read_type(text)
    except UnreadablePlanError:
        return None
    return kind if end == len(text) else None


def field_names(kind: Type) -> list[str]:
    """Return the known names of a struct's fields, or of the elements of an array of structs."""
    kind = element(kind)
    return [field["name"] for field in kind["fields"]] if isinstance(kind, dict) and "fields" in kind else []


def field_of(kind: Type, name: str) -> tuple[int, Type] | None:
    """Return the position and the type of a field; None if fields of that name cannot be told apart.

    An unknown type becomes a struct with this field.
    """
    kind = element(kind)
    if not isinstance(kind, dict) or "fields" not in kind:
        return None
    positions = [index for index, field in enumerate(kind["fields"]) if field["name"] == name]
    if len(positions) == 1:
        return positions[0], kind["fields"][positions[0]]["type"]
    if positions or is_known(kind):
        return None
    kind["type"], kind["partial"] = "struct", True
    kind["fields"].append({"name": name, "type": unknown()})
    return len(kind["fields"]) - 1, kind["fields"][-1]["type"]


LITERAL: Type = {"type": "unknown"}
"""The type of a constant of the query, which is not a column's type."""


def common(kinds: list[Type]) -> Type:
    """Return the type of values from several places: the columns of a union, for example.

    Their fields are matched by position, so all fields of all types must be known.
    """
    of_columns = [kind for kind in kinds if kind is not LITERAL and kind != "void"]
    if not of_columns:
        return whole()
    first = of_columns[0]
    if all(isinstance(kind, dict) and "whole" in kind for kind in of_columns):
        return first
    if all(kind is first for kind in of_columns) or all(is_known(kind) for kind in of_columns):
        return first
    return closed()


def is_complete(kind: Type) -> bool:
    """Return whether a type and all types inside it are known."""
    if isinstance(kind, str):
        return True
    inside = [kind[name] for name in ("elementType", "keyType", "valueType") if name in kind]
    inside.extend(field["type"] for field in kind.get("fields", ()))
    return is_known(kind) and all(is_complete(part) for part in inside)
