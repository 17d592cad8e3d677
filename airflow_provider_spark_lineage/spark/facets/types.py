"""Spark's types in the form of OpenLineage's Java agent: the name of a type, with its parts as nested fields.

They are parsed from Spark's simple strings and from the types of DDL. Nothing here knows datasets or facets.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class TypedField(NamedTuple):
    """Column, or part of a column: a struct's member, an array's element, a map's key or value."""

    name: str
    type: str
    """Spark's `typeName`: `long`, `decimal(10,2)`; `struct`, `array` or `map` for types with parts."""

    fields: tuple[TypedField, ...] = ()


_TYPE_NAMES = {"bigint": "long", "int": "integer", "smallint": "short", "tinyint": "byte"}
"""Simple string -> `typeName`, if they differ."""

_NAMES_OF_PARTS = {"array": ("_element",), "map": ("key", "value")}
_NESTED = re.compile(r"\s*(struct|array|map)\s*<\s*", re.IGNORECASE)
_WORDS = r"[A-Za-z_][\w.]*(?:\([^()<>]*\))?"
_ATOMIC = re.compile(rf"\s*({_WORDS}(?: +(?!(?:not +null|comment)\b){_WORDS})*)\s*", re.IGNORECASE)
_QUOTED = re.compile(r"\s*`((?:[^`]|``)+)`\s*")
# Simple strings do not quote names, so a name may have almost any character. Characters that make the string
# ambiguous are rejected.
_NAME = re.compile(r"\s*([^:<>`]*[^:<>`\s])\s*")
_STRING = r"(?:'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\")"
_AFTER_TYPE = re.compile(rf"\s*(?:not\s+null\s*)?(?:comment\s+{_STRING}\s*)?", re.IGNORECASE)


def typed_field(name: str, type_string: str) -> TypedField:
    """Return a column with the name and the parts of its type, named as in OpenLineage's Java agent.

    A struct, an array or a map that cannot be read for certain has no parts: Spark truncates long types
    (`... 3 more fields`), and a guess could name a field that does not exist. Other unknown text is kept.

    >>> typed_field("key", "bigint")
    TypedField(name='key', type='long', fields=())
    >>> typed_field("keys", "array<bigint>").fields
    (TypedField(name='_element', type='long', fields=()),)
    """
    try:
        field, end = _type(name, type_string, 0)
        if end == len(type_string):
            return field
    except (_UnreadableError, RecursionError):
        pass
    nested = _NESTED.match(type_string)
    return TypedField(name, nested[1].lower() if nested else type_string)


class _UnreadableError(Exception):
    """The string is not a type that can be read for certain."""


def _type(name: str, text: str, at: int) -> tuple[TypedField, int]:
    nested = _NESTED.match(text, at)
    if nested is None:
        atomic = _matched(_ATOMIC, text, at)
        return TypedField(name, _type_name(atomic[1])), atomic.end()
    kind, at = nested[1].lower(), nested.end()
    parts: list[TypedField] = []
    if kind == "struct":
        parts, at = _struct(text, at)
    for part_name in _NAMES_OF_PARTS.get(kind, ()):
        part, at = _type(part_name, text, _behind(",", text, at) if parts else at)
        parts.append(part)
    return TypedField(name, kind, tuple(parts)), _behind(">", text, at)


def _type_name(atomic: str) -> str:
    if atomic.lower().startswith("decimal"):
        return atomic.lower().replace(" ", "")
    return _TYPE_NAMES.get(atomic.lower(), atomic)


def _struct(text: str, at: int) -> tuple[list[TypedField], int]:
    members: list[TypedField] = []
    while not text.startswith(">", at):
        if members:
            at = _behind(",", text, at)
        quoted = _QUOTED.match(text, at)
        name = quoted or _matched(_NAME, text, at)
        member, at = _type(name[1].replace("``", "`"), text, _behind(":", text, name.end()))
        members.append(member)
        at = _matched(_AFTER_TYPE, text, at).end()
    return members, at


def _matched(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    match = pattern.match(text, at)
    if match is None:
        raise _UnreadableError
    return match


def _behind(character: str, text: str, at: int) -> int:
    """Return the position after a character that must come next, and after the spaces that follow it."""
    if not text.startswith(character, at):
        raise _UnreadableError
    at += 1
    while text.startswith(" ", at):
        at += 1
    return at
