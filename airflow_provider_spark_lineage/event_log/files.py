"""Finds the files of a Spark event log: one file, or the numbered files of a rolling log in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from airflow_provider_spark_lineage.event_log.codecs import CODECS, NOT_READ, TornError, opened
from airflow_provider_spark_lineage.record import SUFFIX, RecordError

_ROLLING = "eventlog_v2_"
_EVENTS = re.compile(r"events_(\d+)_")
_COMPACT = ".compact"
_FIRST = b'{"Event":"SparkListenerLogStart"'
_EVENT = re.compile(rb'^\{"Event":"(?:SparkListener|org\.apache\.spark\.)', re.MULTILINE)
_BEGINNING = 1 << 16
"""Bytes in which an event must begin."""


@dataclass(frozen=True)
class Log:
    """The log of one application."""

    place: Path
    files: tuple[Path, ...]
    """In order; the last one may still be written."""


def is_event_log(place: Path) -> bool:
    """Return whether there is an event log at a place: a file, a rolling folder, or a folder of these."""
    return any(True for _ in _logs(place))


def logs(place: Path) -> list[Log]:
    """Return the logs at a place, by name; raise `RecordError` where there is none."""
    if not place.exists():
        raise RecordError(f"{place} does not exist")
    found = list(_logs(place))
    if found:
        return found
    if place.is_file() and not place.stat().st_size:
        raise RecordError(f"{place} is empty: Spark has written no event")
    raise RecordError(f"{place} holds no event log of Spark")


def _logs(place: Path) -> Iterator[Log]:
    if place.is_file():
        if _is_log(place):
            yield Log(place, (place,))
        return
    files = _rolling(place)
    if files:
        yield Log(place, files)
        return
    if place.is_dir():
        for path in sorted(place.iterdir()):
            below = _rolling(path) if path.is_dir() and path.name.startswith(_ROLLING) else ()
            if below:
                yield Log(path, below)
            elif path.is_file() and _is_log(path):
                yield Log(path, (path,))


def _rolling(folder: Path) -> tuple[Path, ...]:
    """Return the files of a rolling log; those that Spark compacted stand in one file."""
    if not folder.is_dir():
        return ()
    numbered = sorted(
        (int(match[1]), path.name.endswith(_COMPACT), path)
        for path in folder.iterdir()
        if (match := _EVENTS.match(path.name))
    )
    first = max((number for number, is_compact, _ in numbered if is_compact), default=0)
    return tuple(
        path for number, is_compact, path in numbered if number > first or (is_compact and number == first)
    )


def _is_log(path: Path) -> bool:
    """Return whether a file begins as Spark's logs do; a compressed one is known by its name alone.

    The first line may be torn.
    """
    if path.name.startswith(".") or path.name.endswith(SUFFIX):
        return False
    if codec_of(path):
        return True
    try:
        with path.open("rb") as source:
            beginning = source.read(_BEGINNING)
            return bool(beginning) and (_FIRST.startswith(beginning) or bool(_EVENT.search(beginning)))
    except OSError:
        return False


def codec_of(path: Path) -> str:
    """Return the short name of a file's codec; empty for a plain file."""
    name = path.name.removesuffix(_COMPACT).removesuffix(".inprogress")
    suffix = name.rpartition(".")[2]
    return suffix if suffix in CODECS or suffix in NOT_READ else ""


def lines_of(log: Log, limit: int, problems: list[str]) -> Iterator[bytes]:
    """Yield the lines of a log, each cut at a limit of bytes; add a torn end to `problems`."""
    line = b""
    for path in log.files:
        with opened(path, codec_of(path)) as source:
            try:
                while line := source.readline(limit):
                    if line.endswith((b"\n", b"}")) or len(line) == limit:
                        yield line
                    else:
                        problems.append(
                            f"{path.name} ends in the middle of an event: what came later is missing"
                        )
            except TornError as error:
                problems.append(f"{path.name} ends in the middle ({error}): what came later is missing")
            except OSError as error:
                problems.append(f"{path.name} could not be read to its end: {error.strerror or error}")
