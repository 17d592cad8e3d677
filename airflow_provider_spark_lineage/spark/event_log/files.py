"""Finds the files of a Spark event log: one file, or the numbered files of a rolling log in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from airflow_provider_spark_lineage.spark.event_log.codecs import CODECS, NOT_READ, TornError, opened
from airflow_provider_spark_lineage.spark.records.record import SUFFIX, RecordError

_ROLLING = "eventlog_v2_"
_EVENTS = re.compile(r"events_(\d+)_")
_COMPACT = ".compact"
_UNFINISHED = ".inprogress"
"""Suffix of files of a running application; Spark renames them when the application ends."""

FIRST = b'{"Event":"SparkListenerLogStart"'
"""Beginning of a whole log."""

_EVENT = re.compile(rb'^\{"Event":"(?:SparkListener|org\.apache\.spark\.)', re.MULTILINE)
_BEGINNING = 1 << 16
"""An event must begin within this number of bytes from the start."""


@dataclass(frozen=True)
class Log:
    """The log of one application."""

    place: Path
    files: tuple[Path, ...]
    """In order; the last one may still be written."""

    problems: tuple[str, ...] = ()
    """Missing parts by the names of the files, one sentence each."""


def is_event_log(place: Path) -> bool:
    """Return whether there is an event log at a place: a file, a rolling folder, or a folder of these."""
    return any(True for _ in _logs(place))


def logs(place: Path) -> list[Log]:
    """Return the logs at a place, by name; raise `RecordError` if there are none."""
    if not place.exists():
        raise RecordError(f"{place} does not exist")
    all_logs = list(_logs(place))
    if all_logs:
        return all_logs
    if place.is_file() and not place.stat().st_size:
        raise RecordError(f"{place} is empty: Spark has written no event")
    raise RecordError(f"{place} has no Spark event log")


def _logs(place: Path) -> Iterator[Log]:
    if log := _log_at(place):
        yield log
    elif place.is_dir():
        for path in sorted(place.iterdir()):
            if (path.is_file() or path.name.startswith(_ROLLING)) and (log := _log_at(path)):
                yield log


def _log_at(path: Path) -> Log | None:
    """Return the log in a file or in a folder of a rolling log."""
    if path.is_dir():
        return _rolling(path)
    if not path.is_file() or not _is_log(path):
        return None
    return Log(path, (path,), _unfinished(path.name) if path.name.endswith(_UNFINISHED) else ())


def _unfinished(name: str) -> tuple[str, ...]:
    return (f"{name} had not ended: its application runs, or was killed; later events are missing",)


def _rolling(folder: Path) -> Log | None:
    """Return a rolling log; files that Spark compacted are replaced by one file."""
    numbered = sorted(
        (int(match[1]), path.name.endswith(_COMPACT), path)
        for path in folder.iterdir()
        if (match := _EVENTS.match(path.name))
    )
    first = max((number for number, is_compact, _ in numbered if is_compact), default=0)
    files = {
        number: path
        for number, is_compact, path in numbered
        if number > first or (is_compact and number == first)
    }
    if not files:
        return None
    problems = [
        f"{folder.name} has no file events_{number}: its events are missing"
        for number in range(first or 1, max(files))
        if number not in files
    ]
    if first:
        problems.append(
            f"{folder.name} was compacted: Spark removed the executions that had ended before;"
            " spark.history.fs.eventLog.rolling.maxFilesToRetain is the number of files left complete"
        )
    if any(path.name.endswith(_UNFINISHED) for path in folder.glob("appstatus_*")):
        problems += _unfinished(folder.name)
    return Log(folder, tuple(files.values()), tuple(problems))


def _is_log(path: Path) -> bool:
    """Return whether a file begins like Spark's logs; a compressed file is recognised by its name only.

    The first line may be incomplete.
    """
    if path.name.startswith(".") or path.name.endswith(SUFFIX):
        return False
    if codec_of(path):
        return True
    try:
        with path.open("rb") as source:
            beginning = source.read(_BEGINNING)
            return bool(beginning) and (FIRST.startswith(beginning) or bool(_EVENT.search(beginning)))
    except OSError:
        return False


def codec_of(path: Path) -> str:
    """Return the short name of a file's codec; empty for a plain file."""
    name = path.name.removesuffix(_COMPACT).removesuffix(_UNFINISHED)
    suffix = name.rpartition(".")[2]
    return suffix if suffix in CODECS or suffix in NOT_READ else ""


def lines_of(log: Log, limit: int, problems: list[str]) -> Iterator[bytes]:
    """Yield the lines of a log, each cut at a limit of bytes; add an incomplete end to `problems`."""
    line = b""
    for path in log.files:
        with opened(path, codec_of(path)) as source:
            try:
                while line := source.readline(limit):
                    if line.endswith((b"\n", b"}")) or len(line) == limit:
                        yield line
                    else:
                        problems.append(
                            f"{path.name} ends in the middle of an event: later events are missing"
                        )
            except TornError as error:
                problems.append(f"{path.name} ends in the middle ({error}): later events are missing")
            except OSError as error:
                problems.append(f"{path.name} could not be read to its end: {error.strerror or error}")
