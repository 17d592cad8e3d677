"""Compares the types of columns as producers spell them: `bigint` is `long`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SPELLINGS = {
    "bigint": "long",
    "byte": "tinyint",
    "dec": "decimal",
    "int": "integer",
    "numeric": "decimal",
    "real": "float",
    "short": "smallint",
    "timestamp_ltz": "timestamp",
}
"""Other spelling in Spark's SQL or API -> the one that stands for both (Spark's `DataTypeAstBuilder`)."""

_DEFAULT_DECIMAL = "decimal(10,0)"

_DEEPEST = 50
"""Limit of types in types that are read; a deeper text is compared as it is."""


def type_key(text: str) -> str:
    """Return a text that is equal for all spellings of a type.

    >>> type_key("BIGINT"), type_key("numeric(10)"), type_key("array<_element: int>")
    ('long', 'decimal(10,0)', 'array<integer>')
    >>> type_key("struct<id: int, tags: map<key: string, value: short>>")
    'struct<id:integer,tags:map<string,smallint>>'
    """
    return _key(text.lower(), 0)


def _key(text: str, depth: int) -> str:
    name, _, inner = text.strip().partition("<")
    if not inner.endswith(">") or depth == _DEEPEST:
        return _simple(text)
    members = []
    for member in _members(inner[:-1]):
        label, has_label, kind = member.partition(":")
        if not has_label or "<" in label:
            label, kind = "", member
        # The parts of arrays and maps have fixed names, which not all producers write.
        shown = f"{label.strip()}:" if label and name == "struct" else ""
        members.append(shown + _key(kind, depth + 1))
    return f"{name}<{','.join(members)}>"


def _simple(text: str) -> str:
    word, bracket, rest = re.sub(r"\s+", "", text).partition("(")
    known = f"{_SPELLINGS.get(word, word)}{bracket}{rest}"
    if known == "decimal":
        return _DEFAULT_DECIMAL
    return re.sub(r"^decimal\((\d+)\)$", r"decimal(\1,0)", known)


def _members(text: str) -> Iterator[str]:
    """Yield the parts of a text between the commas that are in no brackets."""
    depth, start = 0, 0
    for place, mark in enumerate(text):
        depth += (mark in "<(") - (mark in ">)")
        if mark == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]
