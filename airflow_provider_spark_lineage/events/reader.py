"""Reads what OpenLineage's FileTransport writes, from a file, a folder or the transport's `log_file_path`.

Whatever cannot be read becomes a problem beside the events that can; only a path that does not exist is
an error, because then nothing was ever looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events.collector import paused
from airflow_provider_spark_lineage.events.documents import Torn, split
from airflow_provider_spark_lineage.events.model import Event, Events

LIKELY_CAUSES = (
    "OpenLineage is not active: it is disabled, or no transport is configured",
    "the transport writes somewhere else: compare `log_file_path` and `append` with the place read here",
    "the forked child that emits was killed: see `[openlineage] execution_timeout` and the task's log",
)
"""Why there may be no events where somebody looks for them."""


@paused()
def read_events(path: Path | str) -> Events:
    """All events of a file, of every file in a folder, or of the files named `<path>-<time>.json`.

    Raises BadInputError where none of the three exists.
    """
    events: list[Event] = []
    problems: list[str] = []
    for file in _files(Path(path)):
        for found in _read_file(file):
            if isinstance(found, Event):
                events.append(found)
            else:
                problems.append(found)
    return Events(tuple(events), tuple(problems))


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file() and not _hidden(file, path))
    stamped = _stamped(path)
    if path.exists():
        raise BadInputError(f"{path}: neither a file nor a folder, so no events can be read from it.")
    if not stamped:
        sentence = f"{path}: no such file or folder, and no file named {path.name}-<time>.json."
        raise BadInputError(f"{sentence} Likely causes: {'; '.join(LIKELY_CAUSES)}.")
    return stamped


def _stamped(path: Path) -> list[Path]:
    """With `append` off, FileTransport adds `-<time>.json` to its `log_file_path`, once per event."""
    if not path.parent.is_dir():
        return []
    return sorted(
        file
        for file in path.parent.iterdir()
        if file.name.startswith(f"{path.name}-") and file.suffix == ".json" and file.is_file()
    )


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def _read_file(file: Path) -> Iterator[Event | str]:
    try:
        content = file.read_bytes()
    except OSError as error:
        yield f"{file}: cannot be read ({error.strerror or error})."
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield f"{file}, line {line}: not UTF-8 ({error.reason})."
        text = content.decode("utf-8-sig", errors="replace")
    for piece in split(text):
        where = f"{file}, line {piece.line}"
        if isinstance(piece, Torn):
            yield f"{where}: {piece.reason}."
        else:
            yield from _events(piece.value, where)


def _events(value: Any, where: str) -> Iterator[Event | str]:
    """One event, or the events of a JSON array, which is how some consumers save them."""
    for document in value if isinstance(value, list) else [value]:
        problem = "it is not a JSON object"
        if isinstance(document, dict):
            event = Event(document, where)
            problem = event.problem
            if not problem:
                yield event
                continue
        yield f"{where}: not an OpenLineage event, {problem}."
