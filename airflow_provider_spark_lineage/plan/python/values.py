"""What expressions of a script stand for, and what operators and functions of Python give for constants."""

from __future__ import annotations

import argparse
import ast
import contextlib
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, NoReturn

from airflow_provider_spark_lineage.plan.planned import HOLE

NOT_CONSTANT = "is not a constant"

MAX_TEXT = 100_000
"""Limit, in letters, of a text that is put together."""


class Value:
    """Base of all values."""


@dataclass(frozen=True)
class Unknown(Value):
    """A value that only the run knows."""

    reason: str = NOT_CONSTANT
    """What follows "the path" in a gap."""


@dataclass(frozen=True)
class Other(Value):
    """What another library gives: nothing that it does is Spark's."""


@dataclass(frozen=True)
class Known(Value):
    """A constant; a text may have holes (`HOLE`) where a part is not known."""

    value: object
    reason: str = ""
    """Why there are holes; empty where there are none."""


@dataclass(frozen=True)
class Items(Value):
    """A list or a tuple."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Entries(Value):
    """Named values: environment variables, arguments of the application by name or by number, options."""

    entries: tuple[tuple[object, Value], ...]
    missing: str = NOT_CONSTANT
    """Why a value is not known that is not there, with `{}` for its name."""

    is_dict: bool = False

    def get(self, name: object) -> Value:
        """Return a value."""
        return dict(self.entries).get(name) or Unknown(self.missing.format(name))


@dataclass(frozen=True)
class Module(Value):
    """What is imported, or built in, by its full name."""

    name: str


@dataclass(frozen=True)
class Function(Value):
    """A function that the script defines."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    frame: Any
    """The names around it, a `names.Frame`."""


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call."""

    positional: tuple[Value, ...] = ()
    named: tuple[tuple[str, Value], ...] = ()
    is_complete: bool = True
    """False for `*` or `**` of what is not known."""

    def given(self, position: int, name: str) -> Value | None:
        """Return an argument, at no position if that is negative; None where it is not given."""
        if 0 <= position < len(self.positional):
            return self.positional[position]
        return dict(self.named).get(name, None if self.is_complete or position < 0 else Unknown())

    def get(self, position: int, name: str) -> Value | None:
        """Return an argument that is not `None`."""
        value = self.given(position, name)
        return None if value == Known(None) else value


@dataclass(frozen=True)
class Chain(Value):
    """An object of Spark: `spark.read.format("csv")` is a reader, and the calls that lead to it."""

    kind: str
    """`session`, `read`, `write`, ...: a word of the tables in `methods`."""

    calls: tuple[tuple[str, Arguments], ...] = ()

    def last(self, *methods: str) -> Value | None:
        """Return the first argument of the last call of one of some methods; None where there is none."""
        calls = [arguments for name, arguments in self.calls if name in methods]
        values = [*calls[-1].positional, *dict(calls[-1].named).values(), Unknown()] if calls else [None]
        return values[0]


@dataclass(frozen=True)
class Method(Value):
    """A method that has another name: `read = spark.read.parquet`."""

    receiver: Chain
    name: str


_ANY = Arguments((Unknown(),), is_complete=False)
UNCLEAR = ("options", _ANY), ("format", _ANY), ("mode", _ANY)
"""The calls that may lead to a reader or a writer of which only the kind is known."""


def items_of(value: Value) -> tuple[Value, ...]:
    """Return what a loop goes through; nothing where that is not known."""
    if isinstance(value, Entries) and value.is_dict:
        return tuple(Known(name) for name, _ in value.entries)
    return value.items if isinstance(value, Items) else ()


def reason_of(value: Value | None) -> str:
    """Return why a value is not known."""
    return (value.reason if isinstance(value, Known | Unknown) else "") or NOT_CONSTANT


def constant(value: Value | None) -> Known | None:
    """Return a constant that has no holes; None for anything else."""
    return value if isinstance(value, Known) and not value.reason else None


def whole_text(value: Value | None) -> str | None:
    """Return a constant as a text; None for what is none, or has holes."""
    known = constant(value)
    return None if known is None or known.value is None else str(known.value)


def joined(parts: Sequence[Value]) -> Value:
    """Return constants put together as one text, with a hole for each part that is not known."""
    texts = [str(part.value) if isinstance(part, Known) else HOLE for part in parts]
    if sum(map(len, texts)) > MAX_TEXT:
        return Unknown("is too long")
    holes = (reason_of(part) for part in parts if not isinstance(part, Known) or part.reason)
    return Known("".join(texts), next(holes, ""))


_PERCENT = re.compile(r"%(?:(?P<own>%)|(?P<name>)[sd])")
_BRACES = re.compile(r"(?P<own>[{}])(?P=own)|\{(?P<name>\w*)\}")


def _add(left: Value, right: Value) -> Value:
    known = [part.value for part in (left, right) if isinstance(part, Known)]
    # Only texts are added to a text.
    if known and all(isinstance(value, str) for value in known):
        return joined((left, right))
    return Unknown(reason_of(left if isinstance(left, Unknown) else right))


def _percent(left: Value, right: Value) -> Value:
    return formatted(left, Arguments(right.items if isinstance(right, Items) else (right,)), _PERCENT)


def formatted(text: Value, arguments: Arguments, pattern: re.Pattern[str] = _BRACES) -> Value:
    """Return what `text.format(...)` gives: each place of a pattern filled."""
    mark = "{" if pattern is _BRACES else "%"
    if not isinstance(text, Known) or not isinstance(text.value, str) or mark in pattern.sub("", text.value):
        return Unknown(reason_of(text))
    parts: list[Value] = []
    end = count = 0
    for match in pattern.finditer(text.value):
        name = match["name"] or str(count)
        count += match["name"] == ""
        value = arguments.get(int(name) if name.isdecimal() else -1, name)
        parts += [Known(text.value[end : match.start()], text.reason)]
        parts += [Known(match["own"]) if match["own"] else value or Unknown()]
        end = match.end()
    return joined((*parts, Known(text.value[end:], text.reason)))


def _path(*parts: Value) -> Value:
    """Return parts of a path put together; one that is not known may begin at the root."""
    text = joined(parts)
    is_path = all(isinstance(part.value, str) for part in parts if isinstance(part, Known))
    if not parts or not is_path or not isinstance(text, Known):
        return Unknown(reason_of(text))
    texts = (str(part.value) if isinstance(part, Known) else HOLE for part in parts)
    return Known(posixpath.join(*texts), text.reason)


METHODS = ("lower", "lstrip", "removeprefix", "removesuffix", "replace", "rstrip", "strip", "upper")
"""Methods of texts that give a text, known where all is known."""


def of_text(text: Value, method: str, arguments: Arguments) -> Value:
    """Return what a method of a text gives."""
    known = list(filter(None, map(constant, (text, *arguments.positional))))
    texts = [one.value for one in known if isinstance(one.value, str)]
    if len(texts) <= len(arguments.positional) or arguments.named or not arguments.is_complete:
        return Unknown(reason_of(text))
    if len(texts[0]) * len(texts[-1]) > MAX_TEXT:
        return Unknown("is too long")
    try:
        return Known(getattr(str, method)(*texts))
    except TypeError:
        return Unknown()


def _pathlib(*parts: Value) -> Value:
    """Return a path as `pathlib` writes it: `s3://b` has one slash there."""
    text = _path(*parts)
    return replace(text, value=str(PurePosixPath(str(text.value)))) if isinstance(text, Known) else text


OPERATORS: Mapping[type, Callable[..., Value]] = {ast.Add: _add, ast.Div: _pathlib, ast.Mod: _percent}
FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "builtins.str": lambda *parts: joined(parts) if len(parts) < 2 else Unknown(),
    "builtins.vars": lambda *parts: parts[0] if parts else Unknown(),
    "os.path.join": _path,
    "pathlib.Path": _pathlib,
}
"""Full name -> what a function gives for its positional arguments."""

_TYPES: Mapping[str, type] = {"builtins.float": float, "builtins.int": int, "builtins.str": str}
NOT_GIVEN = "is the application's argument {}, which is not given"
_NOT_READ = "is an argument of the application that is not read"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def parsed(calls: Iterable[Arguments], given: Sequence[str]) -> Value:
    """Return the arguments as Python's own parser reads them, given the calls of `add_argument`."""
    parser = _Parser(add_help=False)
    try:
        for call in calls:
            parser.add_argument(*map(_plain, call.positional), **_options(call))
    except (TypeError, ValueError, argparse.ArgumentError):
        return Unknown(_NOT_READ)
    missing = {a.dest: Unknown(NOT_GIVEN.format(f"`{a.dest}`")) for a in parser._actions if a.required}
    values = {**{action.dest: action.default for action in parser._actions}, **missing}
    with contextlib.suppress(TypeError, ValueError, argparse.ArgumentError):
        values = vars(parser.parse_known_args(list(given))[0])
    entries = ((name, one if isinstance(one, Value) else Known(one)) for name, one in values.items())
    return Entries(tuple(entries), _NOT_READ)


def _options(call: Arguments) -> dict[str, Any]:
    """Return the options of `add_argument`; ValueError for those that are not read."""
    options: dict[str, Any] = {}
    for name, value in call.named:
        if name == "type":
            options[name] = _TYPES.get(getattr(value, "name", ""), lambda text: Unknown())
        elif name == "default":
            # A function changes a default that is a text as well.
            is_plain = getattr(dict(call.named).get("type", Module("builtins.str")), "name", "") in _TYPES
            options[name] = value if is_plain or value == Known(None) else Unknown()
        elif name not in ("choices", "help", "metavar"):
            options[name] = _plain(value)
    if options.get("action", "store") not in ("store", "store_false", "store_true") or "nargs" in options:
        raise ValueError(options)
    return options


def _plain(value: Value) -> Any:
    if not isinstance(value, Known) or value.reason:
        raise ValueError(value)
    return value.value
