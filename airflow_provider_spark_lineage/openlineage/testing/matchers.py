"""The matchers of expected files, with their checks and arguments.

A matcher must never pass by accident: booleans are not numbers, strings of digits are not integers, a regular
expression covers the whole string. How a matcher is written (YAML tag, JSON object) is defined in `expected`;
matchers that hold other values are compared in `differences`.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import isfinite
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns

Check = Callable[[Any], str]
"""Takes an actual JSON value; returns why it is refused, or an empty string."""


@dataclass(frozen=True)
class Matcher:
    """A placeholder in an expected file for a value that varies between runs.

    >>> make("number", ">= 1").check("5")
    'is not a number but a string'
    """

    name: str

    argument: Any = None
    """A string or None; for a matcher that holds values, any value."""

    check: Check = field(compare=False, repr=False, default=lambda actual: "")

    @property
    def accepts_absence(self) -> bool:
        """True if a key with this matcher as its value may be missing."""
        return self.name in ("absent", "optional")

    def __str__(self) -> str:
        return f"!{self.name}" if self.argument is None else f"!{self.name} {json_text(self.argument)}"


def make(name: str, argument: Any = None) -> Matcher:
    """Return the matcher of that name; ValueError names the mistake in the name or the argument.

    >>> str(make("one_of", ["COMPLETE", make("uuid")]))
    '!one_of ["COMPLETE", {"$match": "uuid"}]'
    """
    if name in HOLDERS:
        kind, wanted = HOLDERS[name]
        if name == "optional" and argument is None:
            raise ValueError(
                "matcher `optional` takes the value of the key if it is there, and null is read as no value: "
                "write `!optional {$match: one_of, value: [null]}` for null or no key, "
                "`!optional {$match: any}` for any value or no key, `!absent` for no key"
            )
        if argument is None or argument == [] or not isinstance(argument, kind):
            raise ValueError(f"matcher `{name}` takes {wanted}")
        return Matcher(name, argument)
    if name not in CHECKS and name not in BUILDERS:
        raise ValueError(f"unknown matcher `{name}`; {nearest(name, (*CHECKS, *BUILDERS, *HOLDERS))}")
    if argument is None and name == "regex":
        raise ValueError(f"matcher `{name}` needs an argument")
    if argument is not None and name in CHECKS:
        raise ValueError(f"matcher `{name}` takes no argument, but was given `{argument}`")
    if not isinstance(argument, str | None):
        raise ValueError(f"matcher `{name}` takes a string, not {json_type(argument)}")
    return Matcher(name, argument, CHECKS[name] if name in CHECKS else BUILDERS[name](argument or ""))


def _check_string(actual: Any) -> str:
    return "" if isinstance(actual, str) else f"is not a string but {json_type(actual)}"


def _string(actual: Any) -> str:
    return _check_string(actual) or ("" if actual else "is an empty string")


# [0-9a-f], not \d: \d also matches the digits of every other script.
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _uuid(actual: Any) -> str:
    return _check_string(actual) or ("" if _UUID.fullmatch(actual) else "is not a UUID")


def _regex(pattern: str) -> Check:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"matcher `regex`: `{pattern}` is not a regular expression ({error})") from None
    return lambda actual: (
        _check_string(actual)
        or ("" if compiled.fullmatch(actual) else "is not covered by the regular expression from end to end")
    )


def _datetime(actual: Any) -> str:
    if not isinstance(actual, str):
        return _check_string(actual)
    try:
        instant_ns(actual)
    except ValueError as error:
        return str(error)
    return ""


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_COMPARISON = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*")


def _numeric(what: str, *types: type[float]) -> Callable[[str], Check]:
    def build(text: str) -> Check:
        comparisons = [_comparison(part) for part in text.split(",") if text.strip()]

        def check(actual: Any) -> str:
            if isinstance(actual, bool) or not isinstance(actual, types):
                return f"is not {what} but {json_type(actual)}"
            if not isfinite(actual):
                return "is not a finite number"
            failed = [f"{op} {bound}" for op, bound in comparisons if not _OPERATORS[op](actual, bound)]
            return f"is not {' and '.join(failed)}" if failed else ""

        return check

    return build


def _comparison(text: str) -> tuple[str, float]:
    match = _COMPARISON.fullmatch(text)
    if not match:
        raise ValueError(f'`{text.strip()}` is not a comparison; write for example ">= 1" or "> 0, < 10"')
    number = match[2]
    # An int stays an int: a float would round row counts above 2**53.
    return match[1], int(number) if number.lstrip("-").isdigit() else float(number)


CHECKS: Mapping[str, Check] = {
    "any": lambda actual: "",
    "string": _string,
    "uuid": _uuid,
    "datetime": _datetime,
    "absent": lambda actual: "must be absent",
}
"""Name of a matcher without argument -> its check. `any` requires the key, with any value, null included."""

BUILDERS: Mapping[str, Callable[[str], Check]] = {
    "regex": _regex,
    "number": _numeric("a number", int, float),
    "integer": _numeric("an integer", int),
}
"""Name of a matcher -> function that builds its check from its argument, which only a regex needs."""

HOLDERS: Mapping[str, tuple[type, str]] = {
    "optional": (object, "the value of the key if it is there"),
    "one_of": (list, "a list with at least one value"),
    "exact": (dict, "an object with all allowed keys"),
    "at_least": (list, "a list with at least one value"),
}
"""Name -> argument of the matchers that hold values, which may contain matchers."""

ABSENT_KEY = make("absent")


# Values in messages.


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a clause that suggests the nearest known name, or lists all."""
    known = list(known)
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.4)
    return f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}"


def sentence(text: object) -> str:
    """Return the text with a full stop, unless it is a question."""
    return f"{text}".removesuffix(".") + ("" if f"{text}".endswith("?") else ".")


def json_text(value: Any) -> str:
    """Return the value on one line of JSON, with matchers as `{"$match": ...}`."""
    return json.dumps(value, default=as_object, ensure_ascii=False)


def as_object(value: Any) -> Any:
    """Return the JSON object of a matcher, or of a mapping that is not a dictionary, for `json.dumps`."""
    if isinstance(value, Matcher):
        return {"$match": value.name} | ({} if value.argument is None else {"value": value.argument})
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"`{value!r}` is {json_type(value)}, which JSON does not have")


def json_type(value: Any) -> str:
    """Return the type of a value for a message, with its article."""
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
