"""Where the records of one try of a task go, and how the worker reads them.

`[spark_lineage] records` is the folder or URI for all tasks; without it, a folder of this machine is used,
which only drivers on this machine reach.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from airflow_provider_spark_lineage.agent.folder import local_path
from airflow_provider_spark_lineage.capture.guard import tell
from airflow_provider_spark_lineage.credentials import without_secrets
from airflow_provider_spark_lineage.submitted.jobs import Job

TIMEOUT_SECONDS = 120
_HADOOP = "spark.hadoop."


class Place:
    """The records' folder of one try."""

    def __init__(self, base: str, task_instance: Any) -> None:
        self.is_shared = bool(urlsplit(base).scheme)
        """Whether drivers on other machines write there: a URI, also `file:///mount` of a shared disk."""

        self._task = f"{base.rstrip('/') or _own_folder()}/{_folder_name(task_instance)}"
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
            path.mkdir(parents=True, exist_ok=True)
            return
        failure = _file_system(job, "-mkdir", "-p", self.uri)
        if failure:
            raise OSError(failure)

    def read_from(self, uri: str, job: Job | None, problems: list[str]) -> Path:
        """Return a local folder with the files that a driver wrote; download them if they are elsewhere.

        The download uses the command and the properties of the job.
        """
        path = local_path(uri)
        if path is not None or job is None:
            return path or Path(uri)
        folder = self.temporary()
        failure = _file_system(job, "-get", f"{uri}/*", str(folder))
        if failure and "No such file" not in failure:
            tell(f"the records could not be read from {uri}: {failure}", problems)
        return folder

    def temporary(self) -> Path:
        """Return a new folder of this machine, which `clean` removes."""
        self._temporary.append(Path(tempfile.mkdtemp(prefix="spark-lineage-")))
        return self._temporary[-1]

    def clean(self, *, keep: bool) -> None:
        """Remove what was downloaded and, unless `keep`, the folders of this task on this machine."""
        for folder in self._temporary:
            shutil.rmtree(folder, ignore_errors=True)
        path = local_path(self._task)
        if not keep and path is not None:
            shutil.rmtree(path, ignore_errors=True)


def _file_system(job: Job, *arguments: str) -> str:
    """Run a command of Hadoop's file systems as the job would; return why it failed, empty if it did not."""
    properties = job.properties
    command = [
        *job.spark_submit,
        "--master",
        "local",
        "--deploy-mode",
        "client",
        "--class",
        "org.apache.hadoop.fs.FsShell",
    ]
    jars = (name for name in properties if name.startswith("spark.jars"))
    command += [part for name in jars for part in ("--conf", f"{name}={properties[name]}")]
    # A file that only this user reads: arguments of a process are in the list of processes.
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as site:
        site.write(_site(properties))
        site.flush()
        command += ["spark-internal", "-conf", site.name, *arguments]
        try:
            done = subprocess.run(  # noqa: S603  the command of the job itself
                command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no answer in {TIMEOUT_SECONDS} seconds"
    lines = without_secrets(done.stderr).strip().splitlines() if done.returncode else []
    return lines[-1] if lines else ""


def _site(properties: Mapping[str, str]) -> str:
    """Return the job's settings of Hadoop as Hadoop's own configuration file."""
    configuration = ElementTree.Element("configuration")
    for name, value in properties.items():
        if name.startswith(_HADOOP):
            entry = ElementTree.SubElement(configuration, "property")
            ElementTree.SubElement(entry, "name").text = name.removeprefix(_HADOOP)
            ElementTree.SubElement(entry, "value").text = value
    return ElementTree.tostring(configuration, encoding="unicode")


def _own_folder() -> Path:
    """Return a folder of this machine that other users cannot read or prepare, the same for all tries."""
    folder = Path(tempfile.gettempdir(), f"spark-lineage-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == 0o700:
        return folder
    return Path(tempfile.mkdtemp(prefix="spark-lineage-"))


def _folder_name(task_instance: Any) -> str:
    """Return a readable name without characters that a file system may not have; different for each task."""
    key = (task_instance.dag_id, task_instance.run_id, task_instance.task_id, task_instance.map_index)
    readable = re.sub(r"[^\w.-]", "_", f"{task_instance.dag_id}.{task_instance.task_id}")
    return f"{readable}/{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}"
