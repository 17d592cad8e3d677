"""Date-times of RFC 3339 as whole nanoseconds, so that no digit is rounded away."""

from __future__ import annotations

import re
from datetime import datetime, timezone

# [0-9], not \d: \d also matches the digits of every other script.
_DATETIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SECOND_NS = 1_000_000_000


def instant_ns(text: str) -> int:
    """Return nanoseconds since 1970; the message of ValueError completes the sentence "the value ...".

    >>> instant_ns("1970-01-01T01:00:01.5+01:00")
    1500000000
    """
    # The spec's `date-time` is RFC 3339, which has no date-time without an offset.
    match = _DATETIME.fullmatch(text)
    if not match:
        raise ValueError("is not an RFC 3339 date-time with an offset")
    try:
        # In UTC the year may be 0 or 10000, which a date cannot have.
        moment = datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00")).astimezone(timezone.utc)
        seconds = moment - _EPOCH
    except (ValueError, OverflowError):
        raise ValueError("is not a date and time that exists") from None
    return (seconds.days * 86_400 + seconds.seconds) * SECOND_NS + int((match[2] or "").ljust(9, "0"))
