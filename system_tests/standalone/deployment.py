"""`airflow standalone` in a folder of its own, and its REST API."""

from __future__ import annotations

import json
import secrets
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from airflow_provider_spark_lineage.openlineage.testing.runs import (
    ProgramRun,
    environment,
    make_metadata,
    tail,
)

START_TIMEOUT_S = 300
ANSWER_TIMEOUT_S = 120
"""Seconds that Airflow may need for one answer on a machine that does other things too."""

FINISHED = ("success", "failed")

_Answer = TypeVar("_Answer")


def wait_for(
    ask: Callable[[], _Answer], what: Callable[[], str], timeout_s: float, pause_s: float = 0.25
) -> _Answer:
    """Ask until the answer is true, and return it; TimeoutError with `what` if it stays false."""
    deadline = time.monotonic() + timeout_s
    while not (answer := ask()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"Within {timeout_s:g} s: {what()}")
        time.sleep(pause_s)
    return answer


class Airflow:
    """The REST API of a running Airflow, for one DAG."""

    def __init__(self, url: str, dag_id: str) -> None:
        self.url = url
        self._dag = f"/api/v2/dags/{dag_id}"
        self._token = ""

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Call the API and return its answer; HTTPError where it refuses."""
        try:
            return self._call(method, path, body)
        except urllib.error.HTTPError as error:
            if error.code != 401 or self._token:
                raise
        # Airflow 3.1 asks for a token, even where all users are admins.
        self._token = self._call("GET", "/auth/token", None)["access_token"]
        return self._call(method, path, body)

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        authorization = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        request = urllib.request.Request(  # noqa: S310  our own server
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", **authorization},
        )
        with urllib.request.urlopen(request, timeout=ANSWER_TIMEOUT_S) as answer:  # noqa: S310
            return json.load(answer)

    def is_up(self) -> bool:
        """Return whether the DAG has been parsed, and the API that tasks use answers."""
        try:
            # Its first answer takes long; a task that asks first would give up.
            self.call("GET", "/execution/health")
            return bool(self.call("GET", self._dag)["dag_id"])
        except OSError:
            return False

    def trigger(self, run_id: str) -> None:
        """Start a DAG run."""
        self.call("PATCH", self._dag, {"is_paused": False})
        self.call("POST", f"{self._dag}/dagRuns", {"dag_run_id": run_id, "logical_date": None})

    def state(self, run_id: str) -> str:
        """Return the state of a DAG run."""
        return str(self.call("GET", f"{self._dag}/dagRuns/{quote(run_id)}")["state"])

    def tasks(self, run_id: str) -> list[dict[str, Any]]:
        """Return the task instances of a DAG run, those of earlier tries not among them."""
        answer = self.call("GET", f"{self._dag}/dagRuns/{quote(run_id)}/taskInstances?limit=100")
        return list(answer["task_instances"])

    def lineage(self, **instance: Any) -> dict[str, Any]:
        """Return what the tab of a task instance shows, with `reason` in place of a document."""
        dag_id = self._dag.rpartition("/")[2]
        return dict(self.call("GET", f"/spark_lineage/v1/dags/{dag_id}/task?{urlencode(instance)}"))

    def mark_failed(self, run_id: str, task_id: str) -> None:
        """Mark a task as failed, as a user does."""
        path = f"{self._dag}/dagRuns/{quote(run_id)}/taskInstances/{task_id}"
        self.call("PATCH", path, {"new_state": "failed"})

    def clear(self, run_id: str, task_id: str) -> None:
        """Clear a task, as a user does."""
        body = {"dry_run": False, "only_failed": False, "dag_run_id": run_id, "task_ids": [task_id]}
        self.call("POST", f"{self._dag}/clearTaskInstances", body)


@contextmanager
def standalone(
    home: Path, dag_file: Path, dag_id: str, settings: Mapping[str, str | None]
) -> Iterator[Airflow]:
    """Run `airflow standalone` with one DAG file, until the end of the block; nothing of it is left then."""
    make_metadata(home)
    api, logs, trigger_logs = (str(port) for port in _free_ports(3))
    url = f"http://127.0.0.1:{api}"
    variables = environment(
        home,
        {
            "AIRFLOW__API__BASE_URL": url,
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": api,
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
            "AIRFLOW__CORE__DAGS_FOLDER": str(dag_file.parent),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": logs,
            "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": trigger_logs,
            "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": str(ANSWER_TIMEOUT_S),
            "NO_PROXY": "127.0.0.1",
            "PYTHONPATH": None,
            **settings,
        },
    )
    log = home / "standalone.log"
    with ExitStack() as stack:
        out = stack.enter_context(log.open("w"))
        program = stack.enter_context(
            ProgramRun([sys.executable, "-m", "airflow", "standalone"], variables, home, out)
        )
        airflow = Airflow(url, dag_id)

        def is_up() -> bool:
            if program.process.poll() is not None:
                raise RuntimeError(f"`airflow standalone` ended; the end of {log}:\n{tail(log)}")
            return airflow.is_up()

        wait_for(is_up, lambda: f"Airflow did not start; the end of {log}:\n{tail(log)}", START_TIMEOUT_S)
        yield airflow


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
