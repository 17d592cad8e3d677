"""A measured value against the limits that a check's dictionary gives: `{"geq_to": 0, "less_than": 10}`."""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple


class _Limit(NamedTuple):
    holds: Callable[[Any, Any], bool]
    sign: str
    margin: int
    """-1 if a tolerance lowers this limit, 1 if it raises it, 0 if it makes a range of it."""


_LIMITS = {
    "equal_to": _Limit(operator.eq, "", 0),
    "greater_than": _Limit(operator.gt, ">", -1),
    "geq_to": _Limit(operator.ge, ">=", -1),
    "less_than": _Limit(operator.lt, "<", 1),
    "leq_to": _Limit(operator.le, "<=", 1),
}
LIMITS = tuple(_LIMITS)
"""Keys of a check's dictionary that hold the expectation, as in Airflow."""


class Verdict(NamedTuple):
    """Comparison of a value with limits, or the reason why it cannot be compared."""

    success: bool
    reason: str = ""


def verdict(limits: Mapping[str, Any], value: Any, *, accept_none: bool) -> Verdict:
    """Return whether a value is within limits.

    As in Airflow, `accept_none` takes a missing value for 0. Texts are compared with texts, dates with dates
    or their ISO texts, numbers with numbers; anything else fails, with a reason.
    """
    expected = [limits[key] for key in LIMITS if key in limits]
    if value is None:
        if not accept_none:
            return Verdict(False)
        if not all(map(_is_number, expected)):
            return Verdict(True)
        value = 0
    tolerance = limits.get("tolerance")
    try:
        bounds = [
            (limit.holds, bound)
            for key, limit in _LIMITS.items()
            if key in limits
            for limit, bound in _bounds(limit, _comparable(limits[key], value), tolerance)
        ]
        return Verdict(all(holds(_plain(value), bound) for holds, bound in bounds))
    except _NotComparableError as error:
        return Verdict(False, str(error))


def expected_text(limits: Mapping[str, Any]) -> str:
    """Return limits in the one form of all events, with a tolerance as the bounds that it gives.

    >>> expected_text({"geq_to": 5, "less_than": 10})
    '>=5, <10'
    >>> expected_text({"equal_to": -30, "tolerance": 0.1})
    '>=-33.0, <=-27.0'
    """
    tolerance = limits.get("tolerance")
    if tolerance is None or not all(_is_number(limits[key]) for key in LIMITS if key in limits):
        return ", ".join(f"{limit.sign}{limits[key]}" for key, limit in _LIMITS.items() if key in limits)
    return ", ".join(
        f"{limit.sign}{bound}"
        for key, each in _LIMITS.items()
        if key in limits
        for limit, bound in _bounds(each, limits[key], tolerance)
    )


def in_one_form(limits: str) -> str:
    """Return limits that Airflow wrote, in the form of ours.

    >>> in_one_form(">= 5.0, <= 9.0")
    '>=5.0, <=9.0'
    """
    return re.sub(r"([<>]=?|!=) +", r"\1", limits) if is_of_numbers(limits) else limits


def is_without_text(value: Any) -> bool:
    """Return whether a value is a number, a boolean, a date or missing: nothing that may have a text."""
    return value is None or isinstance(value, (int, float, Decimal, datetime.date, datetime.timedelta))


def has_text(limits: Mapping[str, Any]) -> bool:
    """Return whether a text is among the limits."""
    return any(isinstance(limits.get(key), str) for key in LIMITS)


class _NotComparableError(Exception):
    """The message is for the user."""


def _bounds(limit: _Limit, bound: Any, tolerance: Any) -> list[tuple[_Limit, Any]]:
    """Return the limits that a tolerance makes of one limit."""
    if tolerance is None:
        return [(limit, bound)]
    if not _is_number(bound):
        raise _NotComparableError(f"a tolerance needs a number, not {_kind(bound)}")
    margin = abs(bound) * (Decimal(str(tolerance)) if isinstance(bound, Decimal) else float(tolerance))
    if limit.margin:
        return [(limit, bound + limit.margin * margin)]
    return [(_LIMITS["geq_to"], bound - margin), (_LIMITS["leq_to"], bound + margin)]


def _comparable(expected: Any, value: Any) -> Any:
    """Return the expected value in the form of the measured one."""
    if _is_number(value) and _is_number(expected):
        # Decimal("0.10") == 0.1 is false.
        return Decimal(str(expected)) if isinstance(value, Decimal) else expected
    if isinstance(value, str) and isinstance(expected, str):
        return expected
    if isinstance(value, datetime.datetime):
        if isinstance(expected, str):
            expected = _from_iso(datetime.datetime, expected)
        if isinstance(expected, datetime.datetime):
            return _plain(expected)
        if isinstance(expected, datetime.date):
            return datetime.datetime.combine(expected, datetime.time())
    elif isinstance(value, datetime.date):
        if isinstance(expected, str):
            expected = _from_iso(datetime.date, expected)
        if isinstance(expected, datetime.date) and not isinstance(expected, datetime.datetime):
            return expected
    elif isinstance(value, bool) and isinstance(expected, bool):
        return expected
    raise _NotComparableError(f"the value is {_kind(value)}, and the expected one is {_kind(expected)}")


def _plain(value: Any) -> Any:
    """Return a timestamp in the local time zone, as PySpark returns it, without naming the zone."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone().replace(tzinfo=None)
    return value


def _from_iso(kind: Any, text: str) -> Any:
    try:
        return kind.fromisoformat(text)
    except ValueError as error:
        raise _NotComparableError(
            "the expected value is not the ISO text of a date, 2026-01-31 for example"
        ) from error


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


_KINDS = {str: "a text", bool: "a boolean", datetime.datetime: "a timestamp", datetime.date: "a date"}


def _kind(value: Any) -> str:
    return "a number" if _is_number(value) else _KINDS.get(type(value), f"a {type(value).__name__}")


_NOT_TEXT = re.compile(
    r"""(?x) (?: [\s()\[\],.:<>=+-] | \d+(?:\.\d*)?(?:e[+-]?\d+)?
    | None | True | False | nan | inf
    | Decimal\('[+-]?[\d.]+(?:E[+-]?\d+)?'\) | datetime\.\w+\([\d,\ ]*\) )*"""
)
"""What Python prints for numbers, dates and rows of them."""


def is_of_numbers(text: str) -> bool:
    """Return whether a printed value, or a row of values, has numbers and dates only.

    >>> is_of_numbers("(1, Decimal('2.5'), None)"), is_of_numbers("(1, 'Smith')"), is_of_numbers(">= 1, <= 2")
    (True, False, True)
    """
    return _NOT_TEXT.fullmatch(text) is not None
