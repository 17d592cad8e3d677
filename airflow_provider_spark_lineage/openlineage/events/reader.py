"""Reads events written by OpenLineage's FileTransport: a file, a folder or the transport's `log_file_path`.

Several writers may append to one file, and any of them may be killed: JSON objects can share a line, span
several lines, or end in the middle, directly followed by the next object. Text that cannot be read becomes a
problem beside the events. Only a path that does not exist is an error.
"""

from __future__ import annotations

import gc
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.addresses import local_path
from airflow_provider_spark_lineage.openlineage.events.model import Event, Events

NO_JSON = "not JSON ("
"""Beginning of the problem of a text that is not JSON, after its place."""

TORN = "; the file ends in the middle of an event"
"""End of that problem, if the text begins like an event."""

COPY_THEM = "copy the events into a folder"
"""Cure for events that are in no folder."""

LIKELY_CAUSES = (
    "OpenLineage is not active: it is disabled, or no transport is configured",
    "the transport writes somewhere else: compare `log_file_path` and `append` with the place read here",
    "the forked child that emits was killed: see `[openlineage] execution_timeout` and the task's log",
)
"""Reasons why a path may have no events."""

MAX_BYTES = 2_000_000_000
"""Limit for the content of a compressed file, so that a small file cannot fill the memory."""

_GZIP = b"\x1f\x8b"
"""First bytes of a file that gzip compressed; its name may be any."""

_BLANK = re.compile(r"[ \t\r\n]*")
_EVENT_START = re.compile(
    r'\{\s*"(?:dataset|eventTime|eventType|inputs|job|outputs|producer|run|schemaURL)"\s*:'
)
"""A brace and one of the properties of the spec's events. Trying every brace of a broken file would take
quadratic time, because each JSONDecodeError counts lines from the start of the text."""

_DECODER = json.JSONDecoder()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Turn Python's garbage collector off for work that creates many objects but no cycles.

    Reading JSON takes half the time without it. Can be used as a decorator.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@collector_paused()
def read_events(path: Path | str) -> Events:
    """Return all events of a file, of every file in a folder, or of the files named `<path>-<time>.json`.

    Raises BadInputError if none of the three exists.
    """
    events: list[Event] = []
    problems: list[str] = []
    for file in files_of(path):
        for item in _read_file(file):
            if isinstance(item, Event):
                events.append(item)
            else:
                problems.append(item)
    return Events(tuple(events), tuple(problems))


def files_of(path: Path | str) -> list[Path]:
    """Return the file, every file in the folder, or the files named `<path>-<time>.json`.

    Raises BadInputError if none of the three exists.
    """
    path = local_path(path, COPY_THEM)
    if path.is_file():
        return [path]
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file() and not _is_hidden(file, path))
    if path.exists():
        raise BadInputError(f"{path}: neither a file nor a folder, so no events can be read from it.")
    stamped = _stamped_files(path)
    if not stamped:
        raise BadInputError(
            f"{path}: no such file or folder, and no file named {path.name}-<time>.json."
            f" Likely causes: {'; '.join(LIKELY_CAUSES)}."
        )
    return stamped


def _stamped_files(path: Path) -> list[Path]:
    """Return the files of FileTransport without `append`: `<log_file_path>-<time>.json` for each event."""
    if not path.parent.is_dir():
        return []
    return sorted(
        file
        for file in path.parent.iterdir()
        if file.name.startswith(f"{path.name}-") and file.suffix == ".json" and file.is_file()
    )


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def _content_of(file: Path) -> bytes:
    """Return a file's content; of a compressed one, not much more than the limit."""
    with file.open("rb") as source:
        if source.peek(len(_GZIP))[: len(_GZIP)] != _GZIP:
            return source.read()
        with gzip.open(source) as compressed:
            return compressed.read(MAX_BYTES + 1)


def _read_file(file: Path) -> Iterator[Event | str]:
    try:
        content = _content_of(file)
    except (OSError, EOFError, zlib.error) as error:
        yield f"{file}: cannot be read ({getattr(error, 'strerror', None) or error})."
        return
    if len(content) > MAX_BYTES and file.stat().st_size <= MAX_BYTES:
        yield f"{file}: it has more than {MAX_BYTES:,} bytes when decompressed; decompress and split it."
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield f"{file}, line {line}: not UTF-8 ({error.reason})."
        text = content.decode("utf-8-sig", errors="replace")
    yield from events_of_text(text, str(file))


def events_of_text(text: str, file: str, first_line: int = 1) -> Iterator[Event | str]:
    """Yield the events of a text that begins at a line of a file, and problems."""
    for piece in _split(text):
        where = f"{file}, line {piece.line + first_line - 1}"
        if piece.problem:
            yield f"{where}: {piece.problem}."
        else:
            yield from events_in(piece.value, where)


def events_in(value: Any, where: str) -> Iterator[Event | str]:
    """Yield one event, or the events of a JSON array, as some consumers save them."""
    for document in value if isinstance(value, list) else [value]:
        problem = "it is not a JSON object"
        if isinstance(document, dict):
            event = Event(document, where)
            problem = event.problem
            if not problem:
                yield event
                continue
        yield f"{where}: not an OpenLineage event, {problem}."


class _Piece(NamedTuple):
    """One JSON value of a text, or text that is not JSON, with the line where it starts."""

    line: int
    value: Any = None
    problem: str = ""


def _split(text: str) -> Iterator[_Piece]:
    """Yield every JSON value of the text, and every text between them that is not JSON, in order."""
    position, line, counted = _skip_blank(text, 0), 1, 0
    while position < len(text):
        line, counted = line + text.count("\n", counted, position), position
        try:
            value, end = _DECODER.raw_decode(text, position)
            yield _Piece(line, value)
        except (ValueError, RecursionError) as error:
            end = _next_event(text, position + 1)
            is_torn = end == len(text) and text[position] in "{["
            yield _Piece(line, problem=_reason(error, is_torn))
        position = _skip_blank(text, end)


def _skip_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _reason(error: Exception, is_torn: bool) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return f"{NO_JSON}{message}){TORN if is_torn else ''}"


def _next_event(text: str, position: int) -> int:
    """Return the start of the next complete event; the end of the text if there is none.

    A truncated event still contains complete small objects (facets), so only objects with the keys of an
    event count.
    """
    while match := _EVENT_START.search(text, position):
        try:
            value, position = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.start() + 1
            continue
        if isinstance(value, dict) and "eventTime" in value and ("job" in value or "dataset" in value):
            return match.start()
    return len(text)
