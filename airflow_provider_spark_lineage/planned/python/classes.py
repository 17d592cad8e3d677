"""Classes of the script: plain classes, dataclasses, enumerations, and unknown kinds."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from airflow_provider_spark_lineage.planned.python.scopes import assigned
from airflow_provider_spark_lineage.planned.python.values import (
    SEVERAL,
    Arguments,
    Class,
    Function,
    Known,
    Module,
    Unknown,
    Value,
)

_ENUMERATION = re.compile(r"enum\.(?:Int|Str)?Enum")
MAX_MEMBERS = 1_000
"""Limit of the inherited members of a class."""

_NO_MEMBERS = frozenset({"abc.ABC", "abc.ABCMeta", "builtins.object"})
_MAKES_OTHERS = frozenset({"__getattribute__", "__new__"})
"""Methods with which a class controls its objects or their attributes."""

_MAY_NOT_RUN = (ast.For, ast.If, ast.Match, ast.Try, ast.While)
_MIXED_IN = re.compile(r"builtins\.(?:int|str)")


def class_of(node: ast.ClassDef, members: Mapping[str, Value], around: Sequence[Value]) -> Value:
    """Return the value of a class definition; `around` are its decorators and bases."""
    names = [value.name if isinstance(value, Module) else "" for value in around]
    base = base_of(node, around)
    if not _MAKES_OTHERS.isdisjoint(members):
        return Unknown()
    if base is not None and len(base.members) <= MAX_MEMBERS:
        certain = assigned(each for each in node.body if not isinstance(each, _MAY_NOT_RUN))
        doubtful = assigned(each for each in node.body if isinstance(each, _MAY_NOT_RUN)) - certain
        # If the class does not assign it, the base's member is used.
        several = dict.fromkeys(doubtful & base.members.keys(), SEVERAL)
        return Class({**base.members, **members, **several})
    if names == ["dataclasses.dataclass"] and node.decorator_list:
        fields = _fields(node)
        return Unknown() if fields is None else Class(members, fields=fields)
    is_enumeration = _ENUMERATION.fullmatch(names[-1]) and all(map(_MIXED_IN.fullmatch, names[:-1]))
    if is_enumeration and not node.keywords:
        return Class({name: _enumerated(name, value) for name, value in members.items()})
    return Unknown()


def base_of(node: ast.ClassDef, around: Sequence[Value]) -> Class | None:
    """Return the base class, an empty one if there is none; None if it is not a plain class of the script."""
    others = [value for value in around if not isinstance(value, Module) or value.name not in _NO_MEMBERS]
    if not others:
        return Class({})
    base = others[0]
    is_only = len(others) == 1 and not node.decorator_list and base in around[: len(node.bases)]
    return base if is_only and isinstance(base, Class) and not (base.fields or base.is_object) else None


def attributes_of(of: Class, arguments: Arguments) -> dict[str, Value]:
    """Return the attributes of an object of a dataclass, created with these arguments."""
    attributes: dict[str, Value] = {}
    for number, name in enumerate(of.fields):
        value = arguments.find(number, name)
        attributes[name] = of.members.get(name, Unknown()) if value is None else value
    return attributes


def _fields(node: ast.ClassDef) -> tuple[str, ...] | None:
    """Return the parameters of a dataclass in their order; None if they are not plain."""
    if any(getattr(part, "name", "") in ("__init__", "__post_init__") for part in node.body):
        return None
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    if re.search(r"ClassVar|InitVar|KW_ONLY|\bfield\(.*\binit=", " ".join(map(ast.unparse, fields))):
        return None
    return tuple(part.target.id for part in fields if isinstance(part.target, ast.Name))


def _enumerated(name: str, value: Value) -> Value:
    if isinstance(value, Function) or name.startswith("_"):
        return value
    return Class({}, {"name": Known(name), "value": value}, is_object=True)
