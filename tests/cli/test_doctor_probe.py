"""The process in which the doctor loads plugins: what is known of it when something there does not end."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.doctor_found import plugins

from airflow_provider_spark_lineage.cli.doctor import examine
from airflow_provider_spark_lineage.cli.doctor.found import Plugins
from airflow_provider_spark_lineage.cli.doctor.probe import TIMEOUT_SECONDS, probed

pytestmark = pytest.mark.airflow


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Plugins]:
    """Return a function that asks a new process with OpenLineage switched on, in an empty AIRFLOW_HOME."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "airflow"))
    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", json.dumps({"type": "console"}))
    # A package that is not installed is found by this.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    questions: dict[str, Any] = {"operators": [], "transports": [], "database": False, "active": True}

    def run(*extractors: str, database_seconds: float = 60, **more: Any) -> Plugins:
        monkeypatch.setenv("AIRFLOW__OPENLINEAGE__EXTRACTORS", ";".join(extractors))
        return probed({**questions, "extractors": extractors, **more}, database_seconds=database_seconds)

    return run


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """Return a database that answers nobody, as one behind a firewall."""
    file = tmp_path / "locked.db"
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("create table t (a)")
    connection.execute("begin exclusive")
    yield file
    connection.close()


def test_database_that_does_not_answer_hides_nothing_else(ask, locked, monkeypatch):
    """The plugin is well: who reads that it is broken looks for the cause in the wrong place."""
    monkeypatch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", f"sqlite:///{locked}?timeout=900")
    found = ask("nowhere.Extractor", database=True, database_seconds=1)
    assert (found.error, found.has_listener, found.listener_error) == ("", True, "")
    assert [each.error for each in found.extractors] == ["ModuleNotFoundError: No module named 'nowhere'"]
    assert found.dags is None
    told = [each.advice for each in examine(plugins(database_error=found.database_error)) if each.advice]
    assert told == [
        "Airflow's metadata database did not answer, so DAGs and connections were not looked at; correct the "
        "host in `[database] sql_alchemy_conn` until `airflow db check` succeeds, or run this where the "
        "scheduler runs."
    ]


def test_process_that_dies_while_it_asks_is_no_silent_database(ask, tmp_path):
    """Its host is right: a driver that crashes, or a machine without memory, is another mistake."""
    (tmp_path / "crashing.py").write_text(
        "import os, signal, sys\n"
        "class Crash:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'airflow.models.serialized_dag':\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.meta_path.insert(0, Crash())\n"
    )
    found = ask("crashing.Extractor", database=True)
    assert (found.error, found.database_error) == ("", "the process ended with exit code -9")


def test_database_that_is_not_there_is_not_created(ask, tmp_path):
    """SQLite creates a file for whoever asks; the doctor changes nothing."""
    found = ask(database=True)
    assert (found.error, found.database_error) == ("", "empty")
    assert not list(tmp_path.rglob("*.db*"))


def test_plugin_that_asks_a_person_gets_no_answer(ask, tmp_path):
    """A scheduler has no terminal: what waits for one would wait for ever."""
    (tmp_path / "asking.py").write_text("input('Which licence? ')\n")
    keyboard, other_end = os.pipe()
    before = os.dup(0)
    os.dup2(keyboard, 0)
    os.write(other_end, b"mine\n")
    try:
        found = ask("asking.Extractor")
    finally:
        os.dup2(before, 0)
        for each in (before, keyboard, other_end):
            os.close(each)
    assert found.extractors[0].error == "EOFError: EOF when reading a line"


def test_process_that_a_plugin_leaves_running_holds_nobody_up(ask, tmp_path):
    """It has the streams of the process that started it, and keeps them open."""
    (tmp_path / "leaving.py").write_text(
        "import pathlib, subprocess\n"
        "process = subprocess.Popen(['sleep', '900'])\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(process.pid))\n"
    )
    before = time.monotonic()
    try:
        found = ask("leaving.Extractor")
        assert time.monotonic() - before < TIMEOUT_SECONDS
        assert found.extractors[0].error == "ImportError: module leaving has no attribute Extractor"
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
