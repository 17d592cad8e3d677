"""The files of a warehouse: which of them are current, and who is writing.

One small file names the files of every table. A load writes other files, and then replaces that file at once:
a reader sees the tables before the load, or those after it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NoReturn

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse.partials import PARTIALS
from airflow_provider_spark_lineage.openlineage.warehouse.storage import (
    Folder,
    ObjectFolder,
    cause_of,
    delete_below,
    folder_of,
    folders_in,
    missing_in,
    write_whole,
)
from airflow_provider_spark_lineage.openlineage.warehouse.tables import FORMAT, IMPACT_TABLES, TABLES

CURRENT = "current.json"
"""File that names the files of every table."""

_LOCK = "loading.json"

GRAPH = "graph"
"""Name of the folder with the arrays of the graph, beside the tables."""

STORED = (*TABLES, *IMPACT_TABLES, GRAPH, PARTIALS)
"""Names of all that has files."""

_LOAD = re.compile(r"\d{8}T\d{6}-")
"""Beginning of the name of a load's folder."""

EACH_LOAD = ""
"""Key of the folders of a table without dates."""

Parts = dict[str, list[str]]
"""Date -> folders or files of that date, relative to the warehouse."""

PARQUET, DELTA, ICEBERG = FORMATS = ("parquet", "delta", "iceberg")
"""Formats of tables."""

_OWN: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("data", "rejected"), _LOAD.match),
    **dict.fromkeys((DELTA, ICEBERG), TABLES.__contains__),
}
"""Folder of a warehouse -> test for the names of the folders in it that loads write."""


@dataclass
class StoredTables:
    """The tables of a warehouse after a load."""

    path: Folder
    load_id: str = ""
    tables: dict[str, Parts] = field(default_factory=lambda: {name: {} for name in STORED})
    sources: dict[str, list[int]] = field(default_factory=dict)
    """File of events -> its size and the time of its last change, when it was loaded."""
    stored_as: str = PARQUET
    """Format of the tables."""
    versions: dict[str, int | None] = field(default_factory=dict)
    """Table of Delta or Iceberg -> its version or snapshot; None before the first."""
    checkpoints: dict[str, str] = field(default_factory=dict)
    """Topic -> folder with the offsets that were loaded, relative to the warehouse."""
    kept_from: dict[str, str] = field(default_factory=dict)
    """`events` or `runs` -> the first date that retention has left whole."""
    text: str = field(default="", compare=False, repr=False)
    """The text of `current.json` that these tables were read from."""

    def folders(self, table: str, dates: Iterable[str] | None = None) -> list[str]:
        """Return the folders (or files, of Delta and Iceberg) of a table, of all dates or of some."""
        parts = self.tables[table]
        wanted = parts if dates is None else [date for date in dates if date in parts]
        return [str(self.path / folder) for date in wanted for folder in parts[date]]


def read_tables(path: Folder | str) -> StoredTables:
    """Return the current tables of a warehouse; empty ones if the folder has no warehouse yet."""
    path = folder_of(path)
    file = path / CURRENT
    try:
        text = file.read_text(encoding="utf-8")
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise BadInputError(
                f"{path}: the warehouse has format {document['format']}, and this release reads {FORMAT}:"
                " use the release that wrote it, or load the events into another folder."
            )
        tables = {name: _parts(document["tables"].get(name, {})) for name in STORED}
        return StoredTables(
            path,
            document["load_id"],
            tables,
            dict(document["sources"]),
            document.get("stored_as", PARQUET),
            dict(document.get("versions", {})),
            {key: _text(value) for key, value in document.get("checkpoints", {}).items()},
            {key: _text(value) for key, value in document.get("kept_from", {}).items()},
            text=text,
        )
    except (FileNotFoundError, NotADirectoryError):
        return _new(path)
    except OSError as error:
        raise BadInputError(f"{file} cannot be read ({cause_of(error)}).") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInputError(
            f"{file} was not written by a load: give another folder, or move {path} away and load the events"
            " again."
        ) from None


def _parts(value: Any) -> Parts:
    """Return the folders of a table; raise TypeError if the value is of another shape."""
    parts = {date: list(folders) for date, folders in value.items() if isinstance(folders, list)}
    if len(parts) < len(value) or not all(isinstance(each, str) for some in parts.values() for each in some):
        raise TypeError
    return parts


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def missing_folders(stored: StoredTables) -> list[str]:
    """Return the folders and files that a warehouse names and that somebody has deleted."""
    named = [folder for parts in stored.tables.values() for some in parts.values() for folder in some]
    named += stored.checkpoints.values()
    return [str(stored.path / each) for each in missing_in(stored.path, named)]


def whole_tables(path: Folder | str) -> StoredTables:
    """Return the current tables of a warehouse; raise BadInputError if files of them are gone."""
    stored = read_tables(path)
    missing = missing_folders(stored)
    if missing:
        raise BadInputError(
            f"{missing[0]} is gone, and {stored.path} needs it: delete the folder {stored.path}, and load the"
            " events again."
        )
    return stored


def _new(path: Folder) -> StoredTables:
    if isinstance(path, Path) and path.exists() and not path.is_dir():
        raise BadInputError(f"{path} is a file: give a folder for the warehouse.")
    _refuse_others(path)
    return StoredTables(path)


def _refuse_others(path: Folder) -> None:
    """Raise BadInputError if a folder has files and no load has ever written to it."""
    if isinstance(path, ObjectFolder):
        _refuse_other_objects(path)
        return
    if path.is_dir() and any(path.iterdir()) and not any((path / name).exists() for name in (_LOCK, CURRENT)):
        raise BadInputError(f"{path} has other files and no warehouse: give another folder.")


def _refuse_other_objects(path: ObjectFolder) -> None:
    names = {name for name in path.below(recursive=False) if not name.startswith(f"{CURRENT}.")}
    # The lock is deleted after a load, so files of a first load that died are known by their names.
    others = not names <= _OWN.keys() or not all(
        _OWN[each](name) for each in names for name in (path / each).below(recursive=False)
    )
    if others and not names & {_LOCK, CURRENT}:
        raise BadInputError(f"{path} has other files and no warehouse: give another folder.")


def as_read(path: Folder | str) -> str:
    r"""Return a path as Spark's readers take it: characters of patterns would choose several files.

    >>> print(as_read("/data/[1]"))
    /data/\[1\]
    """
    return "".join(f"\\{letter}" if letter in "*?[]{}\\" else letter for letter in str(path))


def publish(snapshot: StoredTables) -> None:
    """Make a snapshot the current one; raise BadInputError if another process did so in the meantime."""
    document = {
        "format": FORMAT,
        "load_id": snapshot.load_id,
        "tables": snapshot.tables,
        "sources": snapshot.sources,
        "stored_as": snapshot.stored_as,
        "versions": snapshot.versions,
        "checkpoints": snapshot.checkpoints,
        "kept_from": snapshot.kept_from,
    }
    if isinstance(snapshot.path, ObjectFolder):
        _refuse_lost(snapshot.path, snapshot.text)
    write_whole(snapshot.path / CURRENT, json.dumps(document, indent=1), snapshot.load_id)


def remove_unused(*snapshots: StoredTables) -> None:
    """Delete the files that none of some snapshots of a warehouse names: those of loads that died, too.

    Files of Delta and Iceberg are deleted by their own commands only.
    """
    path = snapshots[0].path
    if isinstance(path, ObjectFolder) and not _is_held(path):
        # They may be those of the load that holds it by now.
        return
    used = {
        Path(folder)
        for each in snapshots
        for parts in each.tables.values()
        for some in parts.values()
        for folder in some
    }
    used |= {Path(folder) for each in snapshots for folder in each.checkpoints.values()}
    needed = used | {above for folder in used for above in folder.parents}
    deleted: set[Path] = set()
    for own in map(Path, folders_in(path, "data", 3)):
        if (
            _LOAD.match(own.parts[1])
            and own not in needed
            and own.parent not in used
            and deleted.isdisjoint(own.parents)
        ):
            # What cannot be deleted now is deleted by a later load.
            delete_below(path / str(own))
            deleted.add(own)


@contextlib.contextmanager
def loading(path: Folder) -> Iterator[None]:
    """Hold a warehouse, so that no other load writes; raise BadInputError if one does."""
    with _loading_objects(path) if isinstance(path, ObjectFolder) else _loading_files(path):
        yield


@contextlib.contextmanager
def _loading_files(path: Path) -> Iterator[None]:
    try:
        _refuse_others(path)
        path.mkdir(parents=True, exist_ok=True)
        file = (path / _LOCK).open("a+", encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"{path} cannot be written ({error.strerror}).") from None
    with file:
        try:
            # The system lets go of it when the process ends, however it ends.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInputError(f"{path} is being loaded by {_holder(path)}: wait until it ends.") from None
        file.truncate(0)
        file.write(json.dumps(_this_process()))
        file.flush()
        yield


@contextlib.contextmanager
def _loading_objects(path: ObjectFolder) -> Iterator[None]:
    """Hold a warehouse by an object. A second process may overwrite it, so `publish` looks at it again."""
    _refuse_others(path)
    file = path / _LOCK
    if file.exists():
        _refuse_second(path)
    file.write_text(json.dumps(_this_process() | {"token": _TOKEN}), encoding="utf-8")
    if not _is_held(path):
        # Two began at once, and the other wrote last.
        _refuse_second(path)
    try:
        yield
    finally:
        with contextlib.suppress(BadInputError, FileNotFoundError):
            if _is_held(path):
                file.unlink()


def _refuse_second(path: ObjectFolder) -> NoReturn:
    raise BadInputError(
        f"{path} is being loaded by {_holder(path)}: wait until it ends. If that process has died, delete"
        f" {path / _LOCK}."
    )


def _is_held(path: ObjectFolder) -> bool:
    """Return whether this process holds a warehouse."""
    try:
        holder = json.loads((path / _LOCK).read_text(encoding="utf-8"))
        return (holder["token"], holder["process"]) == (_TOKEN, os.getpid())
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return False


def _refuse_lost(path: ObjectFolder, text: str) -> None:
    """Raise BadInputError if another process holds a warehouse by now, or has changed it."""
    try:
        now = (path / CURRENT).read_text(encoding="utf-8")
    except FileNotFoundError:
        now = ""
    if now != text or not _is_held(path):
        raise BadInputError(
            f"{path} was changed by another process in the meantime ({_LOCK} was deleted, or two began at"
            " once), so nothing was changed here: try again."
        )


def _this_process() -> dict[str, Any]:
    now = datetime.now(timezone.utc)
    return {
        "process": os.getpid(),
        "machine": socket.gethostname(),
        "since": f"{now:%Y-%m-%d %H:%M:%S}",
    }


_TOKEN = secrets.token_hex(8)
"""Tells this process from one with the same number on another machine of the same name."""


def _holder(path: Folder) -> str:
    try:
        holder: Mapping[str, Any] = json.loads((path / _LOCK).read_text(encoding="utf-8"))
        return f"process {holder['process']} on {holder['machine']} since {holder['since']} UTC"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
