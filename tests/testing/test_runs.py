"""DAGs run in real Airflow: their settings, how they are found, and that no process or file is left."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from providers import needs_airflow
from servers.airflow_workers import worker_processes
from testing.blocked import Pipe, are_gone

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import RunError, assert_lineage, make_metadata, run_dag, tail

pytestmark = pytest.mark.airflow

WAYS = Path(__file__).parent / "dags" / "ways.py"
PLUGIN = "airflow_provider_spark_lineage.pytest_plugin"


@pytest.fixture(scope="module")
def metadata(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_metadata(tmp_path_factory.mktemp("metadata"))


@pytest.fixture(scope="module")
def ways() -> Any:
    """The module with the DAGs, imported as a test that has its DAG in a variable does."""
    spec = importlib.util.spec_from_file_location("ways", WAYS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_dag_object_runs_with_its_configuration(tmp_path: Path, metadata: Path, ways: Any) -> None:
    """The process that runs it finds it again in its file, and `conf=` is the run's `dag_run.conf`."""
    conf = {"day": "2024-05-01", "parts": [1, None]}
    done = run_dag(ways.configured, conf=conf, home=tmp_path, metadata=metadata)
    assert (done.dag_id, done.state, dict(done.tasks)) == ("configured", "success", {"read_conf": "success"})


def test_a_dag_object_of_no_module_is_refused_with_the_cure(
    tmp_path: Path, metadata: Path, ways: Any
) -> None:
    """One that a function makes is not there in another process."""
    with pytest.raises(BadInputError) as caught:
        run_dag(ways.hidden(), home=tmp_path, metadata=metadata)
    assert "at module level; run_dag runs `hidden`. Keep the DAG in a variable" in str(caught.value)


@needs_airflow("3.3", "`dag.test()` ends without the event of its DAG run's end")
def test_each_try_has_its_events(tmp_path: Path, metadata: Path) -> None:
    """A task that fails and succeeds when it is tried again is told apart by `#`."""
    done = run_dag(
        WAYS,
        dag_id="retried",
        home=tmp_path,
        metadata=metadata,
    )
    assert (done.state, dict(done.tasks)) == ("success", {"flaky": "success"})
    expected = {
        "retried.flaky#1.event.start": {},
        "retried.flaky#1.event.fail": {},
        "retried.flaky#2.event.start": {},
        "retried.flaky#2.event.complete": {},
        "retried.event.complete": {},
    }
    assert assert_lineage(expected, done, scope="all").matched == len(expected)


def check_all_are_there(processes: list[psutil.Process]) -> None:
    """Check that the processes exist: the server, the run, a task's command with a session of its own."""
    commands = [" ".join(process.cmdline()) for process in processes]
    for part in ("airflow api-server", "dag_process.py", 'write("blocks")'):
        assert any(part in command for command in commands), commands
    assert len({os.getsid(process.pid) for process in processes}) == 3


def test_a_run_that_takes_too_long_is_ended_with_all_its_processes(
    tmp_path: Path, metadata: Path, pipe: Pipe
) -> None:
    """It raises RunError, which shows the end of the log; tasks in processes of their own are ended too."""
    here = psutil.Process()
    before = set(here.children(recursive=True))
    with ThreadPoolExecutor(1) as pool, worker_processes(tmp_path, metadata) as workers:
        settings = {**workers, "TOLD": str(pipe.path)}
        run = pool.submit(run_dag, WAYS, dag_id="blocked", home=tmp_path, settings=settings, timeout_s=90)
        pipe.read(seconds=600)
        processes = [process for process in here.children(recursive=True) if process not in before]
        check_all_are_there(processes)
        with pytest.raises(RunError) as caught:
            run.result()
    assert are_gone(processes)
    log = tmp_path / "ways.log"
    assert tail(log)
    assert str(caught.value) == f"The DAG did not end within 90 s; the end of {log}:\n{tail(log)}"


SUITE = f"""
import pytest
from pathlib import Path
from servers.airflow_workers import worker_processes

@pytest.fixture(scope="session")
def airflow_metadata():
    return Path({{metadata!r}})

def test_blocks(run_dag, airflow_metadata, tmp_path):
    with worker_processes(tmp_path, airflow_metadata) as workers:
        settings = {{{{**workers, "TOLD": {{told!r}}}}}}
        run_dag({str(WAYS)!r}, dag_id="blocked", home=tmp_path, metadata=None, settings=settings)
"""


def test_a_run_does_not_outlive_a_pytest_that_is_killed(tmp_path: Path, metadata: Path, pipe: Pipe) -> None:
    """SIGKILL leaves no time to tidy up, and yet no server, run, task or command of a task stays."""
    suite = tmp_path / "test_blocks.py"
    suite.write_text(SUITE.format(metadata=str(metadata), told=str(pipe.path)))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # whatever is configured above this folder
    command = [sys.executable, "-m", "pytest", "-p", PLUGIN, f"--basetemp={tmp_path / 'base'}", str(suite)]
    # Installed or not, the plugin is loaded once.
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": path}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tmp_path, env=variables) as runner:
        try:
            pipe.read(seconds=600)
            processes = psutil.Process(runner.pid).children(recursive=True)
            check_all_are_there(processes)
        finally:
            runner.send_signal(signal.SIGKILL)
        assert are_gone(processes)
