"""Date-times of RFC 3339 as whole nanoseconds, so that no digit of them is rounded away."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from decimal import Decimal

# [0-9], never \d: \d also takes the digits of every other script.
_DATETIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_TOLERANCE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SECOND_NS = 1_000_000_000

UNITS: dict[str, int] = {
    "ms": 1_000_000,
    "s": _SECOND_NS,
    "min": 60 * _SECOND_NS,
    "h": 3600 * _SECOND_NS,
    "d": 86_400 * _SECOND_NS,
}
"""Unit of a tolerance -> nanoseconds."""


def instant_ns(text: str) -> int:
    """Nanoseconds since 1970; ValueError completes the sentence "the value ...".

    >>> instant_ns("1970-01-01T01:00:01.5+01:00")
    1500000000
    """
    # The spec's `date-time` is RFC 3339, which has no date-time without an offset.
    match = _DATETIME.fullmatch(text)
    if not match:
        raise ValueError("is not an RFC 3339 date-time with an offset")
    try:
        whole = datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00"))
    except ValueError:
        raise ValueError("is no date or time of any calendar") from None
    since = whole - _EPOCH
    return (since.days * 86_400 + since.seconds) * _SECOND_NS + int((match[2] or "").ljust(9, "0"))


def tolerance_ns(text: str) -> int:
    """Nanoseconds of `5s`, `1.5 min`; ValueError says what such a text looks like."""
    match = _TOLERANCE.fullmatch(text.strip())
    if not match or match[2] not in UNITS:
        raise ValueError(f"`{text.strip()}` is no tolerance; write for example 5s, with {', '.join(UNITS)}")
    return int(Decimal(match[1]) * UNITS[match[2]])
