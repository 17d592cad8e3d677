"""Runs one DAG in real Airflow, in a separate process and AIRFLOW_HOME, and keeps its events and logs.

A run is `dag.test()`, which differs from a deployment in two ways: the DAG emits no START event, and all
tasks share one process. Only the started process imports Airflow, not this module.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

from airflow_provider_spark_lineage.errors import BadInputError, SparkLineageError
from airflow_provider_spark_lineage.openlineage.events import Events, read_events

_SETTINGS_OF_USER = ("AIRFLOW", "OPENLINEAGE")
"""Prefixes of environment variables of the user's own Airflow, which are hidden from a run."""


class RunError(SparkLineageError):
    """The DAG did not run to its end; the message has the path and the end of the log."""


@dataclass(frozen=True)
class DagRun:
    """A DAG run that has ended, successful or not."""

    dag_id: str
    state: str

    tasks: Mapping[str, str]
    """Final state by task id, with `[map_index]` for a mapped task."""

    events: Path
    """Events of the OpenLineage provider, as JSON Lines; the file does not exist if nothing was emitted."""

    log: Path
    """Output of Airflow and the tasks."""

    seconds: float

    def read(self) -> Events:
        """Return the events."""
        return read_events(self.events) if self.events.exists() else Events((), ())


def run_dag(
    dag: Any,
    *,
    conf: Mapping[str, Any] | None = None,
    dag_id: str | None = None,
    home: Path | None = None,
    metadata: Path | None = None,
    settings: Mapping[str, str | None] | None = None,
    timeout_s: float = 600,
) -> DagRun:
    """Run a DAG, given as its file or as the object, in a separate process.

    `dag_id` selects a DAG if the file has several. `home` becomes the AIRFLOW_HOME (by default a new folder),
    with a copy of `metadata` (from `make_metadata`) if it is given; it keeps the events and the logs.
    `settings` are more environment variables; `AIRFLOW__...` configures Airflow, and None removes a variable.
    Raises BadInputError if the DAG is not found, and RunError if it does not run to its end in time. A run
    whose tasks fail does not raise; see its `state`.
    """
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
            # The file, not its folder: Airflow would import every file there, tests included.
            "AIRFLOW__CORE__DAGS_FOLDER": str(file),
            # The caller named the file; it need not look like a DAG file.
            "AIRFLOW__CORE__DAG_DISCOVERY_SAFE_MODE": "False",
            # DAG files may import their neighbours.
            "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(file.parent)])),
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
            **(settings or {}),
        },
    )
    result = home / "result.json"
    result.unlink(missing_ok=True)
    options = json.dumps({"dag_id": dag_id, "conf": dict(conf or {})})
    command = [sys.executable, str(Path(__file__).with_name("dag_process.py"))]
    command += [str(result), str(file), options]
    began, is_late = monotonic(), False
    with log.open("w") as out, ProgramRun(command, variables, home, out) as program:
        try:
            program.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            is_late = True
    # A process that is killed cannot clean up after itself.
    shutil.rmtree(home / "tmp", ignore_errors=True)
    if is_late:
        raise RunError(f"The DAG did not end within {timeout_s:g} s; the end of {log}:\n{tail(log)}")
    ended = json.loads(result.read_text()) if result.exists() else {}
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
    """Create Airflow's metadata database in `home` if it does not exist, and return the SQLite file.

    This takes about ten seconds; create it once, and let every run copy it (`run_dag(metadata=...)`).
    """
    database, unfinished = home / "airflow.db", home / "unfinished.db"
    if not database.exists():
        home.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        log = home / "migrate.log"
        variables = environment(home, {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{unfinished}"})
        command = [sys.executable, "-m", "airflow", "db", "migrate"]
        with log.open("w") as out, ProgramRun(command, variables, home, out) as program:
            failed = program.process.wait()
        if failed:
            raise RunError(f"`airflow db migrate` failed; the end of {log}:\n{tail(log)}")
        unfinished.rename(database)
    return database


def environment(home: Path, settings: Mapping[str, str | None]) -> dict[str, str]:
    """Return the environment of a process that runs Airflow and writes nothing outside `home`.

    It is this process's environment without the user's Airflow; `settings` win, and None removes a variable.
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


class ProgramRun:
    """A program that ends, with its child processes, at the end of the block or of this process.

    `lifeline.py` ends it, also if this process is killed. Standard error is merged into standard output.
    """

    def __init__(
        self,
        command: Sequence[str],
        variables: Mapping[str, str],
        home: Path,
        output: TextIO | int,
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
                pass_fds=[theirs],
                # A terminal then sends Ctrl-C to this process only, which ends the program.
                start_new_session=True,
            )
        finally:
            os.close(theirs)

    def end(self) -> None:
        """End the program now, unless it has ended."""
        self._lifeline.close()

    def __enter__(self) -> ProgramRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.process.wait()
