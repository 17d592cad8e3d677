"""Storage of a run's records in this process; no file is left, however the process ends."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

from airflow_provider_spark_lineage.spark.guard import harmless
from airflow_provider_spark_lineage.spark.records.record import Record

SPILL_BYTES = 32_000_000
"""Limit of compressed records in memory; further ones go to a temporary file without a name."""


class _Spilled(NamedTuple):
    """A record in a file: its offset and its length in bytes."""

    file: IO[bytes]
    place: int
    length: int


class Memory:
    """Stores records in the order of their arrival."""

    def __init__(self) -> None:
        self._entries: list[bytes | _Spilled] = []
        """Compressed records, or their places in the file."""

        self._size = 0
        self._file: IO[bytes] | None = None
        self._end = 0
        self._lock = threading.Lock()

    def write(self, record: Record) -> None:
        """Store one more record."""
        content = zlib.compress(json.dumps(record.to_json(), separators=(",", ":")).encode("ascii"), 1)
        with self._lock:
            is_small = self._size + len(content) <= SPILL_BYTES
            entry = None if is_small else self._spilled(content)
            self._entries.append(entry or content)
            self._size += 0 if entry else len(content)

    def _spilled(self, content: bytes) -> _Spilled | None:
        """Write a record to the file, and return its place; None if the file cannot be written."""
        with harmless("records stay in memory, because no temporary file could be written"):
            if self._file is None:
                # A file without a name, which the system removes when the process ends.
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  kept as long as the records
            # With an offset, because a forked child shares the file's position.
            if os.pwrite(self._file.fileno(), content, self._end) == len(content):
                self._end += len(content)
                return _Spilled(self._file, self._end - len(content), len(content))
        return None

    def read(self) -> Iterator[Record]:
        """Yield the records that are stored so far."""
        with self._lock:
            entries = list(self._entries)
        for entry in entries:
            content = entry
            if isinstance(content, _Spilled):
                content = os.pread(content.file.fileno(), content.length, content.place)
            yield Record.from_json(json.loads(zlib.decompress(content)))
