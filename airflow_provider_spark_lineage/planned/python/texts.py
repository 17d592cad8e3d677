"""Results of Python's operators, functions and methods for constants, mainly texts and paths."""

from __future__ import annotations

import ast
import operator
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import PurePosixPath
from typing import Any

from airflow_provider_spark_lineage.planned.program import HOLE
from airflow_provider_spark_lineage.planned.python.values import (
    SEVERAL,
    Arguments,
    Either,
    Items,
    Known,
    Unknown,
    Value,
    constant,
    constants,
    items_of,
    merged,
    reason_of,
)

MAX_TEXT = 100_000
"""Limit, in characters, of a text that is put together."""

MAX_ITEMS = 1_000
"""Limit of the items of a list that is put together, and of the numbers of a `range`."""


def each(function: Callable[..., Value], *values: Value) -> Value:
    """Return the results of a function for each value that an argument may have.

    If two arguments have several values, both are taken as unknown.
    """
    if sum(isinstance(value, Either) for value in values) > 1:
        values = tuple(SEVERAL if isinstance(value, Either) else value for value in values)
    choices = product(*(value.values if isinstance(value, Either) else (value,) for value in values))
    return merged([function(*choice) for choice in choices])


def joined(*parts: Value) -> Value:
    """Return constants joined to one text, with a hole for each unknown part."""
    texts = [str(part.value) if isinstance(part, Known) else HOLE for part in parts]
    if sum(map(len, texts)) > MAX_TEXT:
        return Unknown("is too long")
    holes = (reason_of(part) for part in parts if not isinstance(part, Known) or part.reason)
    return Known("".join(texts), next(holes, ""))


_PERCENT = re.compile(r"%(?:(?P<own>%)|(?P<name>)[sd])")
_BRACES = re.compile(r"(?P<own>[{}])(?P=own)|\{(?P<name>\w*)\}")


_SPELLING = re.compile(r"[<>^]?0?\d{0,2},?(?:\.\d)?[dfs]?")


def spelled(value: Value, how: Value) -> Value:
    """Return the text of `{value:how}` in an f-string: `{7:02d}` is `07`."""
    known = constants((value, how))
    if known is None or not isinstance(known[0], int | float | str) or not _SPELLING.fullmatch(known[1]):
        return Unknown(reason_of(value))
    try:
        return Known(format(*known))
    except ValueError:
        return Unknown()


def _add(left: Value, right: Value) -> Value:
    known = [part.value for part in (left, right) if isinstance(part, Known)]
    lists = [items_of(part) for part in (left, right)]
    if all(lists):
        return (
            _listed((*lists[0], *lists[1])) if sum(map(len, lists)) <= MAX_ITEMS else Unknown("is too long")
        )
    # Only a text can be added to a text.
    if known and all(isinstance(value, str) for value in known):
        return joined(left, right)
    return Unknown(reason_of(left if isinstance(left, Unknown) else right))


def _percent(left: Value, right: Value) -> Value:
    values = items_of(right) or (right,)
    if any(isinstance(value, Known) and isinstance(value.value, float) for value in values):
        # `%d` drops the fraction.
        return Unknown()
    return formatted(left, Arguments(values), _PERCENT)


def formatted(text: Value, arguments: Arguments, pattern: re.Pattern[str] = _BRACES) -> Value:
    """Return the result of `text.format(...)`, or of `text % ...` with the pattern `_PERCENT`."""
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
    return each(joined, *parts, Known(text.value[end:], text.reason))


def _path(*parts: Value) -> Value:
    """Return the joined parts of a path; an unknown part may be an absolute path."""
    text = joined(*parts)
    is_path = all(isinstance(part.value, str | PurePosixPath) for part in parts if isinstance(part, Known))
    if not parts or not is_path or not isinstance(text, Known):
        return Unknown(reason_of(text))
    texts = (str(part.value) if isinstance(part, Known) else HOLE for part in parts)
    return Known(posixpath.join(*texts), text.reason)


def _pathlib(*parts: Value) -> Value:
    """Return a path as `pathlib` writes it: `s3://b` becomes `s3:/b`."""
    text = _path(*parts)
    return replace(text, value=PurePosixPath(str(text.value))) if isinstance(text, Known) else text


METHODS = (
    *("lower", "lstrip", "removeprefix", "removesuffix", "replace", "rsplit", "rstrip"),
    *("split", "splitlines", "strip", "upper"),
)
"""Methods of a text that return a text or a list of texts."""


def of_text(method: str, *values: Value) -> Value:
    """Return the result of a method of a text."""
    given = constants(values)
    if given is None or not isinstance(given[0], str):
        return Unknown(reason_of(values[0]))
    if len(given[0]) * len(str(given[-1])) > MAX_TEXT:
        return Unknown("is too long")
    try:
        result = getattr(str, method)(*given)
    except (TypeError, ValueError):
        return Unknown()
    return Items(tuple(map(Known, result))) if isinstance(result, list) else Known(result)


def joined_by(between: Value, items: Value) -> Value:
    """Return the items of a list as one text, with the text `between` them."""
    parts = [part for item in items_of(items) for part in (between, item)]
    return each(joined, *parts[1:]) if parts else Unknown(reason_of(items))


OPERATORS: Mapping[type, Callable[..., Value]] = {ast.Add: _add, ast.Div: _pathlib, ast.Mod: _percent}

_COMPARISONS: Mapping[type, Callable[..., object]] = {
    ast.Eq: operator.eq,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.NotEq: operator.ne,
}


def compared(comparison: type, *values: Value) -> Value:
    """Return the result of a comparison of constants."""
    known = constants(values)
    try:
        return Unknown() if known is None else Known(bool(_COMPARISONS[comparison](*known)))
    except (KeyError, TypeError):
        return Unknown()


def _listed(items: Iterable[Value]) -> Value:
    listed = tuple(items)
    return Items(listed) if listed else Unknown()


def _order(item: Value) -> Any:
    known = constant(item)
    if known is None:
        raise TypeError(item)
    return known.value


def _enumerate(items: Value, *start: Value) -> Value:
    first = constants(start)
    if first is None:
        return Unknown()
    return _listed(Items((Known(number), item)) for number, item in enumerate(items_of(items), *first))


def _range(*numbers: Value) -> Value:
    known = constants(numbers)
    values = range(*known) if known else ()
    return _listed(map(Known, values)) if len(values) <= MAX_ITEMS else Unknown()


def _zip(*parts: Value) -> Value:
    return _listed(map(Items, zip(*map(items_of, parts), strict=False)))


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    **dict.fromkeys(("builtins.list", "builtins.tuple"), lambda part: _listed(items_of(part))),
    **dict.fromkeys(
        ("builtins.frozenset", "builtins.set"), lambda part: _listed(dict.fromkeys(items_of(part)))
    ),
    "builtins.enumerate": _enumerate,
    "builtins.len": lambda part: Known(len(items_of(part))) if items_of(part) else Unknown(),
    "builtins.range": _range,
    "builtins.reversed": lambda part: _listed(items_of(part)[::-1]),
    "builtins.sorted": lambda part: _listed(sorted(items_of(part), key=_order)),
    "builtins.str": lambda *parts: joined(*parts) if len(parts) < 2 else Unknown(),
    "builtins.vars": lambda *parts: parts[0] if parts else Unknown(),
    "builtins.zip": _zip,
    "os.path.join": _path,
    "pathlib.Path": _pathlib,
    "pathlib.PurePosixPath": _pathlib,
}
"""Full name of a function -> its result for positional arguments."""
