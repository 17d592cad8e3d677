"""Age of the newest value of a column, against the time of a run: `{"freshness": "24 hours"}`."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

WITHIN, AGAINST = "within", "against"
NOW = "now"
"""Value of `against` for the moment of the check, also where the run has a time."""

_SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(week|day|hour|minute|second)s?\b[\s,]*")
_SHOWN_IN_DAYS = 2 * _SECONDS["day"]
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Moment(NamedTuple):
    """Time against which the age of values is measured."""

    time: datetime.datetime
    """With a time zone."""

    source: str
    """`data_interval_end` of Airflow's run, `now`, or `given` in the check's dictionary."""


class Age(NamedTuple):
    """Age of the newest value, in the form of an assertion's fields."""

    success: bool
    expected: str
    actual: str
    params: dict[str, Any]


def now() -> Moment:
    """Return the present moment."""
    return Moment(datetime.datetime.now(datetime.timezone.utc), NOW)


def moment_of_run(data_interval_end: datetime.datetime | None) -> Moment:
    """Return the end of a run's data interval; now if it has none, as a run by hand or by an asset."""
    return now() if data_interval_end is None else Moment(data_interval_end, "data_interval_end")


def validate_freshness(check: str, given: Mapping[str, Any]) -> None:
    """Raise ValueError if the duration or the time of a dictionary is not one. Templates are for later."""
    if WITHIN in given and not _is_template(given[WITHIN]):
        _duration(check, given[WITHIN])
    if AGAINST in given and given[AGAINST] != NOW and not _is_template(given[AGAINST]):
        _time(check, given[AGAINST])


def age(check: str, given: Mapping[str, Any], newest_us: int | None, moment: Moment) -> Age:
    """Return the age of a newest value, in microseconds since 1970 in UTC; None: the column is empty."""
    limit = _duration(check, given[WITHIN])
    if AGAINST in given:
        against = given[AGAINST]
        moment = now() if against == NOW else Moment(_time(check, against), "given")
    at = _in_utc(moment.time)
    params = {WITHIN: _words(_seconds_up(limit)), AGAINST: moment.source, "at": at.isoformat()}
    expected = f"<={params[WITHIN]}"
    if newest_us is None:
        return Age(False, expected, "no value", params)
    difference_us = (at - _EPOCH) // datetime.timedelta(microseconds=1) - newest_us
    success = difference_us <= limit // datetime.timedelta(microseconds=1)
    try:
        params["newest"] = (_EPOCH + datetime.timedelta(microseconds=newest_us)).isoformat()
    except OverflowError:  # Spark has years that Python does not have.
        params["newest"] = "out of range"
    text = _words(-(-abs(difference_us) // 1_000_000))
    return Age(success, expected, text if difference_us >= 0 else f"-{text}", params)


def _duration(check: str, given: Any) -> datetime.timedelta:
    duration = given if isinstance(given, datetime.timedelta) else None
    if isinstance(given, str) and given.strip() and not _PART.sub("", given.strip().lower()):
        parts = _PART.findall(given.strip().lower())
        try:
            duration = datetime.timedelta(seconds=sum(float(n) * _SECONDS[unit] for n, unit in parts))
        except OverflowError:
            duration = None
    if duration is None or duration <= datetime.timedelta():
        raise ValueError(
            f"{check}: {given!r} is not a duration; write a number and a unit, '24 hours' or "
            "'1 day 12 hours' for example. The units are: weeks, days, hours, minutes, seconds."
        )
    return duration


def _time(check: str, given: Any) -> datetime.datetime:
    time = given if isinstance(given, datetime.datetime) else None
    if isinstance(given, str):
        try:
            # Python 3.10 does not read the letter.
            time = datetime.datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", given.strip()))
        except ValueError:
            time = None
    if time is None or time.tzinfo is None:
        raise ValueError(
            f"{check}: {AGAINST} is {given!r}; it must be 'now' or a time with its zone, "
            "'2026-01-31T12:00:00+00:00' or '{{ data_interval_start }}' for example."
        )
    return time


def _in_utc(time: datetime.datetime) -> datetime.datetime:
    """Return a time in UTC, of Python's own class: Airflow's subclass has differences of another kind."""
    utc = datetime.timezone.utc
    parts = time.astimezone(utc).timetuple()[:6]
    return datetime.datetime(*parts, time.microsecond, tzinfo=utc)


def _is_template(given: Any) -> bool:
    return isinstance(given, str) and "{{" in given


def _seconds_up(duration: datetime.timedelta) -> int:
    return -(-duration // datetime.timedelta(seconds=1))


def _words(seconds: int) -> str:
    """Return a duration in words, without units that are 0.

    >>> _words(93_784), _words(180_000)
    ('26 hours 3 minutes 4 seconds', '2 days 2 hours')
    """
    units = [
        unit for unit in ("day", "hour", "minute", "second") if unit != "day" or seconds >= _SHOWN_IN_DAYS
    ]
    parts = []
    for unit in units:
        count, seconds = divmod(seconds, _SECONDS[unit])
        if count:
            parts.append(f"{count} {unit}{'s' if count > 1 else ''}")
    return " ".join(parts) or "0 seconds"
