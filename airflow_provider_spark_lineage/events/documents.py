"""Splits text into the JSON objects in it, whatever stands between them; opens no file, judges no event.

Several writers may append to one file and any of them may be killed: objects can share a line, spread over
many lines, or end in the middle, with the next writer's object right behind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_BLANK = re.compile(r"[ \t\r\n]*")
_EVENT_START = re.compile(
    r'\{\s*"(?:dataset|eventTime|eventType|inputs|job|outputs|producer|run|schemaURL)"\s*:'
)
"""A brace and one of the properties of the spec's events. Trying every brace of a broken file would take
time in the square of its size, because each JSONDecodeError counts lines from the start of the text."""

_DECODER = json.JSONDecoder()


class Document(NamedTuple):
    """One JSON value and the line it starts on."""

    value: Any
    line: int


class Torn(NamedTuple):
    """Text that is no JSON, from this line up to the next event."""

    line: int
    reason: str


def split(text: str) -> Iterator[Document | Torn]:
    """Every JSON value of the text in order, and every piece between them that is none."""
    position, line, counted = _blank(text, 0), 1, 0
    while position < len(text):
        line, counted = line + text.count("\n", counted, position), position
        try:
            value, end = _DECODER.raw_decode(text, position)
            yield Document(value, line)
        except (ValueError, RecursionError) as error:
            end = _next_event(text, position + 1)
            yield Torn(line, _reason(error, end == len(text)))
        position = _blank(text, end)


def _blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _reason(error: Exception, last: bool) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    ending = "; the file ends in the middle of an event" if last else ""
    return f"not JSON ({message}){ending}"


def _next_event(text: str, position: int) -> int:
    """Where the next whole event starts; the end of the text where there is none.

    A torn object still holds whole small ones (facets), so only what looks like an event counts.
    """
    while match := _EVENT_START.search(text, position):
        try:
            value, position = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.start() + 1
            continue
        if _looks_like_event(value):
            return match.start()
    return len(text)


def _looks_like_event(value: Any) -> bool:
    return isinstance(value, dict) and "eventTime" in value and ("job" in value or "dataset" in value)
