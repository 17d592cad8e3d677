"""Runs one DAG in real Airflow, in a process and an AIRFLOW_HOME of its own, and keeps its events and logs.

A run is `dag.test()`, which differs from a deployment in two ways: there is no START event of the DAG, and
all tasks share one process. In the mode `"standalone"`, an API server and a LocalExecutor give every task a
process as in a deployment, at some ten seconds more per task. Nothing here imports Airflow: the process that
is started finds it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Literal, NamedTuple, TextIO, get_args

from airflow_provider_spark_lineage.errors import BadInputError, SparkLineageError
from airflow_provider_spark_lineage.events import Events, read_events

Mode = Literal["test", "standalone"]
"""All tasks in one process (`dag.test()`), or each in its own."""

_SETTINGS_OF_USER = ("AIRFLOW", "OPENLINEAGE")
"""Environment variables that start like this are for the user's own Airflow; a run does not see them."""


class RunError(SparkLineageError):
    """The DAG could not be run to its end; the message has the end of the log and says where it is."""


class TaskProgress(NamedTuple):
    """A task instance that has started or finished."""

    task_id: str

    map_index: int
    """-1 for a task that is not mapped."""

    try_number: int

    state: str
    """`running`, `success`, `failed` or `skipped`."""

    seconds: float | None
    """Since it started; None while it runs."""

    @property
    def name(self) -> str:
        """Task id, with the map index of a mapped task and the number of a further try."""
        mapped = f"[{self.map_index}]" if self.map_index >= 0 else ""
        again = f" (try {self.try_number})" if self.try_number > 1 else ""
        return f"{self.task_id}{mapped}{again}"


@dataclass(frozen=True)
class DagRun:
    """A DAG run that has ended, well or not."""

    dag_id: str
    state: str

    tasks: Mapping[str, str]
    """Final state by task id, with `[map_index]` for a mapped task."""

    events: Path
    """What the OpenLineage provider wrote, as JSON Lines; there is no such file if it wrote nothing."""

    log: Path
    """What Airflow and the tasks printed."""

    seconds: float

    def read(self) -> Events:
        """Return the events."""
        return read_events(self.events) if self.events.exists() else Events((), ())


def run_dag(
    dag: Any,
    *,
    conf: Mapping[str, Any] | None = None,
    mode: Mode = "test",
    dag_id: str | None = None,
    home: Path | None = None,
    metadata: Path | None = None,
    settings: Mapping[str, str | None] | None = None,
    show: Callable[[TaskProgress], None] = lambda progress: None,
    timeout_s: float = 600,
) -> DagRun:
    """Run a DAG, given as its file or as the object, in a process of its own.

    `dag_id` selects one if a file has several. `home` becomes the AIRFLOW_HOME (by default a new folder),
    with a copy of `metadata` (of `make_metadata`) if one is given; it keeps the events and the logs.
    `settings` are more environment variables; `AIRFLOW__...` configures Airflow, and None removes a variable.
    `show` is called for every task that starts or finishes. Raises BadInputError if there is no such DAG, and
    RunError if it does not run to its end. A run whose tasks fail does end; see its `state`.
    """
    if mode not in get_args(Mode):
        raise BadInputError(f'run_dag: mode is "test" or "standalone", not {mode!r}.')
    if not isinstance(dag, str | Path):
        if not (hasattr(dag, "fileloc") and hasattr(dag, "dag_id")):
            raise BadInputError(f"run_dag: {dag!r} is not a DAG; pass a DAG or the path of its file.")
        dag, dag_id = dag.fileloc, dag.dag_id
    file = Path(dag).absolute()
    if not file.is_file():
        raise BadInputError(f"{file}: no such DAG file.")
    home = Path(tempfile.mkdtemp(prefix="airflow-")) if home is None else home.absolute()
    home.mkdir(parents=True, exist_ok=True)
    if metadata is None:
        make_metadata(home)
    else:
        shutil.copyfile(metadata, home / "airflow.db")
    events, log = home / f"{file.stem}.events.jsonl", home / f"{file.stem}.log"
    events.unlink(missing_ok=True)

    transport = {"type": "file", "log_file_path": str(events), "append": True}
    variables = environment(
        home,
        {
            # Not its folder: Airflow would import every file there, tests included.
            "AIRFLOW__CORE__DAGS_FOLDER": str(file),
            # The file was named by a person; it need not look like a DAG file.
            "AIRFLOW__CORE__DAG_DISCOVERY_SAFE_MODE": "False",
            # DAG files may import their neighbours.
            "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(file.parent)])),
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
            **(settings or {}),
        },
    )
    options = {"dag_id": dag_id, "conf": dict(conf or {}), "executor": mode == "standalone"}
    began = monotonic()
    with contextlib.ExitStack() as stack:
        if mode == "standalone":
            variables |= stack.enter_context(_api_server(variables, home, timeout_s))
        lines = _progress_lines([str(file), json.dumps(options)], variables, home, log, timeout_s)
        # An exception of `show` keeps its traceback, in which the generator would stay open.
        ended = _follow(stack.enter_context(contextlib.closing(lines)), show)
    # A process that is killed cannot clean up after itself.
    shutil.rmtree(home / "tmp", ignore_errors=True)
    if "not_found" in ended:
        names = ", ".join(f"`{name}`" for name in ended["not_found"]) or "no DAG"
        raise BadInputError(
            f"{file} has {names} at module level; run_dag runs {f'`{dag_id}`' if dag_id else 'the only one'}."
            " Keep the DAG in a variable of the module, or select one with `dag_id=`."
        )
    if not ended:
        raise RunError(f"{file.name} did not run to its end; the end of {log}:\n{tail(log)}")
    return DagRun(ended["dag_id"], ended["state"], ended["tasks"], events, log, monotonic() - began)


def make_metadata(home: Path) -> Path:
    """Create Airflow's metadata under `home`, unless they are there, and return the SQLite file.

    It takes some ten seconds; create it once, and have every run copy it (`run_dag(metadata=...)`).
    """
    database, unfinished = home / "airflow.db", home / "unfinished.db"
    if not database.exists():
        home.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        log = home / "migrate.log"
        variables = environment(home, {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{unfinished}"})
        command = [sys.executable, "-m", "airflow", "db", "migrate"]
        with log.open("w") as out, Program(command, variables, home, out) as program:
            failed = program.process.wait()
        if failed:
            raise RunError(f"`airflow db migrate` failed; the end of {log}:\n{tail(log)}")
        unfinished.rename(database)
    return database


def environment(home: Path, settings: Mapping[str, str | None]) -> dict[str, str]:
    """Return the environment of a process that runs Airflow and writes nothing outside `home`.

    It is that of this process without the user's Airflow; `settings` win, and None removes a variable.
    """
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    variables: dict[str, str | None] = {
        **{name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS_OF_USER)},
        # A task that starts `python3` must get the one of this environment.
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "TMPDIR": str(temporary),
        **settings,
    }
    return {name: value for name, value in variables.items() if value is not None}


def tail(log: Path, lines: int = 40) -> str:
    """Return the last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


class Program:
    """A program that ends, with all that it started, at the end of the block or of this process.

    `lifeline.py` ends it, also when this process is killed. Standard error goes where standard output goes.
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
                # A terminal sends Ctrl-C to this process alone, which then ends the program.
                start_new_session=True,
            )
        finally:
            os.close(theirs)

    def end(self) -> None:
        """End the program now, unless it has ended."""
        self._lifeline.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def _follow(lines: Iterator[dict[str, Any]], show: Callable[[TaskProgress], None]) -> dict[str, Any]:
    """Show the tasks that start and finish; return the last line, empty if the process died before it."""
    started: dict[tuple[str, int, int], float] = {}
    ended: dict[str, Any] = {}
    for line in lines:
        if line["happened"] == "ended":
            # The process goes on: it has yet to emit the event of the DAG.
            ended = line
            continue
        key = line["task_id"], line["map_index"], line["try_number"]
        seconds = None
        if line["happened"] == "started":
            started[key] = monotonic()
        else:  # a task that is skipped finishes without a start
            seconds = monotonic() - started.get(key, monotonic())
        show(TaskProgress(*key, state=line["state"], seconds=seconds))
    return ended


def _progress_lines(
    arguments: Sequence[str], variables: Mapping[str, str], home: Path, log: Path, timeout_s: float
) -> Generator[dict[str, Any]]:
    """Start `dag_process.py` with these arguments, and yield the lines that it writes until it ends.

    Raises RunError if it does not end in time.
    """
    reader, writer = os.pipe()
    with os.fdopen(reader) as lines, log.open("w") as out:
        command = [sys.executable, str(Path(__file__).with_name("dag_process.py")), str(writer), *arguments]
        try:
            program = Program(command, variables, home, out, pass_fds=[writer])
        finally:
            os.close(writer)
        with program, _ended_after(timeout_s, program) as is_late:
            yield from map(json.loads, lines)
            program.process.wait()
    if is_late.is_set():
        raise RunError(f"The DAG did not end within {timeout_s:g} s; the end of {log}:\n{tail(log)}")


@contextlib.contextmanager
def _ended_after(timeout_s: float, program: Program) -> Iterator[threading.Event]:
    """End the program if the block takes longer; the event says that it did."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        program.end()

    watchdog = threading.Timer(timeout_s, end)
    watchdog.start()
    try:
        yield is_late
    finally:
        watchdog.cancel()


@contextlib.contextmanager
def _api_server(variables: Mapping[str, str], home: Path, timeout_s: float) -> Iterator[dict[str, str]]:
    """Run the API server that task processes need, and yield the settings for them.

    Raises RunError if it does not start in time.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    settings = {
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        # One task at a time is enough for a laptop; the caller's settings may say more.
        "AIRFLOW__CORE__PARALLELISM": variables.get("AIRFLOW__CORE__PARALLELISM", "1"),
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-m", "airflow", "api-server", "--apps", "execution", "--workers", "1"]
    command += ["--host", "127.0.0.1", "--port", port]
    log = home / "api-server.log"
    program = Program(command, {**variables, **settings}, home, subprocess.PIPE)
    with program, log.open("w") as out:
        with _ended_after(timeout_s, program):
            started = any("startup complete" in line for line in _copied(program.process, out))
        if not started:
            raise RunError(
                f"Airflow's API server did not start within {timeout_s:g} s; the end of {log}:\n{tail(log)}"
            )
        # Read the rest as well: a full pipe would stop the server.
        reader = threading.Thread(target=list, args=[_copied(program.process, out)], daemon=True)
        reader.start()
        try:
            yield settings
        finally:
            program.end()
            reader.join()


def _copied(process: subprocess.Popen[str], out: TextIO) -> Iterator[str]:
    for line in process.stdout or ():
        out.write(line)
        out.flush()
        yield line
