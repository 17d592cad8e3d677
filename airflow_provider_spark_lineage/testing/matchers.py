"""The typed matchers of expected files: one row per matcher, each saying why it refuses a value.

A matcher must never pass by accident: booleans are no numbers, texts of digits are no integers, a regular
expression covers the whole string. Where a matcher is written (YAML tag, JSON object) is `notation`'s job.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import isfinite
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.testing.instants import instant_ns, tolerance_ns

Check = Callable[[Any], str]
"""Takes an actual JSON value; returns why it is refused, or an empty string."""


@dataclass(frozen=True)
class Matcher:
    """What stands in an expected file in place of a value that varies from run to run.

    >>> matcher("number", ">= 1").refuses("5")
    'is not a number but a string'
    """

    name: str

    argument: Any
    """A string or None; what `composite` builds holds values of any kind."""

    check: Check = field(compare=False, repr=False)
    accepts_absence: bool = False

    def refuses(self, actual: Any) -> str:
        """Why this value is not accepted; empty where it is."""
        return self.check(actual)

    def __str__(self) -> str:
        return f"!{self.name}" if self.argument is None else f"!{self.name} {written(self.argument)}"

    def as_json(self) -> dict[str, Any]:
        """The form that a JSON expected file uses."""
        value = {} if self.argument is None else {"value": plain(self.argument)}
        return {"$match": self.name, **value}


class Row(NamedTuple):
    """One kind of matcher: how its argument becomes a check, and whether the argument is there."""

    build: Callable[[str], Check]
    argument: str = "none"
    """`none`, `optional` or `required`."""

    accepts_absence: bool = False


def matcher(name: str, argument: str | None = None) -> Matcher:
    """The matcher of that name; ValueError says what is wrong with the name or its argument."""
    row = MATCHERS.get(name)
    if row is None:
        raise ValueError(f"unknown matcher `{name}`; {nearest(name, MATCHERS)}")
    if argument is None and row.argument == "required":
        raise ValueError(f"matcher `{name}` needs an argument")
    if argument is not None and row.argument == "none":
        raise ValueError(f"matcher `{name}` takes no argument, but was given `{argument}`")
    return Matcher(name, argument, row.build(argument or ""), row.accepts_absence)


def nearest(name: str, known: Any) -> str:
    """Half a sentence that helps with a misspelt name."""
    close = get_close_matches(name.lower(), list(known), n=1, cutoff=0.4)
    return f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}"


def sentence(text: object) -> str:
    """The text with a full stop, unless it asks something."""
    return f"{text}".removesuffix(".") + ("" if f"{text}".endswith("?") else ".")


def plain(value: Any) -> Any:
    """The value in JSON's own types, matchers as `{"$match": ...}`."""
    if isinstance(value, Matcher):
        return value.as_json()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def written(value: Any) -> str:
    """The value on one line of YAML, matchers as tags."""
    if isinstance(value, Matcher):
        # Without the space, YAML reads a comma or a bracket behind a tag as part of its name.
        return f"{value} " if value.argument is None else str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def json_type(value: Any) -> str:
    """What a value is called in a message, with its article."""
    for kind, name in _JSON_TYPES:
        if isinstance(value, kind):
            return name
    return "null" if value is None else f"a {type(value).__name__}"


_JSON_TYPES: tuple[tuple[type, str], ...] = (  # bool before int: Python's True is an int
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a number"),
    (str, "a string"),
    (list, "a list"),
    (dict, "an object"),
)


def _any(_: str) -> Check:
    return lambda actual: ""


def _absent(_: str) -> Check:
    return lambda actual: "must be absent"


def _string(_: str) -> Check:
    return lambda actual: _not_text(actual) or ("" if actual else "is an empty string")


def _not_text(actual: Any) -> str:
    return "" if isinstance(actual, str) else f"is not a string but {json_type(actual)}"


# fullmatch with [0-9a-f], never \d: \d also takes the digits of every other script.
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _uuid(_: str) -> Check:
    return lambda actual: _not_text(actual) or ("" if _UUID.fullmatch(actual) else "is not a UUID")


def _contains(text: str) -> Check:
    if not text:
        raise ValueError("matcher `contains` was given an empty text, which every string contains")
    return lambda actual: _not_text(actual) or ("" if text in actual else "does not contain the text")


def _datetime(text: str) -> Check:
    center, sign, tolerance = _SPLIT.split(text, maxsplit=1) if _SPLIT.search(text) else (text, "", "")
    if not center.strip() and (sign or text):
        raise ValueError(f'`{text}` has no date-time; write for example "2024-05-01T10:00:00Z ± 5s"')
    try:
        wanted = instant_ns(center.strip()) if text else None
    except ValueError as error:
        raise ValueError(f"`{center.strip()}` {error}") from None
    allowed = tolerance_ns(tolerance) if sign else 0

    def check(actual: Any) -> str:
        if not isinstance(actual, str):
            return _not_text(actual)
        try:
            found = instant_ns(actual)
        except ValueError as error:
            return str(error)
        if wanted is None or abs(found - wanted) <= allowed:
            return ""
        return f"is {abs(found - wanted) / 1e9:g} s {'later' if found > wanted else 'earlier'}"

    return check


_SPLIT = re.compile(r"(±|\+/?-)")
"""What stands between a date-time and its tolerance, also as ASCII; an offset has one sign."""


def _regex(pattern: str) -> Check:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"matcher `regex` was given no regular expression ({error})") from None
    return lambda actual: (
        _not_text(actual)
        or ("" if compiled.fullmatch(actual) else "is not covered by the regular expression from end to end")
    )


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_COMPARISON = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*")


def _comparisons(text: str) -> list[tuple[str, float]]:
    found = []
    for part in text.split(",") if text.strip() else []:
        match = _COMPARISON.fullmatch(part)
        if not match:
            raise ValueError(f'`{part.strip()}` is no comparison; write for example ">= 1" or "> 0, < 10"')
        number = match[2]
        # An int stays an int: a float would round row counts above 2**53.
        found.append((match[1], int(number) if number.lstrip("-").isdigit() else float(number)))
    return found


def _number(text: str) -> Check:
    return _numeric("a number", (int, float), _comparisons(text))


def _integer(text: str) -> Check:
    return _numeric("an integer", (int,), _comparisons(text))


def _numeric(what: str, types: tuple[type[float], ...], comparisons: list[tuple[str, float]]) -> Check:
    def check(actual: Any) -> str:
        if isinstance(actual, bool) or not isinstance(actual, types):
            return f"is not {what} but {json_type(actual)}"
        if not isfinite(actual):
            return "is not a finite number"
        failed = [f"{op} {bound}" for op, bound in comparisons if not _OPERATORS[op](actual, bound)]
        return f"is not {' and '.join(failed)}" if failed else ""

    return check


MATCHERS: dict[str, Row] = {
    "any": Row(_any),
    "string": Row(_string),
    "uuid": Row(_uuid),
    "datetime": Row(_datetime, argument="optional"),
    "contains": Row(_contains, argument="required"),
    "regex": Row(_regex, argument="required"),
    "number": Row(_number, argument="optional"),
    "integer": Row(_integer, argument="optional"),
    "absent": Row(_absent, accepts_absence=True),
}
"""Name -> matcher. `any` wants the key to be there, whatever its value, null included."""
