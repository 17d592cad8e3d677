"""Folder of the agent's files: local, or a URI of any Hadoop file system of the driver.

A file is written under another name and then renamed, so it is complete or absent. In a local folder, if
that fails, an existing file is overwritten.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

from airflow_provider_spark_lineage.capture.application import jvm_lock
from airflow_provider_spark_lineage.records.record import write_file


class Folder(Protocol):
    """Writes files by name."""

    def write(self, name: str, content: bytes) -> None:
        """Write or replace one file; errors of the file system are raised."""


def folder_of(place: str, context: Any) -> Folder:
    """Return the folder at a local path or URI; the first write creates it."""
    path = local_path(place)
    return _LocalFolder(path) if path is not None else _HadoopFolder(place, context)


def local_path(place: str) -> Path | None:
    """Return the path of a local folder; None for a URI of another file system."""
    parts = urlsplit(place)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if parts.scheme else Path(place)


class _LocalFolder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, name: str, content: bytes) -> None:
        os.makedirs(self._path, exist_ok=True)
        path = self._path / name
        try:
            write_file(path, content)
        except OSError:
            # A full disk has room only in place of an existing file: so the note can still report losses.
            if not path.is_file():
                raise
            path.write_bytes(content)


class _HadoopFolder:
    """Writes with the job's own credentials and settings."""

    def __init__(self, uri: str, context: Any) -> None:
        self._uri = uri.rstrip("/")
        self._context = context

    def write(self, name: str, content: bytes) -> None:
        # A fork of the program must not interrupt a call of py4j.
        with jvm_lock:
            path_class = self._context._jvm.org.apache.hadoop.fs.Path
            target, temporary = path_class(f"{self._uri}/{name}"), path_class(f"{self._uri}/.{name}.part")
            system = target.getFileSystem(self._context._jsc.hadoopConfiguration())
            stream = system.create(temporary, True)
            try:
                stream.write(bytearray(content))
            finally:
                stream.close()
            system.delete(target, False)
            if not system.rename(temporary, target):
                raise OSError(f"{target.toString()} could not be renamed from its temporary name")
