"""Spark's simple type strings read as nested schema fields. No dataset, no facet."""

from __future__ import annotations

import re
from typing import NamedTuple


class TypedField(NamedTuple):
    """A column or a part of one: a struct's member, an array's element, a map's key or value."""

    name: str
    type: str
    fields: tuple[TypedField, ...] = ()
    """The nested parts; empty unless there is a struct inside."""


_NESTED = re.compile(r"(struct|array|map)<")
_ATOMIC = re.compile(r"[A-Za-z_][\w .]*(\([^()<>]*\))?[\w ]*")
# Spark does not quote names here, so a name may have almost any character. Those that make the string
# ambiguous are rejected, and the whole type stays flat.
_NAME = re.compile(r"[^:<>]+")


def nested_fields(type_string: str) -> tuple[TypedField, ...]:
    """Return the parts of a type, in OpenLineage's names for them (`_element`, `key`, `value`).

    Empty for a type without a struct inside, and for one that cannot be read for certain: Spark
    cuts long types short (`... 3 more fields`) and does not quote member names.

    >>> nested_fields("struct<a:int,b:decimal(10,2)>")
    (TypedField(name='a', type='int', fields=()), TypedField(name='b', type='decimal(10,2)', fields=()))
    """
    if "struct<" not in type_string:
        return ()
    try:
        field, end = _type("", type_string, 0)
    except (_UnreadableError, RecursionError):
        return ()
    return field.fields if end == len(type_string) else ()


class _UnreadableError(Exception):
    """The string is not a type that can be read for certain."""


def _type(name: str, text: str, at: int) -> tuple[TypedField, int]:
    nested = _NESTED.match(text, at)
    if nested is None:
        atomic = _ATOMIC.match(text, at)
        if atomic is None:
            raise _UnreadableError
        return TypedField(name, atomic.group().strip()), atomic.end()
    members, end = _MEMBERS[nested.group(1)](text, nested.end())
    end = _expect(">", text, end)
    parts = members if "struct<" in text[at:end] else ()
    return TypedField(name, text[at:end], parts), end


def _struct(text: str, at: int) -> tuple[tuple[TypedField, ...], int]:
    members: list[TypedField] = []
    while text[at : at + 1] != ">":
        if members:
            at = _expect(",", text, at)
        name = _NAME.match(text, at)
        if name is None:
            raise _UnreadableError
        member, at = _type(name.group().strip(), text, _expect(":", text, name.end()))
        members.append(member)
    return tuple(members), at


def _array(text: str, at: int) -> tuple[tuple[TypedField, ...], int]:
    element, at = _type("_element", text, at)
    return (element,), at


def _map(text: str, at: int) -> tuple[tuple[TypedField, ...], int]:
    key, at = _type("key", text, at)
    value, at = _type("value", text, _expect(",", text, at))
    return (key, value), at


_MEMBERS = {"struct": _struct, "array": _array, "map": _map}


def _expect(character: str, text: str, at: int) -> int:
    if text[at : at + 1] != character:
        raise _UnreadableError
    at += 1
    while text[at : at + 1] == " ":
        at += 1
    return at
