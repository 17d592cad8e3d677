"""Folder of the agent's files: local, or a URI of any Hadoop file system of the driver.

A file is written under another name and then renamed, so it is complete or absent. In a local folder, if
that fails, an existing file is overwritten.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, Callable
from urllib.parse import urlsplit
from urllib.request import url2pathname

from airflow_provider_spark_lineage.spark.capture.application import jvm_lock
from airflow_provider_spark_lineage.spark.records.record import write_file

Write = Callable[[str, bytes], None]
"""Writes or replaces a file by its name; errors of the file system are raised."""


def writer_of(place: str, context: Any) -> Write:
    """Return a function that writes files to a local path or URI; the first write creates the folder."""
    path = local_path(place)
    if path is not None:
        return partial(_write_local, path)
    return partial(_write_by_hadoop, place.rstrip("/"), context)


def local_path(place: str) -> Path | None:
    """Return the path of a local folder; None for a URI of another file system."""
    parts = urlsplit(place)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if parts.scheme else Path(place)


def _write_local(folder: Path, name: str, content: bytes) -> None:
    os.makedirs(folder, exist_ok=True)
    path = folder / name
    try:
        write_file(path, content)
    except OSError:
        # A full disk has room only in place of an existing file: so the note can still report losses.
        if not path.is_file():
            raise
        path.write_bytes(content)


def _write_by_hadoop(uri: str, context: Any, name: str, content: bytes) -> None:
    """Write with the job's own credentials and settings."""
    # A fork of the program must not interrupt a call of py4j.
    with jvm_lock:
        path_class = context._jvm.org.apache.hadoop.fs.Path
        target, temporary = path_class(f"{uri}/{name}"), path_class(f"{uri}/.{name}.part")
        system = target.getFileSystem(context._jsc.hadoopConfiguration())
        stream = system.create(temporary, True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()
        system.delete(target, False)
        if not system.rename(temporary, target):
            raise OSError(f"{target.toString()} could not be renamed from its temporary name")
