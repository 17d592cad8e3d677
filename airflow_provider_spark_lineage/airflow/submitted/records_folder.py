"""Folder of the records of one try of a task: its URI for the driver, and access for the worker.

`[spark_lineage] records` is the folder or URI for all tasks; without it, a local folder is used, which only
drivers on this machine can write to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.airflow.submitted.file_system import run_shell
from airflow_provider_spark_lineage.airflow.submitted.jobs import Job
from airflow_provider_spark_lineage.spark import local_path, tell, without_secrets

TIMEOUT_SECONDS = 120.0
"""Limit for one command of a file system; most of it may be needed to download the job's packages."""

_TRIES = 100
"""Number of attempts to create a folder that other tasks may remove at the same time."""

_REMOVED = (FileNotFoundError, FileExistsError)
"""Errors of `mkdir` if another task removes the folder: before the call, or between it and `is_dir`."""


class RecordsFolder:
    """The records' folder of one try."""

    def __init__(self, base: str, task_instance: Any) -> None:
        self.is_shared = bool(urlsplit(base).scheme)
        """Drivers on other machines can write there: it is a URI, also `file:///mount` of a shared disk."""

        self._own = None if base.rstrip("/") else _own_folder()
        """Our local folder if `base` is empty, else None."""

        self._task = f"{self._own or base.rstrip('/')}/{_folder_name(task_instance)}"
        self._try = int(task_instance.try_number)
        self._temporary: list[Path] = []

    @property
    def uri(self) -> str:
        """Path or URI of the folder, as the driver gets it."""
        return f"{self._task}/{self._try}"

    def earlier(self) -> str:
        """Return the folder of the last earlier try that wrote something; empty if none did.

        Only local folders are looked up.
        """
        path = local_path(self._task)
        if path is None:
            return ""
        tries = (path / str(number) for number in range(self._try - 1, 0, -1))
        return next((str(folder) for folder in tries if folder.is_dir()), "")

    def create(self, job: Job) -> None:
        """Create the folder, if remote by the job's command and properties; raise OSError on failure."""
        path = local_path(self.uri)
        if path is not None:
            self._make(path)
            return
        failure = run_shell(job, "-mkdir", "-p", self.uri, timeout_seconds=TIMEOUT_SECONDS)
        if failure:
            raise OSError(failure)

    def read_from(
        self, uri: str, job: Job | None, problems: list[str], timeout_seconds: float
    ) -> Path | None:
        """Return a local folder with the files that a driver wrote, downloaded if they are remote.

        If that fails, return None and add a sentence to `problems`.
        """
        path = local_path(uri)
        if path is not None or job is None:
            return path or Path(uri)
        folder = self.temporary()
        failure = run_shell(job, "-get", f"{uri}/*", str(folder), timeout_seconds=timeout_seconds)
        if failure and "No such file" not in failure:
            tell(f"the records could not be read from {without_secrets(uri)}: {failure}", problems)
            return None
        return folder

    def temporary(self) -> Path:
        """Return a new local folder, which `clean` removes."""
        self._temporary.append(Path(tempfile.mkdtemp(prefix="spark-lineage-")))
        return self._temporary[-1]

    def _make(self, path: Path) -> None:
        """Create a local folder; retry, because tasks that end meanwhile remove empty folders above it."""
        for _ in range(_TRIES):
            with contextlib.suppress(*_REMOVED):
                if self._own is None:
                    path.mkdir(parents=True, exist_ok=True)
                    return
                folder = self._own
                # One by one: with `parents`, `mode` would not apply to the upper folders.
                folder.mkdir(mode=0o700, exist_ok=True)
                for name in path.relative_to(folder).parts:
                    folder /= name
                    folder.mkdir(exist_ok=True)
                return
        raise FileNotFoundError(
            f"{path} could not be created: a file is in its place, or it is removed each time"
        )

    def clean(self, *, keep: bool) -> None:
        """Remove downloads and, unless `keep`, the local folders of this task."""
        for folder in self._temporary:
            shutil.rmtree(folder, ignore_errors=True)
        path = local_path(self._task)
        if not keep and path is not None:
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                # Fails if other tasks, or other runs of this one, have records there.
                path.parent.rmdir()
                if self._own is not None:
                    self._own.rmdir()


def _own_folder() -> Path:
    """Return a local folder for all tries that other users can neither read nor create in advance."""
    folder = Path(tempfile.gettempdir(), f"spark-lineage-{os.getuid()}")
    for _ in range(_TRIES):
        # A task that ends at the same time may remove it.
        with contextlib.suppress(*_REMOVED):
            folder.mkdir(mode=0o700, exist_ok=True)
            status = folder.lstat()
            if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == 0o700:
                return folder
            break
    return Path(tempfile.mkdtemp(prefix="spark-lineage-"))


def _folder_name(task_instance: Any) -> str:
    """Return a readable name, valid in all file systems, and different for each task instance."""
    key = (task_instance.dag_id, task_instance.run_id, task_instance.task_id, task_instance.map_index)
    readable = re.sub(r"[^\w.-]", "_", f"{task_instance.dag_id}.{task_instance.task_id}")
    return f"{readable}/{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}"
