"""A real PostgreSQL, from the binaries that the zonky project puts into jars."""

from __future__ import annotations

import contextlib
import io
import os
import platform
import shutil
import signal
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from servers.jars import jar
from servers.process import free_port, running

_BINARIES = "io.zonky.test.postgres:embedded-postgres-binaries-{}:18.6.0"
_MACHINES = {"x86_64": "linux-amd64", "aarch64": "linux-arm64v8"}
_NOBODY = 65534


def fetch() -> Path | None:
    """Return the jar with the binaries for this machine; None if no jar has them."""
    machine = _MACHINES.get(platform.machine()) if platform.system() == "Linux" else None
    return jar(_BINARIES.format(machine)) if machine else None


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Yield the JDBC URL of an empty database, without credentials: who connects to it is trusted."""
    packed = fetch()
    if packed is None:
        pytest.skip("PostgreSQL has no binaries for this machine")
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    try:
        with zipfile.ZipFile(packed) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".txz"))
            with tarfile.open(fileobj=io.BytesIO(archive.read(name))) as files:
                # Python before 3.11.4 has no filters.
                safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
                files.extractall(folder, **safely)  # noqa: S202
        data = folder / "data"
        data.mkdir()
        owner: dict[str, object] = {"cwd": "/"}
        # PostgreSQL refuses to run as root, and only root can look into root's folders.
        if os.getuid() == 0:
            owner |= {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
            folder.chmod(0o755)
            os.chown(data, _NOBODY, _NOBODY)
        options = ["--auth=trust", "--username=tests", "--encoding=UTF8", "--no-locale", "--no-sync"]
        initdb = [str(folder / "bin" / "initdb"), f"--pgdata={data}", *options]
        done = subprocess.run(initdb, capture_output=True, text=True, check=False, **owner)  # type: ignore[call-overload]
        assert not done.returncode, done.stderr
        port = free_port()
        start = ["-D", str(data), "-h", "127.0.0.1", "-p", str(port), "-k", "", "-F"]
        server = [str(folder / "bin" / "postgres"), *start]
        # SIGINT: clients that are still there are sent away.
        with running(server, "ready to accept connections", signal.SIGINT, env={"LC_ALL": "C"}, **owner):
            yield f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=tests"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
