"""Results of operators and functions for constants: texts, paths, lists and dicts."""

from __future__ import annotations

import ast
import contextlib
import operator
import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any

from airflow_provider_spark_lineage.spark.planned.program import HOLE
from airflow_provider_spark_lineage.spark.planned.python.values import (
    Arguments,
    Container,
    Known,
    UnknownValue,
    Value,
    constant,
    items_of,
    listed,
    reason_of,
)

MAX_TEXT = 100_000
"""Limit, in characters, of a text that is put together."""

MAX_ITEMS = 1000
"""Limit of a slice of a list whose end is not known."""

_BRACES = re.compile(r"(?P<own>[{}])(?P=own)|\{(?P<name>\w*)\}")


def joined(*parts: Value) -> Value:
    """Return constants joined to one text, with a hole for each unknown part."""
    texts = [str(part.value) if isinstance(part, Known) else HOLE for part in parts]
    if sum(map(len, texts)) > MAX_TEXT:
        return UnknownValue("is too long")
    holes = (reason_of(part) for part in parts if not isinstance(part, Known) or part.reason)
    return Known("".join(texts), next(holes, ""))


def added(left: Value, right: Value) -> Value:
    """Return the sum of two texts."""
    constants = [value.value for value in (left, right) if isinstance(value, Known)]
    # Only a text can be added to a text.
    if constants and all(isinstance(value, str) for value in constants):
        return joined(left, right)
    return UnknownValue(reason_of(left if isinstance(left, UnknownValue) else right))


def formatted(text: Value, arguments: Arguments) -> Value:
    """Return the result of `text.format(...)`."""
    if not isinstance(text, Known) or not isinstance(text.value, str) or "{" in _BRACES.sub("", text.value):
        return UnknownValue(reason_of(text))
    parts: list[Value] = []
    end = count = 0
    for match in _BRACES.finditer(text.value):
        name = match["name"] or str(count)
        count += match["name"] == ""
        value = arguments.get(int(name) if name.isdecimal() else -1, name)
        parts += [Known(text.value[end : match.start()], text.reason)]
        parts += [Known(match["own"]) if match["own"] else value or UnknownValue()]
        end = match.end()
    return joined(*parts, Known(text.value[end:], text.reason))


_COMPARISONS: Mapping[type, Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.NotEq: operator.ne,
}


def compared(comparison: type, left: Value, right: Value) -> Value:
    """Return the result of a comparison of constants."""
    first, second = constant(left), constant(right)
    if first and second and comparison in _COMPARISONS:
        with contextlib.suppress(TypeError):
            return Known(bool(_COMPARISONS[comparison](first.value, second.value)))
    return UnknownValue()


def _path(*parts: Value) -> Value:
    """Return the joined parts of a path; an unknown part may be an absolute path."""
    text = joined(*parts)
    is_path = all(isinstance(part.value, str) for part in parts if isinstance(part, Known))
    if not parts or not is_path or not isinstance(text, Known):
        return UnknownValue(reason_of(text))
    texts = (str(part.value) if isinstance(part, Known) else HOLE for part in parts)
    return Known(posixpath.join(*texts), text.reason)


def part_of(value: Value, start: Value | None, stop: Value | None, step: Value | None) -> Value:
    """Return a slice of a list; `None` for a bound that is not written."""
    bounds = [constant(bound or Known(None)) for bound in (start, stop, step)]
    numbers = [bound.value for bound in bounds if bound and isinstance(bound.value, int | None)]
    if not isinstance(value, Container) or not value.is_list or value.is_changed or len(numbers) < 3:
        return UnknownValue(reason_of(value))
    if value.is_open:
        first, last = numbers[0] or 0, numbers[1]
        if last is None or min(first, last) < 0 or last > MAX_ITEMS or numbers[2] is not None:
            return UnknownValue()
        # Of arguments that are not given, the reason has the number.
        return listed(value.get(number) for number in range(first, last))
    with contextlib.suppress(ValueError):
        return listed([*value.entries.values()][slice(*numbers)])
    return UnknownValue()


def of_container(container: Container, method: str, arguments: Arguments) -> Value:
    """Return the result of a method of a dict."""
    key = constant(arguments.get(0, "key"))
    if method == "get" and key:
        is_missing = bool(container.pairs) and key.value not in container.entries
        return (arguments.get(1, "default") or Known(None)) if is_missing else container.get(key.value)
    if method in ("items", "values") and container.pairs:
        return listed(listed(pair) if method == "items" else pair[1] for pair in container.pairs)
    return UnknownValue()


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "builtins.len": lambda value: Known(len(items_of(value))) if items_of(value) else UnknownValue(),
    "builtins.str": lambda *parts: joined(*parts) if len(parts) == 1 else UnknownValue(),
    "os.path.join": _path,
}
"""Full name of a function -> its result for positional arguments."""
