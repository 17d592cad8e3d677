"""An AIRFLOW_HOME of its own: the environment of its processes, and Airflow's metadata in an SQLite file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from airflow_provider_spark_lineage.testing.runs.processes import Program, RunError, tail

FOREIGN = ("AIRFLOW", "OPENLINEAGE")
"""Variables that begin so belong to the Airflow of whoever runs the tests, and have no effect here."""


def environment(home: Path, settings: Mapping[str, str | None]) -> dict[str, str]:
    """Environment variables of a process that runs Airflow: this process's own, ours, and the caller's.

    The caller's `settings` win, and none in place of a value removes a variable. Airflow writes nothing
    outside `home`.
    """
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    ours = {
        # What a task starts as `python3` must be of this environment.
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "TMPDIR": str(temporary),
    }
    whole = {**own, **ours, **settings}
    return {name: value for name, value in whole.items() if value is not None}


def make_metadata(home: Path) -> Path:
    """Make Airflow's metadata under `home`, if they are not there yet, and return the SQLite file.

    It takes some ten seconds, so it is made once and copied for every run (`run_dag(metadata=...)`).
    """
    database, unfinished = home / "airflow.db", home / "unfinished.db"
    if not database.exists():
        home.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        log = home / "migrate.log"
        connection = f"sqlite:///{unfinished}"
        with log.open("w") as out:
            command = [sys.executable, "-m", "airflow", "db", "migrate"]
            variables = environment(home, {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": connection})
            with Program(command, variables, home, out) as program:
                failed = program.process.wait()
        if failed:
            raise RunError(f"`airflow db migrate` failed; the end of {log}:\n{tail(log)}")
        unfinished.rename(database)
    return database
