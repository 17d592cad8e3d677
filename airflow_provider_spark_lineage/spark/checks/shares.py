"""A share of good rows that is enough: `at_least` in the dictionary of a rule for each row."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import Any, NamedTuple

AT_LEAST = "at_least"
"""Key of the share of good rows, from 0 to 1; without it, no row may break the rule."""

_DIGITS = 6
"""Decimal places of a share for people."""


class Outcome(NamedTuple):
    """Result of a rule for each row, in the form of an assertion's fields."""

    success: bool
    expected: str
    actual: str | None
    value: Any
    params: dict[str, Any]


def validate_share(check: str, given: Mapping[str, Any]) -> None:
    """Raise ValueError if `at_least` is not a share."""
    share = given.get(AT_LEAST, 1)
    is_number = isinstance(share, (int, float)) and not isinstance(share, bool)
    if not (is_number and 0 <= share <= 1):
        raise ValueError(
            f"{check}: {AT_LEAST} is {share!r}; it must be a number from 0 to 1, 0.98 for 98 % for example."
        )


def outcome(given: Mapping[str, Any], broken: int | None, rows: int | None) -> Outcome:
    """Return what follows from the number of rows that break a rule, of so many; None if it is unknown.

    >>> outcome({}, 2, 100)[:3], outcome({"at_least": 0.98}, 2, 100)[:3]
    ((False, '0', '2'), (True, '>=0.98', '0.98'))
    """
    if AT_LEAST not in given:
        return Outcome(broken == 0, "0", None if broken is None else str(broken), broken, {})
    least = Decimal(str(given[AT_LEAST]))
    expected, params = f">={least:f}", {AT_LEAST: given[AT_LEAST]}
    if broken is None or rows is None:
        return Outcome(False, expected, None, None, params)
    params["failing_rows"] = broken
    if not rows:
        return Outcome(True, expected, "0 rows", None, params)
    good = rows - broken
    share = _shown(Decimal(good) / rows, least)
    return Outcome(good >= least * rows, expected, share, float(share), params)


def _shown(share: Decimal, least: Decimal) -> str:
    """Return a share that is rounded down, so that one that is too small is never shown as large enough."""
    digits = max(_DIGITS, -int(least.as_tuple().exponent))
    return f"{share.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_FLOOR).normalize():f}"
