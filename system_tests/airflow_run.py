"""Run an example DAG in real Airflow on real Spark, and collect its events.

Each DAG has a process and an AIRFLOW_HOME of its own, metadata in an SQLite file, and an OpenLineage
transport that writes to a file. The run is `dag.test()`, which differs from a deployment in two points: there
is no START event of the DAG, and all its tasks share one process and so one JVM. With `own_processes`, an API
server and a LocalExecutor give every task a process as in a deployment, at some ten seconds more per task.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, TextIO
from urllib.parse import quote

CHECKOUT = Path(__file__).resolve().parent.parent
DAGS = CHECKOUT / "dags"

NAMESPACE = "nyc"
"""OpenLineage namespace of all jobs of the example DAGs."""

KEPT_VARIABLES = ("HOME", "JAVA_HOME", "LANG", "LC_ALL", "USER")
"""What a DAG's process inherits of this one's environment, besides `PATH`."""


@dataclass(frozen=True)
class TaskProgress:
    """A task instance that has started or finished."""

    task_id: str

    map_index: int
    """-1 for a task that is not mapped."""

    try_number: int

    state: str
    """`running`, `success`, `failed` or `skipped`."""

    seconds: float | None
    """Since it started; none while it runs."""

    @property
    def name(self) -> str:
        """Task id with the map index and the try, where there is more than one."""
        mapped = f"[{self.map_index}]" if self.map_index >= 0 else ""
        again = f" (try {self.try_number})" if self.try_number > 1 else ""
        return f"{self.task_id}{mapped}{again}"


@dataclass(frozen=True)
class DagRun:
    """A DAG run that has ended, well or not."""

    dag_id: str
    state: str

    tasks: Mapping[str, str]
    """Final state by task id, with `[map_index]` where the task is mapped."""

    events: Path
    """What the OpenLineage provider wrote, as JSON Lines."""

    log: Path
    """All that Airflow, Spark and the tasks printed."""

    seconds: float


def variables_of(data: Path) -> dict[str, str]:
    """What stands for the place of the data in expected files: as a path, and as a part of a URI."""
    return {"DATA": str(data), "DATA_URI": quote(str(data))}


class RunError(Exception):
    """The DAG could not be run to its end; the message carries the end of the log."""


def ignore(progress: TaskProgress) -> None:
    """Show nothing."""


def migrate(home: Path) -> Path:
    """Make Airflow's metadata under `home`, if they are not there yet, and return the SQLite file."""
    database, unfinished = home / "airflow.db", home / "unfinished.db"
    if not database.exists():
        home.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        log = home / "migrate.log"
        with log.open("w") as out:
            done = subprocess.run(
                [sys.executable, "-m", "airflow", "db", "migrate"],
                check=False,
                env=environment(home, home)
                | {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{unfinished}"},
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        if done.returncode:
            raise RunError(f"`airflow db migrate` failed:\n{tail(log)}")
        unfinished.rename(database)
    return database


def run_dag(
    dag_file: Path,
    *,
    home: Path,
    data: Path,
    database: Path | None = None,
    settings: Mapping[str, str] | None = None,
    show: Callable[[TaskProgress], None] = ignore,
    own_processes: bool = False,
    timeout_s: float = 600,
) -> DagRun:
    """Run the only DAG of a file.

    `home` becomes its AIRFLOW_HOME, with a copy of `database` (of `migrate`) when one is given. `data` is the
    root of the example data. `settings` are more environment variables, and `show` is told of every task.
    With `own_processes`, each task runs in a worker process as in a deployment.
    """
    home.mkdir(parents=True, exist_ok=True)
    if database is None:
        migrate(home)
    else:
        shutil.copyfile(database, home / "airflow.db")
    events, log = home / f"{dag_file.stem}.events.jsonl", home / f"{dag_file.stem}.log"
    events.unlink(missing_ok=True)

    transport = {"type": "file", "log_file_path": str(events), "append": True}
    variables = {
        **environment(home, data),
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
        "AIRFLOW__OPENLINEAGE__NAMESPACE": NAMESPACE,
        **(settings or {}),
    }
    began = monotonic()
    with contextlib.ExitStack() as stack:
        if own_processes:
            variables |= stack.enter_context(_api_server(variables, home))
        arguments = [str(dag_file), *(["--executor"] if own_processes else [])]
        ended = _follow(_progress_lines(arguments, variables, home, log, timeout_s), show)
    # The JVM is killed before it can tidy up after itself.
    shutil.rmtree(home / "tmp", ignore_errors=True)
    if not ended:
        raise RunError(f"{dag_file.name} did not run to its end:\n{tail(log)}")
    return DagRun(ended["dag_id"], ended["state"], ended["tasks"], events, log, monotonic() - began)


def _follow(lines: Iterator[dict[str, Any]], show: Callable[[TaskProgress], None]) -> dict[str, Any]:
    """Show the tasks that start and finish, and return the last line; empty if the process died before."""
    started: dict[tuple[str, int, int], float] = {}
    ended: dict[str, Any] = {}
    for line in lines:
        if line["happened"] == "ended":
            # Not the end of the process, which has yet to emit the event of the DAG.
            ended = line
            continue
        key = line["task_id"], line["map_index"], line["try_number"]
        if line["happened"] == "started":
            started[key] = monotonic()
            show(TaskProgress(*key, state="running", seconds=None))
        else:
            show(TaskProgress(*key, state=line["state"], seconds=monotonic() - started[key]))
    return ended


def environment(home: Path, data: Path) -> dict[str, str]:
    """Environment variables of a process that runs Airflow.

    Settings of whoever started this one have no effect, and nothing is written outside `home` and `data`.
    """
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return {
        **{name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
        # Spark starts its Python workers as `python3`: they must be of this environment.
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "NYCFLIGHTS_HOME": str(data),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "TMPDIR": str(temporary),
        "SPARK_LOCAL_DIRS": str(temporary),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_TOOL_OPTIONS": f'"-Djava.io.tmpdir={temporary}" -XX:-UsePerfData',
    }


def tail(log: Path, lines: int = 40) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def _progress_lines(
    arguments: list[str], variables: Mapping[str, str], home: Path, log: Path, timeout_s: float
) -> Iterator[dict[str, Any]]:
    reader, writer = os.pipe()
    command = [sys.executable, str(Path(__file__).with_name("dag_process.py")), str(writer), *arguments]
    with os.fdopen(reader) as lines, log.open("w") as out:
        process = subprocess.Popen(
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
        watchdog = threading.Timer(timeout_s, _kill_group, [process])
        watchdog.start()
        try:
            yield from map(json.loads, lines)
            process.wait()
        finally:
            watchdog.cancel()
            _kill_group(process)
            process.wait()


@contextlib.contextmanager
def _api_server(variables: Mapping[str, str], home: Path) -> Iterator[dict[str, str]]:
    """Run the API server that task processes talk to, and yield the settings that lead them there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    more = {
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        # One JVM at a time is enough for a laptop.
        "AIRFLOW__CORE__PARALLELISM": "1",
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-m", "airflow", "api-server", "--apps", "execution", "--workers", "1"]
    process = subprocess.Popen(
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
                raise RunError(f"Airflow's API server did not start:\n{tail(log)}")
            # Nobody reads the rest, and a full pipe would stop the server.
            threading.Thread(target=list, args=[_copied(process, out)], daemon=True).start()
            yield more
    finally:
        _kill_group(process)
        process.wait()


def _copied(process: subprocess.Popen[str], out: TextIO) -> Iterator[str]:
    for line in process.stdout or ():
        out.write(line)
        out.flush()
        yield line


def _kill_group(process: subprocess.Popen[Any]) -> None:
    """End the DAG's process with its JVM and workers, if any of them is left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
