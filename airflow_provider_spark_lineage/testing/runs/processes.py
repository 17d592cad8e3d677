"""The processes of a run: the one that runs the DAG, and the API server that task processes talk to."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from airflow_provider_spark_lineage.errors import SparkLineageError


class RunError(SparkLineageError):
    """The DAG could not be run to its end; the message carries the end of the log and says where it is."""


def tail(log: Path, lines: int = 40) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def progress_lines(
    arguments: Sequence[str], variables: Mapping[str, str], home: Path, log: Path, timeout_s: float
) -> Iterator[dict[str, Any]]:
    """Start `dag_process` with these arguments, and yield what it says until it ends.

    Raises RunError where it does not end in time.
    """
    reader, writer = os.pipe()
    command = [sys.executable, str(Path(__file__).with_name("dag_process.py")), str(writer), *arguments]
    late = threading.Event()
    with os.fdopen(reader) as lines, log.open("w") as out:
        process = subprocess.Popen(  # noqa: S603
            command,
            env=dict(variables),
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            pass_fds=[writer],
            start_new_session=True,
        )
        os.close(writer)

        def end() -> None:
            late.set()
            kill_group(process)

        watchdog = threading.Timer(timeout_s, end)
        watchdog.start()
        try:
            yield from map(json.loads, lines)
            process.wait()
        finally:
            watchdog.cancel()
            kill_group(process)
            process.wait()
    if late.is_set():
        raise RunError(f"The DAG did not end within {timeout_s:g} s; the end of {log}:\n{tail(log)}")


@contextlib.contextmanager
def api_server(variables: Mapping[str, str], home: Path) -> Iterator[dict[str, str]]:
    """Run the API server that task processes talk to, and yield the settings that lead them there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    more = {
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        # One task at a time is enough for a laptop; the caller's settings may say more.
        "AIRFLOW__CORE__PARALLELISM": variables.get("AIRFLOW__CORE__PARALLELISM", "1"),
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-m", "airflow", "api-server", "--apps", "execution", "--workers", "1"]
    process = subprocess.Popen(  # noqa: S603
        [*command, "--host", "127.0.0.1", "--port", port],
        env={**variables, **more},
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    log = home / "api-server.log"
    try:
        with log.open("w") as out:
            if not any("startup complete" in line for line in _copied(process, out)):
                raise RunError(f"Airflow's API server did not start; the end of {log}:\n{tail(log)}")
            # Nobody reads the rest, and a full pipe would stop the server.
            reader = threading.Thread(target=list, args=[_copied(process, out)], daemon=True)
            reader.start()
            try:
                yield more
            finally:
                kill_group(process)
                reader.join()
    finally:
        kill_group(process)
        process.wait()


def _copied(process: subprocess.Popen[str], out: TextIO) -> Iterator[str]:
    for line in process.stdout or ():
        out.write(line)
        out.flush()
        yield line


def kill_group(process: subprocess.Popen[Any]) -> None:
    """End a process with all that it started, if any of them is left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
