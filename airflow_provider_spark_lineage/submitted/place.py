"""Where the records of one try of a task go, and how the worker reads them.

`[spark_lineage] records` is the folder or URI for all tasks; without it, a folder of this machine is used,
which only drivers on this machine reach.
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

from airflow_provider_spark_lineage.agent.folder import local_path
from airflow_provider_spark_lineage.guard import tell
from airflow_provider_spark_lineage.records.credentials import without_secrets
from airflow_provider_spark_lineage.submitted.file_system import run_shell
from airflow_provider_spark_lineage.submitted.jobs import Job

TIMEOUT_SECONDS = 120.0
"""How long a file system may take to answer; most of that may be packages that the job has fetched."""

_TRIES = 100
"""How often a folder is made that other tasks remove at the same time."""

_REMOVED = (FileNotFoundError, FileExistsError)
"""Errors of `mkdir` where a folder is removed meanwhile, and is gone when Python looks whether it is one."""


class Place:
    """The records' folder of one try."""

    def __init__(self, base: str, task_instance: Any) -> None:
        self.is_shared = bool(urlsplit(base).scheme)
        """Whether drivers on other machines write there: a URI, also `file:///mount` of a shared disk."""

        self._own = None if base.rstrip("/") else _own_folder()
        """Our folder of this machine, where `base` is empty."""

        self._task = f"{self._own or base.rstrip('/')}/{_folder_name(task_instance)}"
        self._try = int(task_instance.try_number)
        self._temporary: list[Path] = []

    @property
    def uri(self) -> str:
        """Return the folder's path or URI, as the driver gets it."""
        return f"{self._task}/{self._try}"

    def earlier(self) -> str:
        """Return the folder of the last try before this one that left something; empty if there is none.

        Known for local folders alone.
        """
        path = local_path(self._task)
        if path is None:
            return ""
        tries = (path / str(number) for number in range(self._try - 1, 0, -1))
        return next((str(folder) for folder in tries if folder.is_dir()), "")

    def create(self, job: Job) -> None:
        """Create the folder, with the command and the properties of the job; raise OSError if that fails."""
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
        """Return a local folder with the files that a driver wrote; download them if they are elsewhere.

        None, with a sentence in `problems`, where that failed.
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
        """Return a new folder of this machine, which `clean` removes."""
        self._temporary.append(Path(tempfile.mkdtemp(prefix="spark-lineage-")))
        return self._temporary[-1]

    def _make(self, path: Path) -> None:
        """Make a folder of this machine: tasks that end meanwhile remove empty folders above it."""
        for _ in range(_TRIES):
            with contextlib.suppress(*_REMOVED):
                if self._own is None:
                    path.mkdir(parents=True, exist_ok=True)
                    return
                folder = self._own
                # Each by itself: what `parents` makes, other users can read.
                folder.mkdir(mode=0o700, exist_ok=True)
                for part in path.relative_to(folder).parts:
                    folder /= part
                    folder.mkdir(exist_ok=True)
                return
        raise FileNotFoundError(
            f"{path} could not be made: a file is in its place, or it is removed each time"
        )

    def clean(self, *, keep: bool) -> None:
        """Remove what was downloaded and, unless `keep`, the folders of this task on this machine."""
        for folder in self._temporary:
            shutil.rmtree(folder, ignore_errors=True)
        path = local_path(self._task)
        if not keep and path is not None:
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                # Not empty where other tasks, or other runs of this one, have records there.
                path.parent.rmdir()
                if self._own is not None:
                    self._own.rmdir()


def _own_folder() -> Path:
    """Return a folder of this machine that other users cannot read or prepare, the same for all tries."""
    folder = Path(tempfile.gettempdir(), f"spark-lineage-{os.getuid()}")
    for _ in range(_TRIES):
        # A task that ends meanwhile removes it.
        with contextlib.suppress(*_REMOVED):
            folder.mkdir(mode=0o700, exist_ok=True)
            status = folder.lstat()
            if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == 0o700:
                return folder
            break
    return Path(tempfile.mkdtemp(prefix="spark-lineage-"))


def _folder_name(task_instance: Any) -> str:
    """Return a readable name without characters that a file system may not have; different for each task."""
    key = (task_instance.dag_id, task_instance.run_id, task_instance.task_id, task_instance.map_index)
    readable = re.sub(r"[^\w.-]", "_", f"{task_instance.dag_id}.{task_instance.task_id}")
    return f"{readable}/{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}"
