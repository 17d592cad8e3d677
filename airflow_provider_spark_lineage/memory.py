"""Records of a run in memory of this process, which leave nothing behind however the process ends."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import zlib
from collections.abc import Iterator
from typing import IO

from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.record import Record

SPILL_BYTES = 32_000_000
"""What is kept in memory of compressed records; what comes later goes to a file without a name."""


class Memory:
    """Keeps records in the order in which they come."""

    def __init__(self) -> None:
        self._entries: list[bytes | tuple[int, int]] = []
        """A compressed record, or its place and length in the file."""

        self._size = 0
        self._file: IO[bytes] | None = None
        self._end = 0
        self._lock = threading.Lock()

    def write(self, record: Record) -> None:
        """Keep one more record."""
        content = zlib.compress(json.dumps(record.to_json(), separators=(",", ":")).encode("ascii"), 1)
        with self._lock:
            is_small = self._size + len(content) <= SPILL_BYTES
            entry = None if is_small else self._spilled(content)
            self._entries.append(entry or content)
            self._size += 0 if entry else len(content)

    def _spilled(self, content: bytes) -> tuple[int, int] | None:
        """Return where the file has a record; None where no file can be written."""
        with harmless("records stay in memory, because no temporary file could be written"):
            if self._file is None:
                # It has no name from the beginning: the system removes it with the process.
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  kept as long as the records
            # At a place, not at the file's own position: a forked child shares that.
            if os.pwrite(self._file.fileno(), content, self._end) == len(content):
                self._end += len(content)
                return self._end - len(content), len(content)
        return None

    def read(self) -> Iterator[Record]:
        """Yield the records that there are by now."""
        with self._lock:
            entries, file = list(self._entries), self._file
        for entry in entries:
            content = entry
            if not isinstance(content, bytes):
                if file is None or file.closed:
                    return
                place, length = content
                content = os.pread(file.fileno(), length, place)
            yield Record.from_json(json.loads(zlib.decompress(content)))

    def clear(self) -> None:
        """Let go of all records."""
        with self._lock:
            self._entries, self._size, self._end = [], 0, 0
            if self._file is not None:
                self._file.close()
            self._file = None
