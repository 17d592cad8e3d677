"""The processes of a run: the one that runs the DAG, and the API server that task processes talk to."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from airflow_provider_spark_lineage.errors import SparkLineageError


class RunError(SparkLineageError):
    """The DAG could not be run to its end; the message carries the end of the log and says where it is."""


def tail(log: Path, lines: int = 40) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


class Program:
    """A program that ends, with all that it started, at the end of the block or of this process.

    However this process ends: `lifeline` sees to that. Standard error goes where standard output goes.
    """

    def __init__(
        self,
        command: Sequence[str],
        variables: Mapping[str, str],
        home: Path,
        output: TextIO | int,
        pass_fds: Sequence[int] = (),
    ) -> None:
        theirs, ours = os.pipe()
        self._lifeline = os.fdopen(ours, "wb", buffering=0)
        try:
            self.process = subprocess.Popen(  # noqa: S603
                [sys.executable, str(Path(__file__).with_name("lifeline.py")), str(theirs), *command],
                env=dict(variables),
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                pass_fds=[theirs, *pass_fds],
                # A terminal's Ctrl-C is for this process alone, which then ends the program.
                start_new_session=True,
            )
        finally:
            os.close(theirs)

    def end(self) -> None:
        """End it now, if it has not ended."""
        self._lifeline.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def progress_lines(
    arguments: Sequence[str], variables: Mapping[str, str], home: Path, log: Path, timeout_s: float
) -> Generator[dict[str, Any]]:
    """Start `dag_process` with these arguments, and yield what it says until it ends.

    Raises RunError where it does not end in time.
    """
    reader, writer = os.pipe()
    late = threading.Event()
    with os.fdopen(reader) as lines, log.open("w") as out:
        command = [sys.executable, str(Path(__file__).with_name("dag_process.py")), str(writer), *arguments]
        try:
            program = Program(command, variables, home, out, pass_fds=[writer])
        finally:
            os.close(writer)

        def end() -> None:
            late.set()
            program.end()

        watchdog = threading.Timer(timeout_s, end)
        with program:
            watchdog.start()
            try:
                yield from map(json.loads, lines)
                program.process.wait()
            finally:
                watchdog.cancel()
    if late.is_set():
        raise RunError(f"The DAG did not end within {timeout_s:g} s; the end of {log}:\n{tail(log)}")


@contextlib.contextmanager
def api_server(variables: Mapping[str, str], home: Path, timeout_s: float) -> Iterator[dict[str, str]]:
    """Run the API server that task processes talk to, and yield the settings that lead them there.

    Raises RunError where it does not start in time.
    """
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
    log = home / "api-server.log"
    program = Program(
        [*command, "--host", "127.0.0.1", "--port", port], {**variables, **more}, home, subprocess.PIPE
    )
    with program, log.open("w") as out:
        watchdog = threading.Timer(timeout_s, program.end)
        watchdog.start()
        started = any("startup complete" in line for line in _copied(program.process, out))
        watchdog.cancel()
        if not started:
            raise RunError(
                f"Airflow's API server did not start within {timeout_s:g} s; the end of {log}:\n{tail(log)}"
            )
        # Nobody reads the rest, and a full pipe would stop the server.
        reader = threading.Thread(target=list, args=[_copied(program.process, out)], daemon=True)
        reader.start()
        try:
            yield more
        finally:
            program.end()
            reader.join()


def _copied(process: subprocess.Popen[str], out: TextIO) -> Iterator[str]:
    for line in process.stdout or ():
        out.write(line)
        out.flush()
        yield line
