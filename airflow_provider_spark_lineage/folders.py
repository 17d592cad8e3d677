"""Temporary folders for records: removed when they are done with, and later when their process was killed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import IO

from airflow_provider_spark_lineage.capture.guard import harmless

PREFIX = "spark-lineage-"
_LOCK = ".lock"
_YOUNG_SECONDS = 3600.0
"""A folder without a lock may be one that is just being made."""


class TemporaryFolder:
    """A folder that lives as long as this object, or as long as its process where that is killed."""

    def __init__(self) -> None:
        with harmless("folders of killed tasks could not be removed"):
            remove_left_behind()
        # Spark may still write a record while the folder goes; what is left then is the system's to tidy.
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        self.name = self._folder.name
        self._lock: IO[str] | None = None
        with harmless("a temporary folder could not be marked as used"):
            # The system lets go of the lock when the process ends, however it ends.
            self._lock = _locked(Path(self.name))

    def cleanup(self) -> None:
        """Remove the folder with all that is in it."""
        if self._lock is not None:
            self._lock.close()
        self._folder.cleanup()


def remove_left_behind() -> None:
    """Remove folders of processes that were killed before they could do it themselves."""
    for folder in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        try:
            about = folder.stat()
            if about.st_uid != os.getuid() or time.time() - about.st_mtime < _YOUNG_SECONDS:
                continue
            if (folder / _LOCK).is_file():
                _locked(folder).close()
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            # Somebody uses it, or removes it at this moment.
            continue


def _locked(folder: Path) -> IO[str]:
    """Return the open lock file of a folder; raise `OSError` where somebody else holds it."""
    import fcntl

    lock = open(folder / _LOCK, "a", encoding="utf-8")  # noqa: SIM115  held as long as the folder is used
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise
    return lock
