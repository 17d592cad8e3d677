"""The matchers of expected files: what each accepts, and which argument it takes.

A matcher must never pass by accident: booleans are not numbers, strings of digits are not integers, a regular
expression covers the whole string. How a matcher is written (YAML tag, JSON object) is defined in `notation`;
matchers that hold other values are compared in `differences`.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from math import isfinite
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.events.instants import SECOND_NS, instant_ns

Check = Callable[[Any], str]
"""Takes an actual JSON value; returns why it is refused, or an empty string."""


@dataclass(frozen=True)
class Matcher:
    """What an expected file has in place of a value that varies from run to run.

    >>> make("number", ">= 1").check("5")
    'is not a number but a string'
    """

    name: str

    argument: Any = None
    """A string or None; for a matcher that holds values, any value."""

    check: Check = field(compare=False, repr=False, default=lambda actual: "")

    @property
    def accepts_absence(self) -> bool:
        """Whether the key may be missing that has this matcher as its value."""
        return self.name in ACCEPT_ABSENCE

    def __str__(self) -> str:
        if self.name == "template":  # of Airflow's own system tests, which have no tags
            return json.dumps(self.argument)
        return f"!{self.name}" if self.argument is None else f"!{self.name} {written(self.argument)}"


def make(name: str, argument: Any = None) -> Matcher:
    """Return the matcher of that name; ValueError says what is wrong with the name or the argument.

    >>> str(make("one_of", ["COMPLETE", make("regex", "F.*")]))
    '!one_of ["COMPLETE", !regex "F.*"]'
    """
    if name in HOLDERS:
        HOLDERS[name](argument)
        return Matcher(name, argument)
    row = MATCHERS.get(name)
    if row is None:
        raise ValueError(f"unknown matcher `{name}`; {nearest(name, (*MATCHERS, *HOLDERS))}")
    if argument is None and row.argument == "required":
        raise ValueError(f"matcher `{name}` needs an argument")
    if argument is not None and row.argument == "none":
        raise ValueError(f"matcher `{name}` takes no argument, but was given `{argument}`")
    if not isinstance(argument, str | None):
        raise ValueError(f"matcher `{name}` takes a string, not {json_type(argument)}")
    return Matcher(name, argument, row.build(argument or ""))


class Row(NamedTuple):
    """How the argument of a matcher becomes a check, and whether the matcher takes one."""

    build: Callable[[str], Check]
    argument: str = "none"
    """`none`, `optional` or `required`."""


# Matchers without values in them.


def _any(_: str) -> Check:
    return lambda actual: ""


def _absent(_: str) -> Check:
    return lambda actual: "must be absent"


def _string(_: str) -> Check:
    return lambda actual: _not_a_string(actual) or ("" if actual else "is an empty string")


def _not_a_string(actual: Any) -> str:
    return "" if isinstance(actual, str) else f"is not a string but {json_type(actual)}"


# [0-9a-f], not \d: \d also matches the digits of every other script.
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _uuid(_: str) -> Check:
    return lambda actual: _not_a_string(actual) or ("" if _UUID.fullmatch(actual) else "is not a UUID")


def _contains(text: str) -> Check:
    if not text:
        raise ValueError("matcher `contains` was given an empty text, which every string contains")
    return lambda actual: _not_a_string(actual) or ("" if text in actual else "does not contain the text")


def _regex(pattern: str) -> Check:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"matcher `regex`: `{pattern}` is not a regular expression ({error})") from None
    return lambda actual: (
        _not_a_string(actual)
        or ("" if compiled.fullmatch(actual) else "is not covered by the regular expression from end to end")
    )


_PLUS_MINUS = re.compile(r"±|\+/?-")
_TOLERANCE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)")
_UNITS_NS = {
    "ms": SECOND_NS // 1000,
    "s": SECOND_NS,
    "min": 60 * SECOND_NS,
    "h": 3600 * SECOND_NS,
    "d": 86_400 * SECOND_NS,
}


def _datetime(text: str) -> Check:
    center, *tolerance = (part.strip() for part in _PLUS_MINUS.split(text, maxsplit=1))
    if text and not center:
        raise ValueError(f'`{text}` has no date-time; write for example "2024-05-01T10:00:00Z ± 5s"')
    try:
        wanted = instant_ns(center) if text else None
    except ValueError as error:
        raise ValueError(f"`{center}` {error}") from None
    allowed = _tolerance_ns(tolerance[0]) if tolerance else 0

    def check(actual: Any) -> str:
        if not isinstance(actual, str):
            return _not_a_string(actual)
        try:
            later = instant_ns(actual) - (wanted or 0)
        except ValueError as error:
            return str(error)
        if wanted is None or abs(later) <= allowed:
            return ""
        return f"is {abs(later) / SECOND_NS:g} s {'later' if later > 0 else 'earlier'}"

    return check


def _tolerance_ns(text: str) -> int:
    match = _TOLERANCE.fullmatch(text)
    if not match or match[2] not in _UNITS_NS:
        raise ValueError(f"`{text}` is not a tolerance; write for example 5s, with {', '.join(_UNITS_NS)}")
    return int(Decimal(match[1]) * _UNITS_NS[match[2]])


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_COMPARISON = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*")


def _number(text: str) -> Check:
    return _numeric("a number", (int, float), _comparisons(text))


def _integer(text: str) -> Check:
    return _numeric("an integer", (int,), _comparisons(text))


def _comparisons(text: str) -> list[tuple[str, float]]:
    comparisons: list[tuple[str, float]] = []
    for part in text.split(",") if text.strip() else []:
        match = _COMPARISON.fullmatch(part)
        if not match:
            raise ValueError(f'`{part.strip()}` is not a comparison; write for example ">= 1" or "> 0, < 10"')
        number = match[2]
        # An int stays an int: a float would round row counts above 2**53.
        comparisons.append((match[1], int(number) if number.lstrip("-").isdigit() else float(number)))
    return comparisons


def _numeric(what: str, types: tuple[type[float], ...], comparisons: list[tuple[str, float]]) -> Check:
    def check(actual: Any) -> str:
        if isinstance(actual, bool) or not isinstance(actual, types):
            return f"is not {what} but {json_type(actual)}"
        if not isfinite(actual):
            return "is not a finite number"
        failed = [f"{op} {bound}" for op, bound in comparisons if not _OPERATORS[op](actual, bound)]
        return f"is not {' and '.join(failed)}" if failed else ""

    return check


# Matchers that hold values: what they may hold.


def _check_optional(argument: Any) -> None:
    if argument is None:
        raise ValueError("matcher `optional` needs a value: the one that the key has if it is there")


def _check_exact(argument: Any) -> None:
    if not isinstance(argument, dict):
        raise ValueError("matcher `exact` takes an object, whose keys are all that may be there")


def _check_list(argument: Any) -> None:
    if not isinstance(argument, list) or not argument:
        raise ValueError("matchers `one_of` and `at_least` take a list with at least one value")


MATCHERS: Mapping[str, Row] = {
    "any": Row(_any),
    "string": Row(_string),
    "uuid": Row(_uuid),
    "datetime": Row(_datetime, "optional"),
    "contains": Row(_contains, "required"),
    "regex": Row(_regex, "required"),
    "number": Row(_number, "optional"),
    "integer": Row(_integer, "optional"),
    "absent": Row(_absent),
}
"""Name -> matcher. `any` wants the key to be there, whatever its value, null included."""

HOLDERS: Mapping[str, Callable[[Any], None]] = {
    "optional": _check_optional,
    "one_of": _check_list,
    "exact": _check_exact,
    "at_least": _check_list,
}
"""Name -> check of the argument, for matchers that hold values with matchers in them."""

ACCEPT_ABSENCE = frozenset({"absent", "optional"})

ABSENT_KEY = make("absent")


# Values in messages.


def nearest(name: str, known: Iterable[str]) -> str:
    """Return half a sentence that helps with a misspelt name."""
    known = list(known)
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.4)
    return f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}"


def sentence(text: object) -> str:
    """Return the text with a full stop, unless it is a question."""
    return f"{text}".removesuffix(".") + ("" if f"{text}".endswith("?") else ".")


def plain(value: Any) -> Any:
    """Return the value in JSON's own types, with matchers as `{"$match": ...}`."""
    if isinstance(value, Matcher):
        held = {} if value.argument is None else {"value": plain(value.argument)}
        return {"$match": value.name, **held}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def written(value: Any) -> str:
    """Return the value on one line of YAML, with matchers as tags."""
    if isinstance(value, Matcher):
        # Without the space, YAML reads a comma or a bracket behind a tag as part of its name.
        return f"{value} " if value.argument is None else str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def json_type(value: Any) -> str:
    """Return what a value is called in a message, with its article."""
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
