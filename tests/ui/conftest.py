"""An Airflow with a run of `dags/stored.py`, and its API server: shared by the tests of a process."""

from __future__ import annotations

import json
import sqlite3
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import pytest
from airflow_runs import run_dag
from browsers import browser  # noqa: F401  a fixture
from servers.process import free_port

from airflow_provider_spark_lineage.openlineage.testing.runs import ProgramRun, environment
from airflow_provider_spark_lineage.testing import DagRun, tail

DAG = Path(__file__).parent / "dags" / "stored.py"
USERS = {"viewer": "viewer", "outsider": "viewer"}
START_TIMEOUT_S = 300

AUTH_MANAGER = '''
from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager


class Denies(SimpleAuthManager):
    """Lets `outsider` see no DAG."""

    def is_authorized_dag(self, *, user, **more):
        return user.username != "outsider" and super().is_authorized_dag(user=user, **more)
'''
PLUGIN = (
    "from airflow_provider_spark_lineage.airflow.ui.plugin import SparkLineageViewerPlugin  # noqa: F401\n"
)


class Answer(NamedTuple):
    status: int
    headers: Any
    body: Any


class Server:
    """Airflow's API server below a path, as behind a proxy."""

    def __init__(self, address: str) -> None:
        self.address = address

    def get(self, path: str, user: str = "", **query: Any) -> Answer:
        """Ask for a path, as a user or without a session."""
        address = f"{self.address}{path}?{urllib.parse.urlencode(query)}"
        headers = {"Authorization": f"Bearer {self._token(user)}"} if user else {}
        return self._ask(urllib.request.Request(address, headers=headers))  # noqa: S310  our own server

    def lineage(self, route: str, **query: Any) -> Any:
        """Return the answer of a route of the viewer about the DAG."""
        answer = self.get(f"/spark_lineage/v1/dags/stored/{route}", "viewer", **query)
        assert answer.status == 200, answer
        return answer.body

    def _token(self, user: str) -> str:
        body = json.dumps({"username": user, "password": user}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.address}/auth/token", body, headers)  # noqa: S310
        return str(self._ask(request).body["access_token"])

    def _ask(self, request: urllib.request.Request) -> Answer:
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
                return Answer(answer.status, answer.headers, _body(answer))
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, _body(error))


def _body(answer: Any) -> Any:
    text = answer.read().decode()
    return json.loads(text) if "json" in answer.headers.get("content-type", "") else text


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("viewer")


@pytest.fixture(scope="session")
def run(home: Path) -> DagRun:
    """The DAG's run, whose tasks have stored their lineage."""
    dag_run = run_dag(
        DAG,
        home=home,
        settings={
            "AIRFLOW_CONN_MACHINE": json.dumps({"conn_type": "spark", "host": "local[1]"}),
            "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
            "STORED_HOME": str(home / "data"),
        },
    )
    failed = {task for task, state in dag_run.tasks.items() if state != "success"}
    assert failed == {"fails", "gate_error"}, tail(dag_run.log)
    return dag_run


@pytest.fixture(scope="session")
def server(home: Path, run: DagRun) -> Iterator[Server]:
    port = free_port()
    for name, text in {"config/denies.py": AUTH_MANAGER, **_plugin()}.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    passwords = home / "passwords.json"
    passwords.write_text(json.dumps({user: user for user in USERS}))
    settings = {
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}/company",
        "AIRFLOW__API_AUTH__JWT_SECRET": "of these tests, and of a length that is accepted",
        "AIRFLOW__CORE__AUTH_MANAGER": "denies.Denies",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(
            f"{user}:{role}" for user, role in USERS.items()
        ),
        "AIRFLOW__OPENLINEAGE__TRANSPORT": '{"type": "console"}',
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-m", "airflow", "api-server", "--workers", "1"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    log, deadline = home / "api-server.log", monotonic() + START_TIMEOUT_S
    with log.open("w") as out, ProgramRun(command, environment(home, settings), home, out) as program:
        while "startup complete" not in log.read_text():
            assert program.process.poll() is None, tail(log)
            assert monotonic() < deadline, tail(log)
            sleep(0.1)
        yield Server(f"http://127.0.0.1:{port}/company")


def _plugin() -> dict[str, str]:
    """Return the plugin as a file, where the package was installed before it had the entry point."""
    known = entry_points(group="airflow.plugins", name="spark_lineage_viewer")
    return {} if known else {"plugins/viewer.py": PLUGIN}


@pytest.fixture(scope="session")
def run_id(home: Path, run: DagRun) -> str:
    with sqlite3.connect(home / "airflow.db") as database:
        return str(database.execute("select run_id from dag_run").fetchone()[0])
