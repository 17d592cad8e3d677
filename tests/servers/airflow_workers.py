"""A DAG run with every task in a process of its own, as in a deployment."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

from airflow_provider_spark_lineage.openlineage.testing.runs import ProgramRun, environment, tail
from servers.process import free_port

_START_TIMEOUT_S = 300

_EXECUTOR = '''
from airflow.executors.local_executor import LocalExecutor


class EndsAllWorkers(LocalExecutor):
    """Sends as many messages to end as there are workers.

    Airflow 3.3 counts the workers that are alive while the first of them are ending: one that ends early
    takes the message of another, which then waits for ever.
    """

    def end(self):
        for _ in self.workers:
            self.activity_queue.put(None)
        super().end()
'''


@contextlib.contextmanager
def worker_processes(home: Path, metadata: Path) -> Iterator[dict[str, str]]:
    """Run Airflow's API server in `home`, and yield `run_dag`'s settings for worker processes.

    The run takes the same `home`, and no metadata: they are copied here.
    """
    home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(metadata, home / "airflow.db")
    config = home / "config"  # Airflow has this folder on its path
    config.mkdir(exist_ok=True)
    (config / "ends_all_workers.py").write_text(_EXECUTOR)
    port = str(free_port())
    settings = {
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "ends_all_workers.EndsAllWorkers",
        # One task at a time is enough for a laptop; a test may set more.
        "AIRFLOW__CORE__PARALLELISM": "1",
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-m", "airflow", "api-server", "--apps", "execution", "--workers", "1"]
    command += ["--host", "127.0.0.1", "--port", port]
    log, deadline = home / "api-server.log", monotonic() + _START_TIMEOUT_S
    with log.open("w") as out, ProgramRun(command, environment(home, settings), home, out) as server:
        while "startup complete" not in log.read_text():
            assert server.process.poll() is None, tail(log)
            assert monotonic() < deadline, tail(log)
            sleep(0.1)
        yield settings
